package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"crossgate/upstream"
)

// responseObject is section 5 of the specification.
type responseObject struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// id reads the id, which some servers return as text.
func (o responseObject) id() (uint64, bool) {
	id, err := strconv.ParseUint(strings.Trim(string(o.ID), `"`), 10, 64)
	return id, err == nil
}

// isFor reports whether the object has an id.
func (o responseObject) isFor(id uint64) bool {
	own, isReadable := o.id()
	return isReadable && own == id
}

// redacted is the object without what a message of the response must not tell.
func (o *responseObject) redacted(response upstream.Response) *responseObject {
	if o.Error != nil {
		o.Error.Message = response.Redact(o.Error.Message)
	}
	return o
}

// batchRefusedError says that an endpoint declined a batch as a batch.
type batchRefusedError struct {
	size  int
	cause error
}

func (e *batchRefusedError) Error() string { return fmt.Sprintf("batch refused: %s", e.cause) }
func (e *batchRefusedError) Unwrap() error { return e.cause }

// parse reads the response objects in the response to so many calls. Servers put error objects under any
// status below 500; a response that is neither is a bad one, a bare 4xx a refusal.
func parse(response upstream.Response, asked int) ([]responseObject, error) {
	body := bytes.TrimSpace(response.Body)
	var objects []responseObject
	var err error
	if len(body) > 0 && body[0] == '[' {
		err = json.Unmarshal(body, &objects)
	} else {
		objects = make([]responseObject, 1)
		err = json.Unmarshal(body, &objects[0])
	}
	if response.Status >= 400 && (err != nil || len(objects) == 0 || objects[0].Error == nil) {
		return nil, declined(response.Status, asked)
	}
	if err != nil {
		return nil, errors.New("not a JSON-RPC response")
	}
	for i := range objects {
		objects[i].redacted(response)
	}
	if asked > 1 && body[0] != '[' {
		return nil, wholeRefused(objects[0], asked)
	}
	return objects, nil
}

// declined is a 4xx whose body says nothing.
func declined(status, asked int) error {
	cause := errors.New(strings.ToLower(http.StatusText(status)))
	if asked > 1 && (status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge) {
		cause = &batchRefusedError{asked, cause}
	}
	return &upstream.Error{Class: upstream.Rejected, Status: status, Err: cause}
}

// wholeRefused is a single response object in answer to a batch.
func wholeRefused(object responseObject, asked int) error {
	if object.Error == nil {
		return errors.New("one response object for several calls")
	}
	if class := object.Error.class(); class == upstream.RateLimited || class == upstream.BadAnswer {
		return &upstream.Error{Class: class, Err: object.Error}
	}
	return &upstream.Error{Class: upstream.Rejected, Err: &batchRefusedError{asked, object.Error}}
}

// rpcResult is what a response says about one call: a value for Out, or an error. open says that another
// endpoint may well do better.
type rpcResult struct {
	value    reflect.Value
	err      error
	open     bool
	doubtful bool   // the value is one that the call doubts
	by       string // endpoint
}

type rpcResults []rpcResult

// replies are what an endpoint replied to calls, and what that comes to for the caller who began them.
type replies struct {
	results rpcResults
	objects func() ([]*responseObject, error) // for each call that was made, nil where one lacks
	skipped int                               // calls at the beginning that are not in results
	by      string                            // endpoint
}

// read decodes the response to calls, whose ids begin with first.
func read(calls []*Call, response upstream.Response, first uint64) (replies, error) {
	got := replies{objects: sync.OnceValues(func() ([]*responseObject, error) {
		parsed, err := parse(response, len(calls))
		return arrange(parsed, len(calls), first), err
	})}
	var isRead bool
	if got.results, isRead = readInSequence(calls, response, first); isRead {
		return got, nil
	}
	objects, err := got.objects()
	if err != nil {
		return replies{}, err
	}
	got.results = make(rpcResults, len(calls))
	for i, call := range calls {
		got.results[i] = decode(call, objects[i])
	}
	return got, nil
}

