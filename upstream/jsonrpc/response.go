package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"runtime/debug"
	"sync"

	"crossgate/internal/rawjson"
	"crossgate/upstream"
)

// rpcResult is the outcome of one call in a response: a value for Out, or an error. open means that another endpoint
// may well do better.
type rpcResult struct {
	value   reflect.Value
	err     error
	open    bool
	doubted bool   // by the call
	by      string // endpoint
}

type rpcResults []rpcResult

// replies are the response objects of an endpoint for calls, and the results for the caller who made these.
type replies struct {
	results rpcResults
	objects func() ([]*responseObject, error) // for each call that was made, nil if it is missing
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

// readInSequence decodes the usual response in one pass: for each call, in order, an object with its id and a fitting
// result. parse and decode handle any other response.
func readInSequence(calls []*Call, response upstream.Response, first uint64) (results rpcResults, isRead bool) {
	if response.Status >= http.StatusBadRequest {
		return nil, false
	}
	rest, isBatch, next := rawjson.Text(response.Body), len(calls) > 1, byte('[')
	results = make(rpcResults, len(calls))
	for i, call := range calls {
		if isBatch && !rest.Take(next) {
			return nil, false
		}
		next = ','
		text := rest.Value()
		if results[i], isRead = readResult(text, call, first+uint64(i)); isRead {
			continue
		}
		var object responseObject
		if !isBatch || json.Unmarshal(text, &object) != nil || !object.isFor(first+uint64(i)) {
			return nil, false
		}
		results[i] = decode(call, object.receivedIn(response))
	}
	return results, (!isBatch || rest.Take(']')) && rest.IsEmpty()
}

// readResult decodes a response object that has an id and a result for a call, and nothing else.
func readResult(text rawjson.Text, call *Call, id uint64) (got rpcResult, isFit bool) {
	var result []byte
	isOwn, next := false, byte('{')
	for ; text.Take(next); next = ',' {
		name, isMember := string(text.Value()), text.Take(':')
		switch value := text.Value(); {
		case !isMember:
			return got, false
		case name == `"result"`:
			result = value
		case name == `"id"`:
			isOwn = responseObject{ID: value}.isFor(id)
		case name == `"jsonrpc"` && string(value) == `"2.0"`, name == `"error"` && string(value) == "null":
		default:
			return got, false
		}
	}
	if !isOwn || call.Out == nil || len(result) == 0 || string(result) == "null" || !text.Take('}') || !text.IsEmpty() {
		return got, false
	}
	value := reflect.New(reflect.TypeOf(call.Out).Elem())
	err := json.Unmarshal(result, value.Interface())
	if _, isBroken := errors.AsType[*json.SyntaxError](err); isBroken {
		return got, false
	}
	return check(call, value, err), true
}

// of returns the results for other callers who made equal calls.
func (r replies) of(calls []*Call) rpcResults {
	results := make(rpcResults, len(calls))
	objects, err := r.objects()
	for i, call := range calls {
		if err != nil {
			results[i] = unanswered(err)
			continue
		}
		results[i] = decode(call, objects[i+r.skipped])
	}
	results.sign(r.by)
	return results
}

func (r rpcResults) sign(by string) {
	for i := range r {
		r[i].by = by
	}
}

// without returns the replies without those to the first calls.
func (r replies) without(first int) replies {
	r.results, r.skipped = r.results[first:], r.skipped+first
	return r
}

// arrange orders response objects, which may come in any order, by their calls, whose ids begin with first. Two objects
// for one call cancel each other.
func arrange(objects []responseObject, asked int, first uint64) []*responseObject {
	arranged := make([]*responseObject, asked)
	for i, object := range objects {
		id, readable := object.id()
		if asked == 1 && object.Error != nil && (!readable || object.Error.failure() != nil) {
			id = first // an error object may lack the id (section 5 of the specification); balancers give their own
		}
		if position := id - first; position < uint64(asked) {
			if arranged[position] != nil {
				objects[i] = responseObject{}
			}
			arranged[position] = &objects[i]
		}
	}
	return arranged
}

func unanswered(err error) rpcResult {
	return rpcResult{err: &upstream.Error{Class: upstream.BadAnswer, Err: err}, open: true}
}

// decode decodes the response object for one call; nil means that there is none.
func decode(call *Call, object *responseObject) rpcResult {
	if object == nil {
		return unanswered(errors.New("no response object for this call"))
	}
	if object.Error != nil {
		said := object.Error.about(call)
		if failed := said.failure(); failed != nil {
			return rpcResult{err: failed, open: true}
		}
		if call.MayRevert {
			return check(call, reflect.New(reflect.TypeOf(call.Out).Elem()), nil)
		}
		return rpcResult{err: said}
	}
	if object.Result == nil {
		return unanswered(errors.New("response object without a result"))
	}
	if call.Out == nil {
		return rpcResult{}
	}
	if string(object.Result) == "null" && !call.holdsNothing() {
		return unanswered(errors.New("null result"))
	}
	// Decoded separately: a result that breaks off must leave nothing behind in Out.
	value := reflect.New(reflect.TypeOf(call.Out).Elem())
	return check(call, value, json.Unmarshal(object.Result, value.Interface()))
}

// check applies the call's Accept and Doubt to the result that value points to, unless decoding it failed with err. A
// panic in these is the answer's fault: no endpoint can crash the process.
func check(call *Call, value reflect.Value, err error) (got rpcResult) {
	defer func() {
		if cause := recover(); cause != nil {
			err := fmt.Errorf("checking the result panicked: %v\n%s", cause, debug.Stack())
			got = rpcResult{err: &upstream.Error{Class: upstream.BadAnswer, Err: err}, open: true}
		}
	}()
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
	return rpcResult{value: value.Elem(), doubted: call.Twice || call.Doubt != nil && call.Doubt(value.Interface())}
}

// head returns the chain's head according to a result, if that contains it.
func (r rpcResult) head(call *Call) (number uint64, told bool) {
	if call.Head == nil || r.err != nil || !r.value.IsValid() {
		return 0, false
	}
	return call.Head(r.value.Addr().Interface()), true
}

// open counts the calls that another endpoint should be asked about.
func (r rpcResults) open() (count int) {
	for _, one := range r {
		if one.open {
			count++
		}
	}
	return count
}

func (r rpcResults) isOpen() bool { return r.open() > 0 }

// better returns whichever results leave fewer calls open; than may be nil.
func (r rpcResults) better(than rpcResults) rpcResults {
	if than == nil || r.open() < than.open() {
		return r
	}
	return than
}

// gravest returns an error of the open calls, or nil if none is open: one by which the endpoint asks to be left alone,
// else the first that contradicts its call, else the first.
func (r rpcResults) gravest() (found error) {
	for _, one := range r {
		if !one.open {
			continue
		}
		if failed, is := errors.AsType[*upstream.Error](one.err); is && (failed.Closed || failed.Class == upstream.RateLimited) {
			return one.err
		}
		if found == nil || upstream.Contradicts(one.err) && !upstream.Contradicts(found) {
			found = one.err
		}
	}
	return found
}

// batchRefusal returns the error of a batch that was refused as a batch, although call by call: for its size or that of
// its response, which go-ethereum reports for each call that it no longer answers.
func (r rpcResults) batchRefusal(calls []*Call) error {
	for i, one := range r {
		said, is := errors.AsType[*Error](one.err)
		if !is || len(calls) == 1 {
			continue
		}
		if said.Meaning() == BatchLimit || said.Meaning() == ResultLimit && calls[i].Reach.Blocks == 0 {
			return &upstream.Error{Class: upstream.Rejected, Err: &batchRefusedError{cause: said}}
		}
	}
	return nil
}

// fill sets the results of a client's calls; errors of open calls are attributed to the whole pool.
func (r rpcResults) fill(calls []*Call, c *Client) {
	for i, call := range calls {
		call.Err, call.By, call.isDoubted = nil, r[i].by, r[i].doubted
		call.Seconded, call.heard, call.unlike, call.isSettled = "", nil, nil, false
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
