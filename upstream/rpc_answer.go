package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// rpcAnswer is a response object.
type rpcAnswer struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

// id reads the answer's id, which some servers return as text.
func (a rpcAnswer) id() (uint64, bool) {
	id, err := strconv.ParseUint(strings.Trim(string(a.ID), `"`), 10, 64)
	return id, err == nil
}

// batchRefusedError says that an endpoint declined a batch as a batch.
type batchRefusedError struct {
	size  int
	cause error
}

func (e *batchRefusedError) Error() string { return fmt.Sprintf("batch refused: %s", e.cause) }
func (e *batchRefusedError) Unwrap() error { return e.cause }

// parse reads the response objects in an answer to asked calls. Servers put error objects under any
// status below 500; an answer that is neither is a bad one, a bare 4xx a refusal.
func parse(response Response, asked int) ([]rpcAnswer, error) {
	body := bytes.TrimSpace(response.Body)
	var answers []rpcAnswer
	var err error
	if len(body) > 0 && body[0] == '[' {
		err = json.Unmarshal(body, &answers)
	} else {
		answers = make([]rpcAnswer, 1)
		err = json.Unmarshal(body, &answers[0])
	}
	if response.Status >= 400 && (err != nil || len(answers) == 0 || answers[0].Error == nil) {
		return nil, declined(response.Status, asked)
	}
	if err != nil {
		return nil, errors.New("not a JSON-RPC answer")
	}
	for _, answer := range answers {
		if answer.Error != nil {
			answer.Error.Message = response.from.scrubText(response.sent, answer.Error.Message)
		}
	}
	if asked > 1 && body[0] != '[' {
		return nil, wholeRefused(answers[0], asked)
	}
	return answers, nil
}

// declined is a 4xx whose body says nothing.
func declined(status, asked int) error {
	cause := errors.New(strings.ToLower(http.StatusText(status)))
	if asked > 1 && (status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge) {
		cause = &batchRefusedError{asked, cause}
	}
	return &Error{Class: Rejected, Status: status, Err: cause}
}

// wholeRefused is a single response object in answer to a batch.
func wholeRefused(answer rpcAnswer, asked int) error {
	if answer.Error == nil {
		return errors.New("one answer to several calls")
	}
	if class := answer.Error.class(); class == RateLimited || class == BadAnswer {
		return &Error{Class: class, Err: answer.Error}
	}
	return &Error{Class: Rejected, Err: &batchRefusedError{asked, answer.Error}}
}

// outcome is what an answer says about one call: a value for Out, or an error. open says that another
// endpoint may well do better.
type outcome struct {
	value    reflect.Value
	err      error
	open     bool
	doubtful bool // the value is one that the call doubts
}

type outcomes []outcome

// single reads in one go what the answer to a single call mostly is: an object with its id and a result that fits.
// What any other answer is, and what is wrong with it, parse and settle find out.
func single(calls []*Call, response Response, first uint64) (settled outcomes, read bool) {
	if len(calls) > 1 || calls[0].Out == nil || response.Status >= http.StatusBadRequest {
		return nil, false
	}
	result := reflect.New(reflect.TypeOf(calls[0].Out)) // stays nil when there is none
	answer := struct {
		rpcAnswer
		Result any `json:"result"`
	}{Result: result.Interface()}
	if err := json.Unmarshal(response.Body, &answer); err != nil || answer.Error != nil || result.Elem().IsNil() {
		return nil, false
	}
	if id, readable := answer.id(); !readable || id != first {
		return nil, false
	}
	return outcomes{examine(calls[0], result.Elem(), nil)}, true
}

// replies are what an endpoint answered to calls, and what that comes to for who asked.
type replies struct {
	outcomes outcomes
	answers  []*rpcAnswer // to each call, nil where one lacks; none at all when the only one was read in one go
	response Response
	first    uint64 // id of the first call
}

// read makes out the response to calls, whose ids begin with first.
func read(calls []*Call, response Response, first uint64) (replies, error) {
	if settled, isRead := single(calls, response, first); isRead {
		return replies{outcomes: settled, response: response, first: first}, nil
	}
	parsed, err := parse(response, len(calls))
	if err != nil {
		return replies{}, err
	}
	got := replies{outcomes: make(outcomes, len(calls)), answers: arrange(parsed, len(calls), first)}
	for i, call := range calls {
		got.outcomes[i] = judge(call, got.answers[i])
	}
	return got, nil
}

