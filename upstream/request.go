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
	Query  string // encoded; the query of the endpoint's URL is appended
	Header http.Header
	Keys   []string // keys in path, query or body: scrubbed from errors, as Header is
	Body   []byte
	Cost   int // units of the rate budget; EndpointOptions.Units by default

	Kind       string                      // groups latencies and names spans; those have the HTTP method by default
	Attributes func() []attribute.KeyValue // of its span; nil: none besides the endpoint's
	// Check returns the fault of a response from any endpoint, for probes, which repeat requests that were answered
	// well. Nil accepts all.
	Check func(Response) error
	// AnyStatus says that the sender of the request reads responses of every status, and calls Response.StatusError
	// itself: JSON-RPC servers send errors with any status.
	AnyStatus bool
	// Admit waits until an endpoint may be sent requests of this kind, in addition to its budget; without time for that
	// it returns when to retry. Nil admits all.
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
	sent sent      // in the request, likewise
}

// StatusError returns the *Error that the status implies: nil if the response is for the caller to read.
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

// Scrub removes everything that could be a key of the endpoint, or of the request, from the text of an error that
// quotes the answer.
func (r Response) Scrub(err error) error { return r.from.scrub(r.sent, err) }

// Redact is Scrub for text from the answer.
func (r Response) Redact(text string) string { return r.from.redact(r.sent, text) }
