package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"crossgate/upstream"
)

// responseObject is section 5 of the specification, and what servers answer in its place.
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

func (o responseObject) isFor(id uint64) bool {
	own, isReadable := o.id()
	return isReadable && own == id
}

// isUnusual reports whether more may be said outside of the members of a response object: an error is a text, or there
// is none under a status that wants one or without an id.
func (o responseObject) isUnusual(status int) bool {
	if o.Error != nil {
		return o.Error.isBare && len(o.Result) == 0
	}
	return status >= http.StatusBadRequest || o.ID == nil
}

// receivedIn is the object with its response's part of an error, and without secrets in the message.
func (o *responseObject) receivedIn(response upstream.Response) *responseObject {
	if o.Error != nil && o.Error.isNothing() && len(o.Result) > 0 {
		o.Error = nil // false, or an empty object, beside a result
	}
	if o.Error != nil {
		o.Error.receivedIn(response)
	}
	return o
}

// receivedIn adds a response's part of an error, and takes secrets out of the message.
func (e *Error) receivedIn(response upstream.Response) {
	e.Message = response.Redact(e.Message)
	e.status = response.Status
	e.pause = pauseOf(response.Header)
	e.isDown = response.Status >= http.StatusInternalServerError && upstream.RetryAfter(response.Header) > 0
}

// about is the error as one about a call.
func (e *Error) about(call *Call) *Error {
	said := *e
	said.method, said.depth, said.fields = call.Method, call.Reach.Depth, call.Reach.Fields
	said.meaning, said.field = said.read()
	return &said
}

// pauseOf is how long a response asks us to wait: by Retry-After or, where no request is left, until the count of
// requests begins anew. Providers name the latter in seconds.
func pauseOf(header http.Header) time.Duration {
	if asked := upstream.RetryAfter(header); asked > 0 {
		return asked
	}
	if header.Get("X-Ratelimit-Remaining") != "0" {
		return 0
	}
	seconds, err := strconv.ParseUint(header.Get("X-Ratelimit-Reset"), 10, 31)
	if err != nil {
		return 0
	}
	if at := time.Unix(int64(seconds), 0); seconds > uint64(365*24*time.Hour/time.Second) {
		return max(time.Until(at), 0) // a time, not a term
	}
	return time.Duration(seconds) * time.Second
}

// batchRefusedError says that an endpoint declined a batch as a batch.
type batchRefusedError struct {
	isUnsure bool // it may be that it would decline each call
	isOther  bool // it would decline one of the calls, for a reason that it gives
	cause    error
}

func (e *batchRefusedError) Error() string { return fmt.Sprintf("batch refused: %s", e.cause) }
func (e *batchRefusedError) Unwrap() error { return e.cause }

// parse reads the response objects in the response to so many calls. Servers put error objects under any status, and
// texts in their place; a response that is neither is a bad one, or what its status says.
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
	if err != nil || len(objects) == 0 || len(objects) == 1 && objects[0].isUnusual(response.Status) {
		if said := bareError(body); said != nil {
			objects, err = []responseObject{{Error: said}}, nil
		}
	}
	isSaid := slices.ContainsFunc(objects, func(each responseObject) bool { return each.Error != nil })
	if response.Status >= http.StatusBadRequest && (err != nil || !isSaid) {
		return nil, declined(response, asked)
	}
	if err != nil {
		if failed := response.StatusError(); failed != nil {
			return nil, failed
		}
		if asked > 1 && len(body) == 0 {
			return nil, unanswering()
		}
		return nil, errors.New("not a JSON-RPC response")
	}
	for i := range objects {
		objects[i].receivedIn(response)
	}
	if asked > 1 && len(objects) == 0 {
		return nil, unanswering()
	}
	if asked > 1 && len(objects) == 1 {
		return nil, wholeRefused(objects[0])
	}
	return objects, nil
}

// unanswering is a response that leaves all calls of a batch open, or all but one. It may be that the endpoint takes no
// batches.
func unanswering() error {
	cause := errors.New("fewer response objects than calls")
	return &upstream.Error{Class: upstream.BadAnswer, Err: &batchRefusedError{isUnsure: true, cause: cause}}
}

// longestText bounds a message that stands for a whole response.
const longestText = 512

// bareError reads an error that came without an envelope: its members alone, or a line of text. Nil is none.
func bareError(body []byte) *Error {
	said := struct {
		Error  *Error          `json:"error"`
		Code   json.RawMessage `json:"code"`
		Data   json.RawMessage `json:"data"`
		Result struct {
			Code string `json:"code"`
		} `json:"result"`
	}{}
	err := json.Unmarshal(body, &said)
	switch {
	case said.Error != nil && !said.Error.isNothing() && !said.Error.isBare:
		return said.Error
	case err == nil || len(body) > 0 && body[0] == '{':
		text := strings.TrimSpace(strings.Join(textsIn(body), " "))
		if text == "" && said.Result.Code != "" {
			text = strings.ToLower(strings.ReplaceAll(said.Result.Code, "_", " "))
		}
		if text == "" {
			return nil
		}
		return &Error{Code: codeIn(said.Code), Message: text, Data: said.Data, isBare: true}
	case len(body) == 0 || len(body) > longestText || bytes.ContainsAny(body, "<{[\x00"):
		return nil
	}
	return &Error{Message: string(body), isBare: true}
}

// declined is a response of a status from 400 on whose body says nothing.
func declined(response upstream.Response, asked int) error {
	status := response.Status
	cause := errors.New(strings.ToLower(http.StatusText(status)))
	isRefusal := status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge
	if asked > 1 && (isRefusal || status == http.StatusInternalServerError) {
		cause = &batchRefusedError{isUnsure: !isRefusal, cause: cause}
	}
	byStatus := Error{isBare: true, status: status}
	failed := &upstream.Error{Class: upstream.Rejected, Status: status, Err: cause, Closed: byStatus.Meaning().Class() == Closed}
	if failure, is := errors.AsType[*upstream.Error](response.StatusError()); is {
		failed.Class, failed.RetryAfter = failure.Class, failure.RetryAfter
	}
	if isElsewhere(status) {
		failed.Class = upstream.BadAnswer
	}
	return failed
}

// wholeRefused is a single response object in answer to a batch.
func wholeRefused(object responseObject) error {
	if object.Error == nil {
		return unanswering()
	}
	said := object.Error
	refused := &batchRefusedError{cause: said}
	switch said.Meaning() {
	case Overloaded:
		failed := said.failure()
		if said.isBare && said.status == http.StatusInternalServerError {
			refused.isUnsure, failed.Err = true, refused
		}
		return failed
	case RateLimit, QuotaSpent, KeyRefused:
		return said.failure()
	case BatchLimit, Unclear:
	default:
		refused.isOther = true
	}
	if failed := said.failure(); failed != nil && failed.Class == upstream.BadAnswer {
		return failed
	}
	return &upstream.Error{Class: upstream.Rejected, Err: refused}
}
