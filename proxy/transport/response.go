package transport

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// response is sent when the handler returns or, from the first Flush on, as it is written.
type response struct {
	conn    *conn
	request *http.Request // nil if there was none

	header    http.Header
	status    int   // 0 until set, which makes the header final
	length    int64 // Content-Length set by the handler; -1 if none
	written   int64
	untyped   bool // Content-Type is to be detected
	ends      bool // the connection ends after this response
	limited   bool // the handler has set a write deadline
	streaming bool
	chunked   bool
	failure   error // of the connection

	body []byte // written before the first Flush
	out  []byte // ready to send
}

const (
	sniffed  = 512      // bytes that http.DetectContentType looks at
	oneWrite = 16 << 10 // size up to which head and body are copied together
)

var responses = sync.Pool{New: func() any { return &response{header: http.Header{}} }}

// newResponse returns the response to a request, valid until release.
func newResponse(c *conn, r *http.Request) *response {
	w := responses.Get().(*response)
	w.conn, w.request, w.length = c, r, -1
	w.ends = r == nil || r.Close || c.last
	return w
}

func (w *response) release() {
	clear(w.header)
	*w = response{header: w.header, body: w.body[:0], out: w.out[:0]}
	if cap(w.body) <= oneWrite && cap(w.out) <= 2*oneWrite {
		responses.Put(w)
	}
}

// Header returns the header that WriteHeader sends.
func (w *response) Header() http.Header { return w.header }

// WriteHeader sets status and header, once. An informational status is sent immediately, and another status follows it.
func (w *response) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %d", status))
	}
	if status < 200 {
		w.inform(status)
		return
	}
	w.status = status
	if announced := w.header["Content-Length"]; len(announced) > 0 {
		if length, err := strconv.ParseUint(announced[0], 10, 63); err == nil {
			w.length = int64(length)
		}
	}
	w.untyped = w.mayHaveBody() && w.header["Content-Type"] == nil && w.header.Get("Content-Encoding") == ""
	if options := w.header["Connection"]; options != nil {
		w.ends = w.ends || httpguts.HeaderValuesContainsToken(options, "close")
	}
	w.appendHead(status)
	if w.header["Date"] == nil {
		w.out = time.Now().UTC().AppendFormat(append(w.out, "Date: "...), http.TimeFormat+"\r\n")
	}
}

// inform sends an informational response, which HTTP/1.0 clients do not understand.
func (w *response) inform(status int) {
	if w.request == nil || w.request.ProtoMinor == 0 {
		return
	}
	w.appendHead(status)
	w.out = append(w.out, "\r\n"...)
	w.send(nil)
}

// appendHead appends the status line and the header, except for the fields that the connection sets itself.
func (w *response) appendHead(status int) {
	w.out = append(w.out, "HTTP/1.1 "...)
	w.out = strconv.AppendInt(w.out, int64(status), 10)
	w.out = append(w.out, ' ')
	w.out = append(w.out, http.StatusText(status)...)
	w.out = append(w.out, "\r\n"...)
	for name, values := range w.header {
		switch {
		case name == "Content-Length", name == "Transfer-Encoding", name == "Connection",
			name == "Content-Type" && status == http.StatusNotModified, !httpguts.ValidHeaderFieldName(name):
			continue
		}
		for _, value := range values {
			w.appendField(name, value)
		}
	}
}

func (w *response) appendField(name, value string) {
	if strings.IndexByte(value, '\n') >= 0 || strings.IndexByte(value, '\r') >= 0 {
		value = strings.TrimSpace(noBreaks.Replace(value))
	}
	w.out = append(w.out, name...)
	w.out = append(w.out, ": "...)
	w.out = append(w.out, value...)
	w.out = append(w.out, "\r\n"...)
}

var noBreaks = strings.NewReplacer("\n", " ", "\r", " ")

// mayHaveBody reports whether a response of this status has a body, even if that is not sent in response to HEAD.
func (w *response) mayHaveBody() bool {
	return w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

func (w *response) isHead() bool { return w.request != nil && w.request.Method == http.MethodHead }

// Write adds to the body. A complete body of known length in a single call is sent immediately and without copying,
// unless the connection may have to end because a part of the request is unread.
func (w *response) Write(p []byte) (int, error) {
	if err := w.beginWrite(len(p)); err != nil || len(p) == 0 {
		return 0, err
	}
	switch {
	case w.streaming:
		w.appendPart(p)
		if len(w.out) >= oneWrite {
			w.send(nil)
		}
	case int64(len(p)) == w.length && w.request != nil && w.request.ContentLength == 0 && !w.isHead():
		w.streaming = true
		w.endHead(p, w.length)
		w.send(p)
	default:
		w.body = append(w.body, p...)
		return len(p), nil
	}
	return len(p), w.failure
}

// beginWrite returns the same errors as net/http to a write of length bytes.
func (w *response) beginWrite(length int) error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case length == 0:
		return nil
	case !w.mayHaveBody():
		return http.ErrBodyNotAllowed
	}
	if w.written += int64(length); w.length >= 0 && w.written > w.length {
		return http.ErrContentLength
	}
	return w.failure
}

