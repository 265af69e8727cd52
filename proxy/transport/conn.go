package transport

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// Limits of conn.linger.
const (
	lingerSilence = 2 * time.Second
	lingerLimit   = 10 * time.Second
)

// conn is a connection. Only the goroutine serving it calls its methods, except leaveIdle and those of a watch.
type conn struct {
	net.Conn          // for reading and writing: socket, or TLS over it
	socket   net.Conn // as accepted
	server   *Server
	remote   string               // address of the peer
	from     netip.Prefix         // as counted by openConns; invalid if not counted
	tls      *tls.ConnectionState // nil for plain connections

	// UNIX nanoseconds since when the next request is awaited; 0 if it is not; left if the wait was ended.
	idleSince atomic.Int64
	last      bool        // this is the last request of the connection
	two       atomic.Bool // handed over as HTTP/2
	rests     bool        // see rest

	input   input
	watched chan struct{} // closed when the watch has ended; nil if there is none
	first   [1]byte       // read by a watch or after a rest
}

// Read returns what a watch has read first.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) > 0 && len(c.input.ahead) > 0 {
		n := copy(p, c.input.ahead)
		c.input.ahead = c.input.ahead[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

const left = -1

// longAgo is a deadline that interrupts blocked reads.
var longAgo = time.Unix(1, 0)

func newConn(s *Server, socket net.Conn) *conn {
	c := &conn{Conn: socket, socket: socket, server: s, remote: socket.RemoteAddr().String()}
	if s.options.TLS != nil {
		c.Conn = tls.Server(newTrackedConn(socket, c), s.options.TLS)
	}
	c.input = newInput(c)
	return c
}

// serve serves one request after another, or hands over a connection that speaks HTTP/2.
func (c *conn) serve(handed *handover) {
	_, isTLS := c.Conn.(*tls.Conn)
	switch {
	case !isTLS && !c.await():
		c.leave()
	case !c.speaksTwo() || !c.handOver(handed):
		c.serveRequests(!isTLS)
	}
}

// serveRequests serves requests until the connection ends or rests. The first one has arrived in part if begun.
func (c *conn) serveRequests(begun bool) {
	for (begun || c.await()) && c.exchange() {
		begun = false
	}
	c.leave()
}

// leave rests if the client may go on, and otherwise closes the connection.
func (c *conn) leave() {
	if c.rests {
		go c.rest()
		return
	}
	_ = c.Conn.Close()
	c.server.leave(c)
}

// restsAfter is how long a connection waits for its next request before it releases its buffer and its stack.
const restsAfter = 5 * time.Second

// await waits for the first bytes of the next request and reports whether they came.
func (c *conn) await() bool {
	if !c.input.isEmpty() {
		return true // pipelined
	}
	now, limit := time.Now(), c.server.options.IdleLimit
	_ = c.SetReadDeadline(now.Add(min(limit, restsAfter))) // fails if the connection is closed, as reading will
	c.idleSince.Store(now.UnixNano())
	if c.server.ended.Load() { // from here on Shutdown sees that the connection is idle
		return false
	}
	_, err := c.input.Peek(1)
	if c.rests = limit > restsAfter && errors.Is(err, os.ErrDeadlineExceeded) && c.idleSince.Load() != left; c.rests {
		return false
	}
	c.last = c.idleSince.Swap(0) == left
	return err == nil
}

// rest continues to wait for the next request, without a buffer and on a fresh stack.
func (c *conn) rest() {
	c.input.release()
	_ = c.SetReadDeadline(time.Now().Add(c.server.options.IdleLimit - restsAfter))
	if c.idleSince.Load() == left {
		_ = c.SetReadDeadline(longAgo) // overrides the deadline above, which replaced leaveIdle's
	}
	n, _ := c.Conn.Read(c.first[:])
	c.last = c.idleSince.Swap(0) == left
	c.input.acquire()
	c.input.ahead = c.first[:n]
	if c.rests = false; n == 0 {
		c.leave()
		return
	}
	c.serveRequests(true)
}

// leaveIdle ends a connection that waits for its next request, and reports whether it does. An HTTP/1.1 request that
// arrives at that moment is still answered.
func (c *conn) leaveIdle() bool {
	since := c.idleSince.Load()
	return since > 0 && c.idleSince.CompareAndSwap(since, left) && c.SetReadDeadline(longAgo) == nil
}

// exchange reads a request and responds to it. It reports whether another may follow.
func (c *conn) exchange() (goesOn bool) {
	_ = c.SetReadDeadline(time.Now().Add(c.server.options.ReadLimit))
	ctx := &requestContext{conn: c}
	r, body, err := c.input.request(ctx)
	if err != nil {
		if !errors.Is(err, errGone) {
			c.refuse(StatusOf(err))
			c.linger()
		}
		return false
	}
	w := newResponse(c, r)
	defer w.release()
	returned := c.server.handle(w, r)
	isRead := body == nil || body.end()
	ctx.cancel()
	c.unwatch()
	w.ends = w.ends || !isRead
	if !returned || !w.finish() {
		return false
	}
	if !w.ends {
		return true
	}
	if !r.Close || !isRead || !c.input.isEmpty() {
		c.linger()
	}
	return false
}

func (c *conn) refuse(status int) {
	c.respond(func(w http.ResponseWriter) { c.server.options.Refuse(w, status) })
}

// respond sends what write writes, as a response that belongs to no request.
func (c *conn) respond(write func(http.ResponseWriter)) {
	w := newResponse(c, nil)
	defer w.release()
	write(w)
	w.finish()
}

// refusePlain responds in the clear to a TLS handshake that began like an HTTP request, as net/http does.
func (c *conn) refusePlain(handshake error) {
	var refused tls.RecordHeaderError
	if !errors.As(handshake, &refused) || refused.Conn == nil || !beginsRequest(refused.RecordHeader[:]) {
		return
	}
	bare := &conn{Conn: c.socket, socket: c.socket, server: c.server, remote: c.remote}
	bare.input = newInput(bare)
	bare.respond(c.server.options.RefusePlain)
	bare.linger()
}

// beginsRequest reports whether these may be the first bytes of an HTTP/1.1 request: a method or its beginning.
func beginsRequest(came []byte) bool {
	method, _, _ := bytes.Cut(came, []byte(" "))
	return len(method) > 0 && !slices.ContainsFunc(method, func(each byte) bool { return each < 'A' || each > 'Z' })
}

// linger reads and discards what the client still sends for a while after the last response. Closing a connection with
// unread data resets it, and the client may lose a response that it has not read yet.
func (c *conn) linger() {
	half, can := c.Conn.(interface{ CloseWrite() error })
	if !can || half.CloseWrite() != nil {
		return
	}
	for end := time.Now().Add(lingerLimit); ; {
		silence := time.Now().Add(lingerSilence)
		if silence.After(end) {
			silence = end
		}
		_, _ = c.input.Discard(c.input.Buffered())
		if c.SetReadDeadline(silence) != nil {
			return
		}
		if _, err := c.input.Peek(1); err != nil {
			return
		}
	}
}

// watch calls disconnected if the client disconnects before unwatch. Meanwhile nothing else may read, and the buffer is
// released: thousands of connections may be watched for long.
func (c *conn) watch(disconnected func()) {
	if !c.input.isEmpty() {
		return // the next request has begun
	}
	watched := make(chan struct{})
	c.watched = watched
	// The read deadline was for the request, which has arrived. If it cannot be lifted, the read below fails.
	_ = c.SetReadDeadline(time.Time{})
	c.input.release()
	go func() {
		defer close(watched)
		n, err := c.Conn.Read(c.first[:])
		if c.input.ahead = c.first[:n]; err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			disconnected()
		}
	}()
}

// unwatch ends the watch, if any, and waits for its goroutine.
func (c *conn) unwatch() {
	if c.watched == nil {
		return
	}
	_ = c.SetReadDeadline(longAgo)
	<-c.watched
	c.watched = nil
	c.input.acquire()
}

// continues lets a client send the body that it holds back.
func (c *conn) continues() error {
	if err := c.SetWriteDeadline(time.Now().Add(c.server.options.WriteLimit)); err != nil {
		return err
	}
	_, err := io.WriteString(c.Conn, "HTTP/1.1 100 Continue\r\n\r\n")
	return err
}

// StatusOf returns the status to reject a request with that could not be read because of err.
func StatusOf(err error) int {
	var refused refusal
	switch {
	case errors.As(err, &refused):
		return int(refused)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}
