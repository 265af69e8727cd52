package upstream

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// Request is an HTTP request without its host.
type Request struct {
	Method string // GET without a body, POST with one, by default
	Path   string // joined to the endpoint's URL
	Query  string // encoded; what the endpoint's URL has follows on it
	Header http.Header
	Keys   []string // in path, query or body: scrubbed from errors, as Header is
	Body   []byte
	Cost   int // units of the rate budget; by default what plain requests cost

	Kind       string                      // that spans are named and latencies kept by; the HTTP method by default
	Attributes func() []attribute.KeyValue // of its span; nil: none of its own
	// Check returns the fault of a response by any endpoint: probes repeat requests that were answered well. Nil
	// accepts all.
	Check func(Response) error
	// AnyStatus says that the maker of the request reads responses of every status, and what Response.StatusError says
	// of them: JSON-RPC servers put their reasons under any.
	AnyStatus bool
	// Admit waits until an endpoint may be asked requests of this kind, beside its budget; without time for that it
	// returns when to retry. Nil: it may.
	Admit func(ctx context.Context, e *Endpoint) (retryAfter time.Duration, ok bool, err error)
}

func (r Request) method() string {
	switch {
	case r.Method != "":
		return r.Method
	case r.Body != nil:
		return http.MethodPost
	}
	return http.MethodGet
}

// Response is a complete HTTP response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte

	from *scrubber // of the endpoint, for texts of the body that end up in errors
	sent sent      // by the request, likewise
}

// StatusError is what the status alone says, an *Error: nil where the response is for the caller to read.
func (r Response) StatusError() error {
	var class Class
	switch {
	case r.Status == http.StatusTooManyRequests:
		class = RateLimited
	case r.Status >= http.StatusInternalServerError:
		class = ServerError
	case r.Status < http.StatusOK || r.Status >= http.StatusMultipleChoices && r.Status < http.StatusBadRequest:
		class = BadAnswer
	default:
		return nil
	}
	failed := &Error{Class: class, Status: r.Status, RetryAfter: RetryAfter(r.Header)}
	if r.from != nil {
		failed.Endpoint = r.from.name
	}
	return failed
}

// Scrub takes out of the text of an error that quotes the answer what could be a key of the endpoint, or of the
// request.
func (r Response) Scrub(err error) error {
	if err == nil || r.from == nil {
		return err
	}
	return r.from.scrub(r.sent, err)
}

// Redact is Scrub for a text of the answer.
func (r Response) Redact(text string) string {
	if r.from == nil {
		return text
	}
	return r.from.redact(r.sent, text)
}
