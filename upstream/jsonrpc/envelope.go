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

// responseObject is a response object (section 5 of the specification), or whatever servers send in its place.
type responseObject struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// id parses the id, which some servers return as a string.
func (o responseObject) id() (uint64, bool) {
	id, err := strconv.ParseUint(strings.Trim(string(o.ID), `"`), 10, 64)
	return id, err == nil
}

func (o responseObject) isFor(id uint64) bool {
	own, isReadable := o.id()
	return isReadable && own == id
}

// isUnusual reports whether the body may say more outside the members of a response object: its error is a bare text,
// or it has none although the status demands one or the id is missing.
func (o responseObject) isUnusual(status int) bool {
	if o.Error != nil {
		return o.Error.isBare && len(o.Result) == 0
	}
	return status >= http.StatusBadRequest || o.ID == nil
}

// receivedIn completes the object's error with information from the response, and removes secrets from its message.
func (o *responseObject) receivedIn(response upstream.Response) *responseObject {
	if o.Error != nil && o.Error.isNothing() && len(o.Result) > 0 {
		o.Error = nil // false, or an empty object, beside a result
	}
	if o.Error != nil {
		o.Error.receivedIn(response)
	}
	return o
}

// receivedIn adds the status and pause of a response, and removes secrets from the message.
func (e *Error) receivedIn(response upstream.Response) {
	e.Message = response.Redact(e.Message)
	e.status = response.Status
	e.pause = pauseOf(response.Header)
	e.isDown = response.Status >= http.StatusInternalServerError && upstream.RetryAfter(response.Header) > 0
}

// about returns a copy of the error that is about a call.
func (e *Error) about(call *Call) *Error {
	said := *e
	said.method, said.depth, said.fields = call.Method, call.Reach.Depth, call.Reach.Fields
	said.meaning, said.field = said.read()
	return &said
}

// pauseOf returns how long a response asks us to wait: by Retry-After or, if no requests remain, until the rate limit
// resets. Providers give the latter in seconds.
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
		return max(time.Until(at), 0) // a point in time, not a duration
	}
	return time.Duration(seconds) * time.Second
}

// batchRefusedError says that an endpoint declined a batch as a batch.
type batchRefusedError struct {
	isUnsure bool // the endpoint might decline each call, too
	isOther  bool // the endpoint declines one of the calls, for a reason that it states
	cause    error
}

func (e *batchRefusedError) Error() string { return fmt.Sprintf("batch refused: %s", e.cause) }
func (e *batchRefusedError) Unwrap() error { return e.cause }

// parse decodes the response objects in the response to a number of calls. Servers send error objects, or texts in
// their place, with any status; any other response is a bad answer, or the error that its status implies.
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

// unanswering returns the error of a response that leaves all calls of a batch open, or all but one. The endpoint may
// not accept batches.
func unanswering() error {
	cause := errors.New("fewer response objects than calls")
	return &upstream.Error{Class: upstream.BadAnswer, Err: &batchRefusedError{isUnsure: true, cause: cause}}
}

// longestText is the longest body, in bytes, that may be a message in place of a response.
const longestText = 512

// bareError parses an error without an envelope: its members, or a line of text. It returns nil if there is none.
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

// declined returns the error of a response with a status of 400 or more whose body says nothing.
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

// wholeRefused returns the error of a single response object in answer to a batch.
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
