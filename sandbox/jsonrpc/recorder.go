package jsonrpc

import (
	"bytes"
	"fmt"
	"net/http"
)

// Recorder holds a handler's response, to be read or changed in this process.
type Recorder struct {
	Status int
	Body   bytes.Buffer
	header http.Header
}

// Record returns a handler's response to a request.
func Record(handler http.Handler, r *http.Request) *Recorder {
	recorded := &Recorder{Status: http.StatusOK, header: http.Header{}}
	handler.ServeHTTP(recorded, r)
	return recorded
}

// Answer returns a response to a call, with members beside its id: a result or an error.
func Answer(call Request, members string) *Recorder {
	told := &Recorder{Status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}}
	fmt.Fprintf(&told.Body, `{"jsonrpc":"2.0","id":%s,%s}`, call.ID, members)
	return told
}

// Header returns the response headers.
func (r *Recorder) Header() http.Header { return r.header }

// WriteHeader records the status.
func (r *Recorder) WriteHeader(status int) { r.Status = status }

func (r *Recorder) Write(part []byte) (int, error) { return r.Body.Write(part) }
