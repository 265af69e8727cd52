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

// protocolTwo is what HTTP/2 is called in a TLS handshake.
const protocolTwo = "h2"

// preface is what a connection of HTTP/2 begins with.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Limits of HTTP/2.
const (
	mostStreams = 128     // of a connection
	inFlight    = 1 << 16 // bytes of bodies that a client may send unasked
)

// newSecond is net/http's server for the connections of HTTP/2.
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
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, 0), // it would log what clients send, which may be keys
	}
}

// serveTwo handles a request of HTTP/2. A body that is too long is refused, unless it is a stream.
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

// task is a request for a goroutine of handleApart.
type task struct {
	w        http.ResponseWriter
	r        *http.Request
	returned chan bool
}

// handleApart calls handle in a goroutine that has done so before. net/http has a new one for each request, whose stack
// would be copied several times on the way down.
func (s *Server) handleApart(w http.ResponseWriter, r *http.Request) (returned bool) {
	t := task{w, r, make(chan bool, 1)}
	select {
	case s.tasks <- t:
	default:
		go s.work(t)
	}
	return <-t.returned
}

// work does tasks until enough others rest or the server has ended.
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

// enterRequest counts a request, and returns the status to refuse it by. Where even refusals wait to be sent it ends
// the stream.
func (s *Server) enterRequest(c *conn) (refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused = s.openConns.enterRequest(c); refused == aborted {
		panic(http.ErrAbortHandler)
	}
	return refused
}

// leaveRequest counts a request no longer when its response has been taken, which the client may put off beyond the end
// of the handler: then when its stream is closed.
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

// takenWriter notes whether a response has been taken when its handler returns: net/http holds short writes back.
type takenWriter struct {
	http.ResponseWriter
	isBegun, isTaken bool
}

// Write returns when all of a long body has been sent.
func (w *takenWriter) Write(p []byte) (int, error) {
	const heldBack = 4 << 10 // at most, by the buffer of a stream
	n, err := w.ResponseWriter.Write(p)
	w.isBegun, w.isTaken = true, !w.isBegun && n > heldBack
	return n, err
}

// WriteString is Write: net/http would send pieces.
func (w *takenWriter) WriteString(text string) (int, error) {
	return w.Write(unsafe.Slice(unsafe.StringData(text), len(text))) // which does not change it
}

// Flush sends all that is held back.
func (w *takenWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// CloseNotify is what Gin expects.
func (w *takenWriter) CloseNotify() <-chan bool {
	return w.ResponseWriter.(interface{ CloseNotify() <-chan bool }).CloseNotify()
}

// Unwrap is for http.ResponseController.
func (w *takenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// headOnly drops the body of a response: a client decides when it takes that.
type headOnly struct{ http.ResponseWriter }

func (w headOnly) WriteHeader(status int) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(status)
}

func (headOnly) Write(p []byte) (int, error) { return len(p), nil }

// connKey is that of the connection of a request in its context.
type connKey struct{}

// speaksTwo shakes hands, if need be, and reports whether the client speaks HTTP/2; after a failure HTTP/1.1 closes it.
func (c *conn) speaksTwo() bool {
	secured, isTLS := c.Conn.(*tls.Conn)
	if !isTLS {
		return c.await() && c.beginsWithPreface()
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

// noteIdle notes since when a connection of HTTP/2 has had no request.
func noteIdle(handed net.Conn, state http.ConnState) {
	since := int64(0)
	if state == http.StateIdle {
		since = time.Now().UnixNano()
	}
	connOf(handed).idleSince.Store(since)
}

// connOf is the connection that was handed over.
func connOf(handed net.Conn) *conn {
	if secured, isTLS := handed.(*tls.Conn); isTLS {
		handed = secured.NetConn()
	}
	return handed.(*trackedConn).conn
}

// beginsWithPreface reads as much as it takes to decide.
func (c *conn) beginsWithPreface() bool {
	_ = c.SetReadDeadline(time.Now().Add(c.server.options.ReadLimit))
	for n := 1; n <= len(preface); n++ {
		if came, err := c.input.Peek(n); err != nil || came[n-1] != preface[n-1] {
			return false
		}
	}
	return true
}

// handOver leaves c to the server of HTTP/2, and reports whether that takes it.
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

// handover is a listener for connections that have been accepted already.
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

// Addr is the address of the listener that has accepted the connections.
func (h *handover) Addr() net.Addr { return h.address }