// Flush sends what has been written. From then on the response is a stream, chunked if its length was not set.
func (w *response) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.streaming {
		w.streaming = true
		if w.mayHaveBody() && !w.isHead() && w.length < 0 {
			w.chunked = w.request != nil && w.request.ProtoMinor > 0
			w.ends = w.ends || !w.chunked
		}
		w.endHead(w.body, w.length)
		w.appendPart(w.body)
	}
	w.send(nil) // the next write returns the error
}

func (w *response) appendPart(p []byte) {
	switch {
	case len(p) == 0, w.isHead(): // an empty chunk would end the body
	case w.chunked:
		w.out = slices.Grow(w.out, len(p)+16)
		w.out = strconv.AppendInt(w.out, int64(len(p)), 16)
		w.out = append(w.out, "\r\n"...)
		w.out = append(w.out, p...)
		w.out = append(w.out, "\r\n"...)
	default:
		w.out = append(w.out, p...)
	}
}

// endHead appends the connection's fields for a body of a length (-1 if unknown) that begins with begun.
func (w *response) endHead(begun []byte, length int64) {
	if w.untyped && len(begun) > 0 {
		w.appendField("Content-Type", http.DetectContentType(begun[:min(len(begun), sniffed)]))
	}
	if w.mayHaveBody() && length >= 0 {
		w.out = append(w.out, "Content-Length: "...)
		w.out = strconv.AppendInt(w.out, length, 10)
		w.out = append(w.out, "\r\n"...)
	}
	w.ends = w.ends || w.conn.server.retired.Load()
	if w.chunked {
		w.out = append(w.out, "Transfer-Encoding: chunked\r\n"...)
	}
	if w.ends {
		w.out = append(w.out, "Connection: close\r\n"...)
	} else if w.request.ProtoMinor == 0 {
		w.out = append(w.out, "Connection: keep-alive\r\n"...)
	}
	w.out = append(w.out, "\r\n"...)
}

// SetWriteDeadline is called by http.ResponseController.
func (w *response) SetWriteDeadline(limit time.Time) error {
	w.limited = true
	return w.conn.SetWriteDeadline(limit)
}

// finish completes the response after the handler returned, and reports whether all of it was sent.
func (w *response) finish() (sent bool) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	isOff := w.length >= 0 && w.length != w.written && w.mayHaveBody() && !w.isHead()
	w.ends = w.ends || isOff // the client may misread the next response
	if w.streaming {
		if w.chunked {
			w.out = append(w.out, "0\r\n"...)
			for key, values := range w.header { // the handler has set trailers with http.TrailerPrefix
				name, is := strings.CutPrefix(key, http.TrailerPrefix)
				if !is || !httpguts.ValidTrailerHeader(name) || !httpguts.ValidHeaderFieldName(name) {
					continue
				}
				for _, value := range values {
					w.appendField(name, value)
				}
			}
			w.out = append(w.out, "\r\n"...)
		}
		return w.send(nil)
	}
	body, length := w.body, w.length
	if length < 0 && (len(body) > 0 || !w.isHead()) {
		length = int64(len(body))
	}
	w.endHead(body, length)
	if w.isHead() {
		body = nil
	}
	return w.send(body)
}

// send writes the bytes in out and a body after them in one call. After a failure it writes nothing more.
func (w *response) send(body []byte) (sent bool) {
	if w.failure != nil || len(w.out)+len(body) == 0 {
		return w.failure == nil
	}
	if !w.limited {
		w.failure = w.conn.SetWriteDeadline(time.Now().Add(w.conn.server.options.WriteLimit))
	}
	if len(w.out)+len(body) <= oneWrite {
		w.out = append(w.out, body...)
		body = nil
	}
	switch {
	case w.failure != nil:
	case len(body) == 0:
		_, w.failure = w.conn.Conn.Write(w.out)
	default:
		parts := net.Buffers{w.out, body}
		_, w.failure = parts.WriteTo(w.conn.Conn)
	}
	if w.out = w.out[:0]; w.streaming {
		w.out = nil // a stream may be idle for long
	}
	return w.failure == nil
}
