package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Forward is a client's request that is passed on to an endpoint unchanged.
type Forward struct {
	Method   string
	Path     string // below the endpoint's URL, escaped as by the client; begins with a slash
	RawQuery string
	Host     string      // empty: the endpoint's
	Header   http.Header // end-to-end fields; the endpoint's own fields are added or override them

	Body          io.Reader // nil: none
	ContentLength int64     // -1: unknown
	Trailer       http.Header

	// Inform receives interim responses before Pool.Forward returns; nil: they are dropped.
	Inform func(status int, header http.Header)
}

// Forward sends f to an endpoint, and returns the response, of any status, when its header has come. A request that
// may be repeated is sent to the next endpoint where one fails. ctx ends the request until the response is returned,
// closing its body afterwards.
func (p *Pool) Forward(ctx context.Context, f Forward) (*http.Response, error) {
	p.retries.earn()
	mayRepeat := f.Body == nil && slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, f.Method)
	order, _ := p.first("", nil, nil)
	var failures attempts
	var failed *http.Response // the previous endpoint's report of its failure
	for i, index := range order {
		attempt := p.endpoints[index].forward(ctx, f, i+1)
		err := attempt.Settle(ctx, attempt.wrong())
		if failed != nil && attempt.response != nil {
			_ = failed.Body.Close()
		}
		if err == nil {
			p.answered(index, i > 0, false)
			return attempt.response, nil
		}
		failures = append(failures, err)
		if attempt.response != nil {
			failed = attempt.response
		}
		if !mayRepeat || ctx.Err() != nil || ClassOf(err) != Unreachable && !p.retries.retry() {
			break
		}
	}
	switch {
	case failed != nil:
		return failed, nil
	case len(failures) == 1:
		return nil, failures[0]
	case len(failures) == 0:
		failures = attempts{errors.New("no endpoint is configured")}
	}
	return nil, failures.summary(p.name)
}

// forwarded is an attempt whose response is read by the client.
type forwarded struct {
	*Attempt
	response *http.Response
}

// wrong returns the failure that the status reports, if the endpoint itself is to blame.
func (f *forwarded) wrong() error {
	if f.response == nil {
		return nil
	}
	switch status := f.response.StatusCode; {
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported: // not its fault
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return Response{Status: status, Header: f.response.Header}.StatusError()
	}
	return nil
}

// forward makes an attempt that is over when the header of the response has arrived. From then on only its body ends
// the exchange.
func (e *Endpoint) forward(caller context.Context, f Forward, turn int) *forwarded {
	a := &Attempt{Endpoint: e, request: addressRequest, began: time.Now()}
	ctx, span := e.tracing.start(caller, Request{Method: f.Method}, turn)
	a.span = span
	attempt := &forwarded{Attempt: a}
	// Half of the timeout is left for the answer.
	waiting, stopWaiting := context.WithTimeout(caller, e.exchanger.timeout/2)
	a.Err = a.enter(waiting, caller)
	if stopWaiting(); a.Err != nil {
		return attempt
	}
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(caller, cancel)
	var settled atomic.Bool // the header has arrived, or the origin was silent for too long
	silent := time.AfterFunc(e.exchanger.timeout, func() {
		if settled.CompareAndSwap(false, true) {
			cancel()
		}
	})
	body := &clientBody{Reader: f.Body, silent: silent, limit: e.exchanger.timeout}
	if f.Body != nil {
		f.Body = body
	}
	response, err := e.exchanger.open(sending, caller, f)
	isEnded := !settled.CompareAndSwap(false, true)
	silent.Stop()
	if isEnded = !unlink() || isEnded; isEnded && err == nil {
		_ = response.Body.Close()
		err = e.exchanger.interrupted(caller, a.sent)
	}
	if err != nil {
		cancel()
		a.Err = err
		if broken := body.failure(caller.Err() != nil); broken != nil {
			a.Err = &Error{Class: Canceled, Endpoint: e.name, Err: &BodyError{broken}}
		}
		return attempt
	}
	followed := &followedBody{ReadCloser: response.Body, endpoint: e, cancel: cancel}
	response.Body = followed
	if writer, isBoth := followed.ReadCloser.(io.Writer); isBoth { // of a protocol that was switched to
		response.Body = struct {
			*followedBody
			io.Writer
		}{followed, writer}
	}
	attempt.response, a.Response.Status = response, response.StatusCode
	return attempt
}

