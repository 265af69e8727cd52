// Package transport serves a net/http handler over connections that it reads and writes itself: HTTP/1.1 at less than
// the processor time of net/http's own server, and strictly by RFC 9112 (docs/decisions/0019-connections.md). HTTP/2,
// over TLS or with prior knowledge, is net/http's.
//
// A request is read whole before the handler is called in the connection's goroutine, unless Options.Stream has its
// body read by the handler. Memory for it grows with what has arrived. Requests are understood as net/http understands
// them, or refused by an HTTP status; where RFC 9112 lets a server choose between repairing and refusing, it refuses.
// After a refusal further bytes are thrown away for a while (conn.linger), so that no reset overtakes the answer.
//
// A response is sent as a whole when the handler returns. From the first Flush on it is a stream, sent as it comes, and
// its trailers are those of http.TrailerPrefix. Unlike with net/http the client's disconnect ends the request's context
// only once something waits on its Done channel: from then on a goroutine reads ahead (conn.watch). A panic in a
// handler closes its connection and no other.
package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Options configure a Server.
type Options struct {
	Handler http.Handler
	// Refuse responds to a request that there is none of for Handler: with status 400, 408, 413, 417, 431, 501 or 505
	// to one that could not be read, with 429 or 503 to a connection beyond Limits. The connection is closed after it.
	Refuse func(w http.ResponseWriter, status int)
	// RefusePlain responds to who speaks HTTP where TLS begins with a handshake. The connection is closed after it.
	RefusePlain func(w http.ResponseWriter)

	// TLS has every connection begin with a handshake, in which it offers h2 and http/1.1. nil: connections are plain.
	TLS *tls.Config

	ReadLimit  time.Duration // for a request to arrive, from its first byte; for a handshake
	WriteLimit time.Duration // for a response to be sent
	IdleLimit  time.Duration // between two requests of a connection, and before the first
	BodyBytes  int           // in a request whose body is read before it is handled
	// Stream selects requests whose bodies the handler reads as they come, of any length. nil: none.
	Stream func(*http.Request) bool

	Connections Limits

	Logger *slog.Logger
}

// Server serves connections.
type Server struct {
	options Options
	second  *http.Server  // of HTTP/2
	tasks   chan task     // of HTTP/2, for goroutines that rest
	resting atomic.Int64  // of those
	retired atomic.Bool   // responses end their connections
	ended   atomic.Bool   // by Shutdown; set with the mutex held
	apart   chan struct{} // places of those that refuse a connection

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	openConns openConns
	empty     chan struct{} // closed when the server has ended and no connection is left
}

// New returns a server.
func New(o Options) *Server {
	const apart = 64
	s := &Server{
		options: o, listeners: map[net.Listener]struct{}{}, openConns: newOpenConns(o.Connections),
		apart: make(chan struct{}, apart), empty: make(chan struct{}), tasks: make(chan task),
	}
	s.second = s.newSecond()
	return s
}

// Serve accepts connections until Shutdown, after which it returns nil.
func (s *Server) Serve(listener net.Listener) error {
	s.mu.Lock()
	if s.ended.Load() {
		s.mu.Unlock()
		return listener.Close()
	}
	s.listeners[listener] = struct{}{}
	s.mu.Unlock()
	handed := &handover{address: listener.Addr(), handed: make(chan net.Conn), closed: make(chan struct{})}
	handed.close = sync.OnceFunc(func() { close(handed.closed) })
	over := make(chan error, 1)
	go func() { over <- s.second.Serve(handed) }()
	err := s.accept(listener, handed)
	_ = handed.Close()
	<-over // it says that its listener was closed
	if s.ended.Load() {
		return nil
	}
	return err
}

// acceptRetry is the pause after a failed accept in a process without free file descriptors.
const acceptRetry = 100 * time.Millisecond

// accept serves connections until the listener fails. It waits for file descriptors that others give back.
func (s *Server) accept(listener net.Listener, handed *handover) error {
	for {
		connection, err := listener.Accept()
		switch {
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
			s.options.Logger.Warn("accept failed: out of file descriptors; retrying", "error", err)
			time.Sleep(acceptRetry)
			continue
		case err != nil:
			return err
		}
		c := newConn(s, connection)
		if refused := s.enter(c); refused != 0 {
			s.turnAway(c, refused)
			continue
		}
		go c.serve(handed)
	}
}

// enter gives c a place among the open connections, or returns the status to refuse it by.
func (s *Server) enter(c *conn) (refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return http.StatusServiceUnavailable
	}
	return s.openConns.enter(c)
}

// leave gives the place back.
func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openConns.leave(c)
	s.tellEmpty()
}

// tellEmpty is called with the mutex held.
func (s *Server) tellEmpty() {
	if !s.ended.Load() || len(s.openConns.all) > 0 {
		return
	}
	select {
	case <-s.empty:
	default:
		close(s.empty)
	}
}

// turnAway refuses a connection that has no place. Few get a reason at a time; a handshake would cost too much.
func (s *Server) turnAway(c *conn, status int) {
	select {
	case s.apart <- struct{}{}:
	default:
		_ = c.Conn.Close()
		return
	}
	go func() {
		defer func() { <-s.apart }()
		if s.options.TLS == nil {
			c.refuse(status)
			c.linger()
		}
		_ = c.Conn.Close()
	}()
}

// Retire has connections end with their next response, so that clients go elsewhere. New ones are still accepted.
func (s *Server) Retire() {
	s.retired.Store(true)
	s.second.SetKeepAlivesEnabled(false)
}

// Shutdown accepts no further connections, closes idle ones, and waits for requests in flight until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Retire()
	s.mu.Lock()
	s.ended.Store(true)
	var errs []error
	for listener := range s.listeners {
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	for c := range s.openConns.all {
		if !c.two.Load() { // those end with GOAWAY
			c.leaveIdle()
		}
	}
	s.tellEmpty()
	s.mu.Unlock()
	errs = append(errs, s.second.Shutdown(ctx))
	select {
	case <-s.empty:
	case <-ctx.Done():
		errs = append(errs, ctx.Err())
	}
	return errors.Join(errs...)
}

// Close closes all connections, with the requests in flight on them.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for c := range s.openConns.all {
		if err := c.socket.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// handle calls the handler, and reports whether it returned. A panic is logged, with its stack.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) (returned bool) {
	defer func() {
		panicked := recover()
		if panicked == nil {
			return
		}
		if cause, isError := panicked.(error); isError && errors.Is(cause, http.ErrAbortHandler) {
			return
		}
		s.options.Logger.Error("handler panicked", "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	}()
	s.options.Handler.ServeHTTP(w, r)
	return true
}
