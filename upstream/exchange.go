package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"
)

// exchange sends r and reads the whole answer.
func (e *Endpoint) exchange(ctx, caller context.Context, r Request) (Response, error) {
	started := time.Now()
	request, err := e.request(ctx, r)
	if err != nil {
		return Response{}, &Error{Class: Rejected, Endpoint: e.name, Err: err}
	}
	answer, err := e.client.Do(request)
	if err != nil {
		return Response{}, e.broken(ctx, caller, started, err)
	}
	defer answer.Body.Close()
	body, err := e.read(answer)
	if err != nil {
		return Response{}, e.broken(ctx, caller, started, err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		body = []byte(e.scrubText(r.secrets(), string(body))) // callers make errors of it
	}
	response := Response{Status: answer.StatusCode, Header: answer.Header, Body: body, from: e, sent: r.secrets()}
	if int64(len(body)) > e.maxBody {
		return Response{Status: answer.StatusCode}, &Error{
			Class: BadAnswer, Endpoint: e.name, Status: answer.StatusCode,
			Err: fmt.Errorf("answer exceeds %d bytes", e.maxBody), excused: true,
		}
	}
	if !r.AnyStatus {
		err = response.StatusError()
	}
	return response, err
}

// StatusError is what the status alone says, an *Error: nil where the response is for the caller to read.
func (r Response) StatusError() error {
	class := classOfStatus(r.Status)
	if class == 0 {
		return nil
	}
	failed := &Error{Class: class, Status: r.Status, RetryAfter: RetryAfter(r.Header)}
	if r.from != nil {
		failed.Endpoint = r.from.name
	}
	return failed
}

// mostExpected bounds the buffer that is allocated by the length that a response claims.
const mostExpected = 64 << 10

// read returns the whole body, or one byte more than the limit.
func (e *Endpoint) read(answer *http.Response) ([]byte, error) {
	limited := io.LimitReader(answer.Body, e.maxBody+1)
	if answer.ContentLength <= 0 {
		return io.ReadAll(limited)
	}
	body := bytes.NewBuffer(make([]byte, 0, min(answer.ContentLength, mostExpected)+bytes.MinRead))
	_, err := body.ReadFrom(limited)
	return body.Bytes(), err
}

// classOfStatus returns zero for a status whose response is for the caller to read.
func classOfStatus(status int) Class {
	switch {
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status >= 500:
		return ServerError
	case status < 200 || status >= 300 && status < 400:
		return BadAnswer
	}
	return 0
}

// request builds the HTTP request. Trace context is not sent: it is none of a third party's business.
func (e *Endpoint) request(ctx context.Context, r Request) (*http.Request, error) {
	target := *e.base
	if r.Path != "" {
		target = *e.base.JoinPath(r.Path)
	}
	if len(r.Query) > 0 {
		query := target.Query()
		maps.Copy(query, r.Query)
		target.RawQuery = query.Encode()
	}
	var body io.Reader
	header := e.asks
	if r.Body != nil {
		body, header = bytes.NewReader(r.Body), e.posts
	}
	request, err := http.NewRequestWithContext(ctx, r.method(), "", body)
	if err != nil {
		return nil, errors.New("request cannot be built from its method")
	}
	request.URL, request.Host, request.Header = &target, target.Host, header
	if len(r.Header) > 0 {
		request.Header = maps.Clone(header)
		maps.Copy(request.Header, r.Header)
	}
	return request, nil
}

// broken classes an exchange that ended without a complete response.
func (e *Endpoint) broken(ctx, caller context.Context, started time.Time, err error) error {
	if ctx.Err() != nil {
		return e.interrupted(caller, started)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL
	}
	var timeout interface{ Timeout() bool }
	class := Unreachable
	if errors.As(err, &timeout) && timeout.Timeout() {
		class = Timeout
	}
	// Only the text goes on, scrubbed: the cause quotes host names.
	return &Error{Class: class, Endpoint: e.name, Err: errors.New(e.secrets.Replace(err.Error()))}
}

// interrupted tells the caller's cancel and the caller's deadline from the endpoint's own timeout.
func (e *Endpoint) interrupted(caller context.Context, started time.Time) error {
	err := endOf(caller)
	if err == nil {
		return &Error{Class: Timeout, Endpoint: e.name, Err: fmt.Errorf("no answer within %s", e.timeout)}
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Class: Canceled, Endpoint: e.name, Err: err}
	}
	return &Error{
		Class: Timeout, Endpoint: e.name, Err: err,
		excused: time.Since(started) < min(fairTime, e.timeout/2),
	}
}