// BodyError says that a request was not forwarded because its body could not be read from the client.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return "request body: " + e.Err.Error() }

func (e *BodyError) Unwrap() error { return e.Err }

// clientBody is the body of a forwarded request as the client sends it.
type clientBody struct {
	io.Reader
	silent *time.Timer // ends the request; stopped while waiting for the client
	limit  time.Duration

	mu  sync.Mutex // held while waiting for the client
	err error      // from reading the client's body
}

func (b *clientBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.silent.Stop()
	n, err := b.Reader.Read(p)
	b.silent.Reset(b.limit)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// failure returns why the body could not be read, or nil. If the client's request hasEnded, a read under way ends at
// any moment and is waited for.
func (b *clientBody) failure(hasEnded bool) error {
	if hasEnded {
		b.mu.Lock()
	} else if !b.mu.TryLock() {
		return nil
	}
	defer b.mu.Unlock()
	return b.err
}

// addressRequest probes endpoints that forward requests, since clients' requests are not ours to repeat. Any answer
// will do: the contents at an origin's address are unknown.
var addressRequest = Request{AnyStatus: true}

// open sends f and returns the response with its body unread.
func (x *exchanger) open(ctx, caller context.Context, f Forward) (*http.Response, error) {
	target, err := x.below(f)
	if err != nil {
		return nil, &Error{Class: Rejected, Endpoint: x.name, Err: err}
	}
	if f.Inform != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			Got1xxResponse: func(status int, header textproto.MIMEHeader) error {
				f.Inform(status, http.Header(header))
				return nil
			},
		})
	}
	request, err := http.NewRequestWithContext(ctx, f.Method, "", f.Body)
	if err != nil {
		return nil, &Error{Class: Rejected, Endpoint: x.name, Err: errors.New("request cannot be built from its method")}
	}
	request.URL, request.Host = target, f.Host
	request.Header, request.ContentLength, request.Trailer = maps.Clone(x.basic), f.ContentLength, f.Trailer
	if f.Body == nil {
		request.ContentLength = 0
	}
	maps.Copy(request.Header, f.Header)
	maps.Copy(request.Header, x.given)
	started := time.Now()
	response, err := x.transport.RoundTrip(request)
	if err != nil {
		return nil, x.broken(ctx, caller, started, err)
	}
	return response, nil
}

// below returns the URL of f at the endpoint. Its path keeps the segments of f as the client escaped them.
func (x *exchanger) below(f Forward) (*url.URL, error) {
	target := *x.base
	escaped := strings.TrimSuffix(target.EscapedPath(), "/") + f.Path
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("path cannot be decoded: %w", err)
	}
	target.Path, target.RawPath = path, escaped
	switch {
	case target.RawQuery == "":
		target.RawQuery = f.RawQuery
	case f.RawQuery != "":
		target.RawQuery += "&" + f.RawQuery
	}
	return &target, nil
}

// followedBody ends its exchange when it is closed. That it breaks before is a failure of the endpoint.
type followedBody struct {
	io.ReadCloser
	endpoint *Endpoint
	cancel   context.CancelFunc
	isClosed atomic.Bool
}

// Read scrubs secrets from errors.
func (b *followedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	broken := &Error{Class: Unreachable, Endpoint: b.endpoint.name, Err: errors.New(b.endpoint.exchanger.scrubber.redact(sent{}, err.Error()))}
	if !b.isClosed.Load() {
		b.endpoint.health.note("", 0, broken)
		b.endpoint.breaker.learn(broken, &b.endpoint.health)
	}
	return n, broken
}

func (b *followedBody) Close() error {
	b.isClosed.Store(true)
	defer b.cancel()
	return b.ReadCloser.Close()
}