// readInSequence decodes in one go what a response mostly is: for each call, in their sequence, an object with its id
// and a result that fits. An object that is something else is decoded by itself. What any other response is, and what
// is wrong with it, parse and decode find out.
func readInSequence(calls []*Call, response upstream.Response, first uint64) (results rpcResults, isRead bool) {
	if response.Status >= http.StatusBadRequest {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(response.Body))
	isBatch := len(calls) > 1
	if isBatch && !isNext(decoder, '[') {
		return nil, false
	}
	results = make(rpcResults, len(calls))
	for i, call := range calls {
		begin := decoder.InputOffset()
		value, isFit := readResult(decoder, call, first+uint64(i))
		text := bytes.TrimLeft(response.Body[begin:decoder.InputOffset()], ", \t\r\n")
		var object responseObject
		switch {
		case isFit:
			results[i] = check(call, value, nil)
		case !isBatch || json.Unmarshal(text, &object) != nil || !object.isFor(first+uint64(i)):
			return nil, false
		default:
			results[i] = decode(call, object.redacted(response))
		}
	}
	if isBatch && !isNext(decoder, ']') {
		return nil, false
	}
	_, err := decoder.Token()
	return results, errors.Is(err, io.EOF)
}

// isNext reads a delimiter.
func isNext(decoder *json.Decoder, delimiter json.Delim) bool {
	token, err := decoder.Token()
	return err == nil && token == delimiter
}

// readResult reads a response object with an id and a result for a call, which value is then.
func readResult(decoder *json.Decoder, call *Call, id uint64) (value reflect.Value, isFit bool) {
	object := struct {
		responseObject
		Result any `json:"result"`
	}{}
	var target reflect.Value
	if call.Out != nil {
		target = reflect.New(reflect.TypeOf(call.Out)) // stays nil when there is none
		object.Result = target.Interface()
	}
	err := decoder.Decode(&object)
	if err != nil || call.Out == nil || object.Error != nil || !object.isFor(id) || target.Elem().IsNil() {
		return reflect.Value{}, false
	}
	return target.Elem(), true
}

// of is what the replies come to for others who asked the same as the calls at positions, of those in results.
func (r replies) of(calls []*Call, positions []int) rpcResults {
	results := make(rpcResults, len(calls))
	objects, err := r.objects()
	for i, call := range calls {
		if err != nil {
			results[i] = unanswered(err)
			continue
		}
		results[i] = decode(call, objects[positions[i]+r.skipped])
	}
	results.sign(r.by)
	return results
}

// sign names the endpoint that gave the results.
func (r rpcResults) sign(by string) {
	for i := range r {
		r[i].by = by
	}
}

// withoutFirst leaves out the first call.
func (r replies) withoutFirst() replies {
	r.results, r.skipped = r.results[1:], r.skipped+1
	return r
}

// arrange puts response objects, in whatever sequence, to the positions of the calls, whose ids begin with first.
func arrange(objects []responseObject, asked int, first uint64) []*responseObject {
	arranged := make([]*responseObject, asked)
	for i, object := range objects {
		id, readable := object.id()
		if !readable && asked == 1 && object.Error != nil {
			id = first // an error object may lack the id (section 5 of the specification)
		}
		if position := id - first; position < uint64(asked) {
			arranged[position] = &objects[i]
		}
	}
	return arranged
}

func unanswered(err error) rpcResult {
	return rpcResult{err: &upstream.Error{Class: upstream.BadAnswer, Err: err}, open: true}
}

// decode reads the response object for one call; nil is none.
func decode(call *Call, object *responseObject) rpcResult {
	if object == nil {
		return unanswered(errors.New("no response object for this call"))
	}
	if object.Error != nil {
		class := object.Error.class()
		if class == 0 {
			return rpcResult{err: object.Error}
		}
		return rpcResult{err: &upstream.Error{Class: class, Err: object.Error}, open: true}
	}
	if object.Result == nil {
		return unanswered(errors.New("response object without a result"))
	}
	if call.Out == nil {
		return rpcResult{}
	}
	// Decoded apart: a result that breaks off must leave nothing behind in Out.
	value := reflect.New(reflect.TypeOf(call.Out).Elem())
	return check(call, value, json.Unmarshal(object.Result, value.Interface()))
}

