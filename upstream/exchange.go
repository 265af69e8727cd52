package upstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	defaultTimeout = 10 * time.Second
	defaultMaxBody = 16 << 20

	// fairTime is how long an endpoint must have had before a caller's deadline counts against it: callers in a hurry
	// must not be able to open its breaker.
	fairTime = 500 * time.Millisecond
)

// exchanger sends requests to one URL and reads the responses. Its fields never change.
type exchanger struct {
	name      string // of the endpoint
	base      *url.URL
	moreQuery string            // follows that of a request: the query of base
	basic     http.Header       // the user and password of base; never modified, as requests share it
	asks      http.Header       // of requests without a body, likewise
	posts     http.Header       // of requests with a body, likewise
	given     http.Header       // as configured, likewise
	timeout   time.Duration     // of one request, including its wait for the budget
	maxBody   int64             // of an answer, bytes
	transport http.RoundTripper // does not follow redirects, which would carry keys along
	scrubber  *scrubber
}

func newExchanger(o EndpointOptions) (*exchanger, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("endpoint %s: URL is not http(s)://host/…", o.Name)
	}
	if base.Path == "" {
		base.Path = "/" // else a request's path, joined to nothing, would lack its leading slash
	}
	basic := http.Request{Header: http.Header{}}
	if base.User != nil {
		password, _ := base.User.Password()
		basic.SetBasicAuth(base.User.Username(), password)
	}
	if o.Transport == nil {
		o.Transport = newTransport(o.Forwards)
	}
	moreQuery := ""
	if base.RawQuery != "" {
		moreQuery = "&" + base.RawQuery
	}
	return &exchanger{
		name:      o.Name,
		base:      base,
		moreQuery: moreQuery,
		basic:     basic.Header,
		asks:      headerOf(basic.Header, o.Header),
		posts:     headerOf(http.Header{"Content-Type": {"application/json"}}, basic.Header, o.Header),
		given:     o.Header.Clone(),
		timeout:   cmp.Or(o.Timeout, defaultTimeout),
		maxBody:   cmp.Or(o.MaxBody, defaultMaxBody),
		transport: o.Transport,
		scrubber:  &scrubber{name: o.Name, own: NewScrubber(o.Name, base, o.Header)},
	}, nil
}

// headerOf returns the header of every request, extended or overridden by the given ones.
func headerOf(given ...http.Header) http.Header {
	header := http.Header{"User-Agent": {"crossgate"}, "Accept": {"application/json"}}
	for _, each := range given {
		maps.Copy(header, each.Clone())
	}
	return header
}

func newTransport(forwards bool) *http.Transport {
	connections, unread := 128, 0 // unread bytes of a stream; 0: net/http's own bound, 4 MB
	if forwards {                 // clients, whose own connections are bounded, decide how long and how much they read
		connections, unread = 0, 128<<10
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    32,
		MaxConnsPerHost:        connections,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     forwards,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: unread},
	}
}

func (x *exchanger) exchange(ctx, caller context.Context, r Request) (Response, error) {
	started := time.Now()
	answer, err := x.transport.RoundTrip(x.request(ctx, r))
	if err != nil {
		return Response{}, x.broken(ctx, caller, started, err)
	}
	defer answer.Body.Close()
	body, err := readAll(answer.Body, x.maxBody+1)
	if err != nil {
		return Response{}, x.broken(ctx, caller, started, err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		body = []byte(x.scrubber.redact(r.secrets(), string(body))) // callers quote it in errors
	}
	response := Response{Status: answer.StatusCode, Header: answer.Header, Body: body, from: x.scrubber, sent: r.secrets()}
	if int64(len(body)) > x.maxBody {
		return Response{Status: answer.StatusCode}, &Error{
			Class: BadAnswer, Endpoint: x.name, Status: answer.StatusCode,
			Err: fmt.Errorf("answer exceeds %d bytes", x.maxBody), excused: true,
		}
	}
	if !r.AnyStatus {
		err = response.StatusError()
	}
	return response, err
}

// mostKept is the capacity, in bytes, of the largest buffer that is kept for reuse.
const mostKept = 1 << 20

var buffers = sync.Pool{New: func() any { return new(answerBuffer) }}

// answerBuffer is a buffer, and the bounded answer that is read into it.
type answerBuffer struct {
	bytes  bytes.Buffer
	answer io.LimitedReader
}

// readAll is io.ReadAll of at most some bytes, but allocates only the size of the answer: growing a buffer for each
// takes over twice that.
func readAll(answer io.Reader, most int64) ([]byte, error) {
	b := buffers.Get().(*answerBuffer)
	b.bytes.Reset()
	b.answer = io.LimitedReader{R: answer, N: most}
	_, err := b.bytes.ReadFrom(&b.answer)
	body := bytes.Clone(b.bytes.Bytes())
	if b.answer.R = nil; b.bytes.Cap() <= mostKept {
		buffers.Put(b)
	}
	return body, err
}

// request builds the HTTP request. Trace context is not sent: it is none of a third party's business.
func (x *exchanger) request(ctx context.Context, r Request) *http.Request {
	var target *url.URL
	if r.Path == "" {
		target = new(*x.base)
	} else {
		target = x.base.JoinPath(r.Path)
	}
	if r.Query != "" {
		target.RawQuery = r.Query + x.moreQuery
	}
	request := (&http.Request{Method: r.method(), URL: target, Host: target.Host, Header: x.asks}).WithContext(ctx)
	if body := r.Body; body != nil {
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		request.Body, _ = request.GetBody()
		request.Header, request.ContentLength = x.posts, int64(len(body))
	}
	if len(r.Header) > 0 {
		request.Header = maps.Clone(request.Header)
		maps.Copy(request.Header, r.Header)
	}
	return request
}

// broken classifies the error of an exchange that ended without a complete response.
func (x *exchanger) broken(ctx, caller context.Context, started time.Time, err error) error {
	if ctx.Err() != nil {
		return x.interrupted(caller, started)
	}
	if greeting, isTLS := errors.AsType[tls.RecordHeaderError](err); isTLS && string(greeting.RecordHeader[:]) == "HTTP/" {
		err = http.ErrSchemeMismatch
	}
	var timeout interface{ Timeout() bool }
	class := Unreachable
	if errors.As(err, &timeout) && timeout.Timeout() {
		class = Timeout
	}
	// Only the text is passed on, scrubbed: the cause quotes host names.
	return &Error{Class: class, Endpoint: x.name, Err: errors.New(x.scrubber.redact(sent{}, err.Error()))}
}

// interrupted distinguishes the caller's cancellation and deadline from the endpoint's own timeout.
func (x *exchanger) interrupted(caller context.Context, started time.Time) error {
	err := endOf(caller)
	if err == nil {
		return &Error{Class: Timeout, Endpoint: x.name, Err: fmt.Errorf("no answer within %s", x.timeout)}
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Class: Canceled, Endpoint: x.name, Err: err}
	}
	return &Error{
		Class: Timeout, Endpoint: x.name, Err: err,
		excused: time.Since(started) < min(fairTime, x.timeout/2),
	}
}
