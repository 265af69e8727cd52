package transport

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"
	"unsafe"
)

const protocolTwo = "h2"

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Limits of HTTP/2.
const (
	mostStreams = 128     // per connection
	inFlight    = 1 << 16 // bytes of bodies that a client may send without a window update
)

// newSecond returns net/http's server for HTTP/2 connections.
func (s *Server) newSecond() *http.Server {
	o := s.options
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: http.HandlerFunc(s.serveTwo), Protocols: protocols, MaxHeaderBytes: headBytes,
		ReadTimeout: o.ReadLimit, WriteTimeout: o.WriteLimit, IdleTimeout: o.IdleLimit,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: mostStreams, MaxReceiveBufferPerConnection: inFlight, MaxReceiveBufferPerStream: inFlight,
		},
		ConnContext: func(ctx context.Context, handed net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, connOf(handed))
		},
		ConnState: noteIdle,
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, 0), // it would log client data, which may be keys
	}
}

// serveTwo handles an HTTP/2 request. A body that is too long is rejected unless it is streamed.
func (s *Server) serveTwo(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn)
	refused := s.enterRequest(c)
	taken := &takenWriter{ResponseWriter: w}
	defer s.leaveRequest(c, taken)
	if refused != 0 {
		s.options.Refuse(headOnly{taken}, refused)
		return
	}
	if r.ContentLength != 0 && (s.options.Stream == nil || !s.options.Stream(r)) {
		if r.ContentLength > int64(s.options.BodyBytes) {
			s.options.Refuse(taken, http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(taken, r.Body, int64(s.options.BodyBytes))
	}
	if !s.handleApart(taken, r) {
		panic(http.ErrAbortHandler) // ends the stream
	}
}

// task is a request to be handled by a worker of handleApart.
type task struct {
	w        http.ResponseWriter
	r        *http.Request
	returned chan bool
}

// handleApart calls handle in a reused goroutine. net/http starts a new one for each request, whose stack would be
// copied several times as it grows.
func (s *Server) handleApart(w http.ResponseWriter, r *http.Request) (returned bool) {
	t := task{w, r, make(chan bool, 1)}
	select {
	case s.tasks <- t:
	default:
		go s.work(t)
	}
	return <-t.returned
}

// work handles tasks until enough other goroutines are idle or the server has ended.
func (s *Server) work(t task) {
	const mostResting = 64
	defer s.resting.Add(-1)
	for {
		t.returned <- s.handle(t.w, t.r)
		t = task{}
		if s.resting.Add(1) > mostResting {
			return
		}
		select {
		case t = <-s.tasks:
			s.resting.Add(-1)
		case <-s.empty:
			return
		}
	}
}

// enterRequest counts a request and returns the status to reject it with, or 0. When even rejections are queued up it
// aborts the stream.
func (s *Server) enterRequest(c *conn) (refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused = s.openConns.enterRequest(c); refused == aborted {
		panic(http.ErrAbortHandler)
	}
	return refused
}

// leaveRequest stops counting a request once its response has been sent. The client may delay that beyond the end of
// the handler, and then it counts until its stream is closed.
func (s *Server) leaveRequest(c *conn, w *takenWriter) {
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.openConns.leaveRequest(c)
	}
	if w.isTaken {
		leave()
		return
	}
	closed := w.ResponseWriter.(interface{ CloseNotify() <-chan bool }).CloseNotify() // the request's context ends with the handler
	go func() {
		<-closed
		leave()
	}()
}

// takenWriter records whether the response has been sent when its handler returns: net/http buffers short writes.
type takenWriter struct {
	http.ResponseWriter
	isBegun, isTaken bool
}

// Write returns once all of a long body has been sent.
func (w *takenWriter) Write(p []byte) (int, error) {
	const heldBack = 4 << 10 // maximum that a stream's buffer holds back
	n, err := w.ResponseWriter.Write(p)
	w.isBegun, w.isTaken = true, !w.isBegun && n > heldBack
	return n, err
}

// WriteString is like Write; net/http would send pieces.
func (w *takenWriter) WriteString(text string) (int, error) {
	return w.Write(unsafe.Slice(unsafe.StringData(text), len(text))) // Write does not modify it
}

// Flush sends all that is buffered.
func (w *takenWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// Unwrap is for http.ResponseController.
func (w *takenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// headOnly drops the body of a response, which the client could leave unread.
type headOnly struct{ http.ResponseWriter }

func (w headOnly) WriteHeader(status int) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(status)
}

func (headOnly) Write(p []byte) (int, error) { return len(p), nil }

type connKey struct{}

// speaksTwo completes any handshake and reports whether the client speaks HTTP/2; if it fails, HTTP/1.1 closes it.
func (c *conn) speaksTwo() bool {
	secured, isTLS := c.Conn.(*tls.Conn)
	if !isTLS {
		return c.beginsWithPreface()
	}
	limit := time.Now().Add(c.server.options.ReadLimit)
	if c.SetDeadline(limit) != nil {
		return false
	}
	if err := secured.HandshakeContext(context.Background()); err != nil {
		c.refusePlain(err)
		return false
	}
	state := secured.ConnectionState()
	c.tls = &state
	return state.NegotiatedProtocol == protocolTwo
}

// noteIdle records since when an HTTP/2 connection has had no request.
func noteIdle(handed net.Conn, state http.ConnState) {
	since := int64(0)
	if state == http.StateIdle {
		since = time.Now().UnixNano()
	}
	connOf(handed).idleSince.Store(since)
}

// connOf returns the conn of a connection that was handed over.
func connOf(handed net.Conn) *conn {
	if secured, isTLS := handed.(*tls.Conn); isTLS {
		handed = secured.NetConn()
	}
	return handed.(*trackedConn).conn
}

// beginsWithPreface reads only as much as needed to decide.
func (c *conn) beginsWithPreface() bool {
	_ = c.SetReadDeadline(time.Now().Add(c.server.options.ReadLimit))
	for n := 1; n <= len(preface); n++ {
		if came, err := c.input.Peek(n); err != nil || came[n-1] != preface[n-1] {
			return false
		}
	}
	return true
}

// handOver passes c to the HTTP/2 server, and reports whether that takes it.
func (c *conn) handOver(to *handover) bool {
	c.two.Store(true)
	if c.SetDeadline(time.Time{}) != nil {
		return false
	}
	next := c.Conn
	if c.tls == nil {
		plain := newTrackedConn(c.socket, c)
		plain.ahead, _ = c.input.Peek(c.input.Buffered())
		next = plain
	}
	select {
	case to.handed <- next:
		return true
	case <-to.closed:
		return false
	}
}

// handover is a listener that returns connections already accepted.
type handover struct {
	address net.Addr
	handed  chan net.Conn
	closed  chan struct{}
	close   func()
}

// Accept waits for the next connection.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.handed:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the listener.
func (h *handover) Close() error {
	h.close()
	return nil
}

// Addr returns the address of the listener that accepted the connections.
func (h *handover) Addr() net.Addr { return h.address }
