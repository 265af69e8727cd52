package transport

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/valyala/fasthttp"
)

// response is the http.ResponseWriter of one request. What is written leaves when the handler has returned or, once it has
// flushed, as it comes.
type response struct {
	header http.Header
	began  bool // the status and the header are given
	fast   *fasthttp.RequestCtx
	conn   *conn
	whole  string  // the body, if it was written in one; empty when it is the fasthttp response's
	stream *stream // nil until the handler flushes
}

// sniffed is what http.DetectContentType looks at, bytes.
const sniffed = 512

// responses are the ones that no request has.
var responses = sync.Pool{New: func() any { return &response{header: http.Header{}} }}

// newResponse is that of c's request, until release.
func newResponse(c *fasthttp.RequestCtx) *response {
	w := responses.Get().(*response)
	w.fast, w.conn = c, c.Conn().(*conn) // as accepting made it
	return w
}

func (w *response) release() {
	clear(w.header)
	*w = response{header: w.header}
	responses.Put(w)
}

// Header returns what WriteHeader sends.
func (w *response) Header() http.Header { return w.header }

// WriteHeader gives the status and the header; only the first one counts.
func (w *response) WriteHeader(status int) {
	if w.began {
		return
	}
	w.began = true
	into := &w.fast.Response.Header
	into.DisableNormalizing() // names are as handlers spell them, as with net/http
	into.SetStatusCode(status)
	for name, values := range w.header {
		if name == "Content-Length" {
			if length, err := strconv.Atoi(values[0]); err == nil {
				into.SetContentLength(length) // of an answer to HEAD; of others what is written counts
			}
			continue
		}
		for _, value := range values {
			into.Add(name, value)
		}
	}
}

// Write adds to the body.
func (w *response) Write(p []byte) (int, error) {
	w.beginBody(p)
	if w.stream != nil {
		return w.stream.Write(p)
	}
	w.append(p)
	return len(p), nil
}

// WriteString adds to the body. A body of one string is not copied before it leaves, for nobody can change it.
func (w *response) WriteString(text string) (int, error) {
	if w.stream != nil || w.whole != "" || len(w.fast.Response.Body()) > 0 {
		return w.Write([]byte(text))
	}
	if !w.began {
		w.beginBody([]byte(text[:min(len(text), sniffed)]))
	}
	w.whole = text
	return len(text), nil
}

// append adds to a body of several parts.
func (w *response) append(p []byte) {
	w.fast.Response.AppendBodyString(w.whole)
	w.whole = ""
	w.fast.Response.AppendBody(p)
}

// beginBody gives the header of a body that begins with p, unless it is given.
func (w *response) beginBody(p []byte) {
	if w.began {
		return
	}
	if w.header["Content-Type"] == nil && len(p) > 0 {
		w.header.Set("Content-Type", http.DetectContentType(p))
	}
	w.WriteHeader(http.StatusOK)
}

// Flush sends what has been written. From then on the answer is a stream, with which the connection ends.
func (w *response) Flush() {
	w.beginBody(nil)
	if w.stream == nil {
		w.append(nil)
		w.stream = newStream(w.conn, w.fast)
	}
	_ = w.stream.buffer.Flush() // the next write tells
}

// SetWriteDeadline is what http.ResponseController asks for.
func (w *response) SetWriteDeadline(limit time.Time) error { return w.conn.SetWriteDeadline(limit) }

// finish completes the answer after the handler.
func (w *response) finish() {
	if w.stream != nil {
		w.stream.end()
		w.abort()
		return
	}
	w.beginBody(nil)
	if w.whole != "" {
		w.fast.Response.SetBodyRaw(unsafe.Slice(unsafe.StringData(w.whole), len(w.whole))) // which is only read
	}
}

// abort has nothing more sent, and the connection closed.
func (w *response) abort() {
	w.fast.HijackSetNoResponse(true)
	w.fast.Hijack(func(net.Conn) {})
}

// stream is the body of an answer whose end is not known, written to its connection.
type stream struct {
	buffer *bufio.Writer
	body   io.Writer
	chunks io.Closer // nil where the end of the connection is that of the body
}

func newStream(c *conn, fast *fasthttp.RequestCtx) *stream {
	s := &stream{buffer: bufio.NewWriter(c)}
	s.body = s.buffer
	fast.Response.Header.SetConnectionClose()
	fast.Response.Header.SetContentLength(endUnknown)
	if fast.Request.Header.IsHTTP11() {
		fast.Response.Header.SetContentLength(chunked)
		chunks := httputil.NewChunkedWriter(s.buffer)
		s.body, s.chunks = chunks, chunks
	}
	// bufio keeps the first error and returns it from every later call.
	_, _ = s.buffer.Write(fast.Response.Header.Header())
	if begun := fast.Response.Body(); len(begun) > 0 {
		_, _ = s.body.Write(begun)
	}
	return s
}

// What fasthttp takes for a Content-Length.
const (
	chunked    = -1
	endUnknown = -2
)

func (s *stream) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // which would be the last chunk
	}
	return s.body.Write(p)
}

func (s *stream) end() {
	if s.chunks != nil {
		_ = s.chunks.Close()
		_, _ = s.buffer.WriteString("\r\n") // no trailers
	}
	_ = s.buffer.Flush() // a client that left needs no end
}
