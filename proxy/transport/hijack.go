package transport

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

var errBegun = errors.New("the response has begun, so the connection cannot be hijacked")

// Hijack gives the connection to the handler, with what has been read of it and is not understood. It is closed when
// the handler returns.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.request == nil || w.status != 0 {
		return nil, nil, errBegun
	}
	c := w.conn
	c.unwatch()
	c.hijacked, w.hijacked = true, true
	if err := c.SetDeadline(time.Time{}); err != nil {
		return nil, nil, err
	}
	taken := hijacked{c}
	return taken, bufio.NewReadWriter(bufio.NewReader(taken), bufio.NewWriter(taken)), nil
}

// hijacked is a connection that its handler reads and writes itself.
type hijacked struct{ *conn }

// Read returns what had been read before first.
func (h hijacked) Read(p []byte) (int, error) {
	if in := &h.input; !in.isEmpty() {
		n := copy(p, in.unread())
		in.begin += n
		return n, nil
	}
	return h.conn.Read(p)
}

// appendTrailer appends the fields that follow a body in chunks: those whose names the handler has set with
// http.TrailerPrefix.
func (w *response) appendTrailer() {
	for key, values := range w.header {
		name, is := strings.CutPrefix(key, http.TrailerPrefix)
		if !is || !httpguts.ValidTrailerHeader(name) || !httpguts.ValidHeaderFieldName(name) {
			continue
		}
		for _, value := range values {
			w.appendField(name, value)
		}
	}
}