// check has the call look at the result that value points to, unless there was an error in decoding it.
func check(call *Call, value reflect.Value, err error) rpcResult {
	isDecoded := err == nil
	if isDecoded && call.Accept != nil {
		err = call.Accept(value.Interface())
	}
	if err != nil && upstream.ClassOf(err) == 0 {
		contradicts := isDecoded && !value.Elem().IsZero()
		err = &upstream.Error{Class: upstream.BadAnswer, Err: fmt.Errorf("result: %w", err), Contradicts: contradicts}
	}
	if err != nil {
		return rpcResult{err: err, open: true}
	}
	return rpcResult{value: value.Elem(), doubtful: call.Doubt != nil && call.Doubt(value.Interface())}
}

// head is how far the chain has come by a result, if that says so.
func (r rpcResult) head(call *Call) (number uint64, told bool) {
	if call.Head == nil || r.err != nil || !r.value.IsValid() {
		return 0, false
	}
	return call.Head(r.value.Addr().Interface())
}

var errUnconfirmed = errors.New("no other endpoint gave the same result")

// doubt opens the results that calls doubt unless an endpoint asked before gave a doubtful one, too.
func (r rpcResults) doubt(before rpcResults) {
	for i := range r {
		if r[i].doubtful && (before == nil || !before[i].doubtful) {
			r[i].err, r[i].open = &upstream.Error{Class: upstream.Unconfirmed, Err: errUnconfirmed}, true
		}
	}
}

// settle takes doubtful results for what they say: nobody else could be asked. An endpoint that is away is no witness
// that is missing.
func (r rpcResults) settle() {
	for i := range r {
		if r[i].isUnconfirmed() {
			r[i].err, r[i].open = nil, false
		}
	}
}

// isUnconfirmed reports whether the result is open for lack of a second endpoint's word only.
func (r rpcResult) isUnconfirmed() bool { return r.open && r.doubtful }

// open counts the calls that another endpoint should be asked about, and those among them without any result.
func (r rpcResults) open() (count, lacking int) {
	for _, one := range r {
		if one.open {
			count++
		}
		if one.open && !one.doubtful {
			lacking++
		}
	}
	return count, lacking
}

// isOpen reports whether another endpoint should be asked about any call.
func (r rpcResults) isOpen() bool {
	count, _ := r.open()
	return count > 0
}

// isBetter reports whether results lack fewer calls than others or, lacking as many, leave fewer open.
func (r rpcResults) isBetter(than rpcResults) bool {
	count, lacking := r.open()
	otherCount, otherLacking := than.open()
	return lacking < otherLacking || lacking == otherLacking && count < otherCount
}

// firstOpen returns the error of the first open call, nil when none is.
func (r rpcResults) firstOpen() error {
	for _, one := range r {
		if one.open {
			return one.err
		}
	}
	return nil
}

// comparison finds the best of the results that endpoints give, one after the other.
type comparison struct {
	several bool // endpoints that could confirm each other
	best    rpcResults
}

// add compares the results of another endpoint. The error says what they leave open.
func (c *comparison) add(got rpcResults) error {
	if c.several {
		got.doubt(c.best)
	}
	if c.best == nil || got.isBetter(c.best) {
		c.best = got
	}
	return got.firstOpen()
}

// fill sets the results of calls of a client; errors of open ones are the whole pool's.
func (r rpcResults) fill(calls []*Call, c *Client) {
	for i, call := range calls {
		call.Err, call.By = nil, r[i].by
		if err := r[i].err; err != nil {
			var classed *upstream.Error
			if errors.As(err, &classed) {
				classed.Endpoint = c.Name()
			}
			call.Err = c.failure(call, err)
		} else if r[i].value.IsValid() {
			reflect.ValueOf(call.Out).Elem().Set(r[i].value)
		}
	}
}