// of is what the replies come to for others who asked the same as the calls at places.
func (r replies) of(calls []*Call, places []int) outcomes {
	settled := make(outcomes, len(calls))
	for i, call := range calls {
		if r.answers != nil {
			settled[i] = judge(call, r.answers[places[i]])
			continue
		}
		again, err := read([]*Call{call}, r.response, r.first)
		if err != nil {
			again.outcomes = outcomes{unanswered(err)}
		}
		settled[i] = again.outcomes[0]
	}
	return settled
}

// withoutFirst leaves out the first call.
func (r replies) withoutFirst() replies {
	return replies{outcomes: r.outcomes[1:], answers: r.answers[1:]}
}

// arrange puts answers, in whatever sequence, to the places of the calls that were asked, whose ids begin with first.
func arrange(answers []rpcAnswer, asked int, first uint64) []*rpcAnswer {
	arranged := make([]*rpcAnswer, asked)
	for i, answer := range answers {
		id, readable := answer.id()
		if !readable && asked == 1 && answer.Error != nil {
			id = first // an error object may lack the id (section 5 of the specification)
		}
		if place := id - first; place < uint64(asked) {
			arranged[place] = &answers[i]
		}
	}
	return arranged
}

func unanswered(err error) outcome {
	return outcome{err: &Error{Class: BadAnswer, Err: err}, open: true}
}

// judge decodes the answer to one call; nil is none.
func judge(call *Call, answer *rpcAnswer) outcome {
	if answer == nil {
		return unanswered(errors.New("no answer to this call"))
	}
	if answer.Error != nil {
		class := answer.Error.class()
		if class == 0 {
			return outcome{err: answer.Error}
		}
		return outcome{err: &Error{Class: class, Err: answer.Error}, open: true}
	}
	if answer.Result == nil {
		return unanswered(errors.New("answer without a result"))
	}
	if call.Out == nil {
		return outcome{}
	}
	// Decoded apart: a result that breaks off must leave nothing behind in Out.
	value := reflect.New(reflect.TypeOf(call.Out).Elem())
	return examine(call, value, json.Unmarshal(answer.Result, value.Interface()))
}

// examine has the call look at the result that value points to, unless there was an error in reading it.
func examine(call *Call, value reflect.Value, err error) outcome {
	isRead := err == nil
	if isRead && call.Accept != nil {
		err = call.Accept(value.Interface())
	}
	if err != nil && classOf(err) == 0 {
		err = &Error{Class: BadAnswer, Err: fmt.Errorf("result: %w", err), foreign: isRead && !value.Elem().IsZero()}
	}
	if err != nil {
		return outcome{err: err, open: true}
	}
	return outcome{value: value.Elem(), doubtful: call.Doubt != nil && call.Doubt(value.Interface())}
}

var errUnconfirmed = errors.New("no other endpoint said the same")

// doubt opens the outcomes that calls doubt unless an endpoint asked before doubtfully said the same.
func (o outcomes) doubt(before outcomes) {
	for i := range o {
		if o[i].doubtful && (before == nil || !before[i].doubtful) {
			o[i].err, o[i].open = &Error{Class: Unconfirmed, Err: errUnconfirmed}, true
		}
	}
}

// open counts the calls that another endpoint should be asked about.
func (o outcomes) open() int {
	count := 0
	for _, one := range o {
		if one.open {
			count++
		}
	}
	return count
}

// firstOpen returns the error of the first open call, nil when none is.
func (o outcomes) firstOpen() error {
	for _, one := range o {
		if one.open {
			return one.err
		}
	}
	return nil
}

// weighing finds the fullest of the answers that a race hears, one after the other.
type weighing struct {
	several bool // endpoints that could confirm each other
	fullest outcomes
}

// hear weighs another answer. The error says what it leaves open.
func (w *weighing) hear(got outcomes) error {
	if w.several {
		got.doubt(w.fullest)
	}
	if w.fullest == nil || got.open() < w.fullest.open() {
		w.fullest = got
	}
	return got.firstOpen()
}

// deliver fills calls; errors of open ones are the whole pool's.
func (o outcomes) deliver(calls []*Call, pool string) {
	for i, call := range calls {
		call.Err = nil
		if err := o[i].err; err != nil {
			var classed *Error
			if errors.As(err, &classed) {
				classed.Endpoint = pool
			}
			call.Err = fmt.Errorf("%s: %w", call.Method, err)
		} else if o[i].value.IsValid() {
			reflect.ValueOf(call.Out).Elem().Set(o[i].value)
		}
	}
}
