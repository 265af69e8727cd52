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

// response is the http.ResponseWriter of one request. It is sent when the handler returns or, from the first Flush on,
// as it is written.
type response struct {
	header http.Header
	began  bool // status and header are final
	fast   *fasthttp.RequestCtx
	conn   *conn
	whole  string  // the body, if it was written at once; otherwise fasthttp's response has it
	stream *stream // nil until the handler flushes
}

// sniffed is how many bytes http.DetectContentType looks at.
const sniffed = 512

// responses are reused.
var responses = sync.Pool{New: func() any { return &response{header: http.Header{}} }}

// newResponse is the response to c's request, valid until release.
func newResponse(c *fasthttp.RequestCtx) *response {
	w := responses.Get().(*response)
	w.fast, w.conn = c, c.Conn().(*conn) // made by watchedListener
	return w
}

func (w *response) release() {
	clear(w.header)
	*w = response{header: w.header}
	responses.Put(w)
}

// Header returns the header that WriteHeader sends.
func (w *response) Header() http.Header { return w.header }

// WriteHeader sets the status and the header; calls after the first are ignored.
func (w *response) WriteHeader(status int) {
	if w.began {
		return
	}
	w.began = true
	into := &w.fast.Response.Header
	into.DisableNormalizing() // handlers spell names as with net/http
	into.SetStatusCode(status)
	for name, values := range w.header {
		if name == "Content-Length" {
			if length, err := strconv.Atoi(values[0]); err == nil {
				into.SetContentLength(length) // for HEAD; for others the written bytes count
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

// WriteString adds to the body. A body of one string is sent without a copy, since strings do not change.
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

// append adds to a body of several writes.
func (w *response) append(p []byte) {
	w.fast.Response.AppendBodyString(w.whole)
	w.whole = ""
	w.fast.Response.AppendBody(p)
}

// beginBody sets the header for a body that begins with p, unless it is set.
func (w *response) beginBody(p []byte) {
	if w.began {
		return
	}
	if w.header["Content-Type"] == nil && len(p) > 0 {
		w.header.Set("Content-Type", http.DetectContentType(p))
	}
	w.WriteHeader(http.StatusOK)
}

// Flush sends what has been written. From then on the response is a stream, after which the connection is closed.
func (w *response) Flush() {
	w.beginBody(nil)
	if w.stream == nil {
		w.append(nil)
		w.stream = newStream(w.conn, w.fast)
	}
	_ = w.stream.buffer.Flush() // the next write returns the error
}

// SetWriteDeadline is called by http.ResponseController.
func (w *response) SetWriteDeadline(limit time.Time) error { return w.conn.SetWriteDeadline(limit) }

// finish completes the response after the handler.
func (w *response) finish() {
	if w.stream != nil {
		w.stream.end()
		w.abort()
		return
	}
	w.beginBody(nil)
	if w.whole != "" {
		w.fast.Response.SetBodyRaw(unsafe.Slice(unsafe.StringData(w.whole), len(w.whole))) // only read
	}
}

// abort closes the connection without sending anything more.
func (w *response) abort() {
	w.fast.HijackSetNoResponse(true)
	w.fast.Hijack(func(net.Conn) {})
}

// stream is a body of unknown length, written to the connection as it comes.
type stream struct {
	buffer *bufio.Writer
	body   io.Writer
	chunks io.Closer // nil where closing the connection ends the body
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

// Content-Length values with a meaning to fasthttp.
const (
	chunked    = -1
	endUnknown = -2
)

func (s *stream) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // an empty chunk would end the body
	}
	return s.body.Write(p)
}

func (s *stream) end() {
	if s.chunks != nil {
		_ = s.chunks.Close()
		_, _ = s.buffer.WriteString("\r\n") // no trailers
	}
	_ = s.buffer.Flush() // fails only when the client has left
}
