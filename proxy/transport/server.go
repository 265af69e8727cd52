// Package transport serves a net/http handler over connections that it reads and writes itself: HTTP/1.1 with less
// processor time than net/http's own server, and strictly by RFC 9112 (docs/decisions/0019-connections.md). HTTP/2,
// over TLS or with prior knowledge, is left to net/http.
//
// A request is read completely before the handler is called in the connection's goroutine, unless Options.Stream lets
// the handler read its body. Memory for it grows with what has arrived. Requests are parsed as by net/http, or rejected
// with an HTTP status; where RFC 9112 lets a server choose between repairing and rejecting, it rejects. After a
// rejection further input is discarded for a while (conn.linger), so that no reset overtakes the response.
//
// A response is sent as a whole when the handler returns. From the first Flush on it is a stream, sent as it is
// written, with the trailers of http.TrailerPrefix. Unlike with net/http, the client's disconnect ends the request's
// context only once something waits on its Done channel: from then on a goroutine reads ahead (conn.watch). A panic in
// a handler closes only its own connection.
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

// Options configures a Server.
type Options struct {
	Handler http.Handler
	// Refuse responds in place of Handler: with 400, 408, 413, 417, 431, 501 or 505 to a request that could not be
	// read, with 429 or 503 to a connection or request beyond Limits. A connection of HTTP/1.1 is closed afterwards.
	Refuse func(w http.ResponseWriter, status int)
	// RefusePlain responds to plain HTTP on a TLS listener. The connection is closed afterwards.
	RefusePlain func(w http.ResponseWriter)

	// TLS makes every connection begin with a handshake that offers h2 and http/1.1. If nil, connections are plain.
	TLS *tls.Config

	ReadLimit  time.Duration // for a request to arrive, from its first byte, or for a handshake
	WriteLimit time.Duration // for sending a response
	IdleLimit  time.Duration // between two requests of a connection, and before the first
	BodyBytes  int           // of a body that is read before its request is handled
	// Stream selects requests whose bodies, of any length, the handler reads as they arrive. If nil, it selects none.
	Stream func(*http.Request) bool

	Connections Limits

	Logger *slog.Logger
}

// Server serves connections.
type Server struct {
	options Options
	second  *http.Server  // of HTTP/2
	tasks   chan task     // HTTP/2 requests for idle goroutines
	resting atomic.Int64  // number of idle goroutines
	retired atomic.Bool   // responses end their connections
	ended   atomic.Bool   // by Shutdown; set with the mutex held
	apart   chan struct{} // semaphore of connections being rejected

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	openConns openConns
	empty     chan struct{} // closed when the server has ended and the last connection is gone
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

// Serve accepts connections until Shutdown, and then returns nil.
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
	<-over // the error says that its listener was closed
	if s.ended.Load() {
		return nil
	}
	return err
}

// acceptRetry is the pause after an accept that failed for lack of file descriptors.
const acceptRetry = 100 * time.Millisecond

// accept serves connections until the listener fails. It waits out a lack of file descriptors.
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

// enter admits c to the open connections, or returns the status to reject it with.
func (s *Server) enter(c *conn) (refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return http.StatusServiceUnavailable
	}
	return s.openConns.enter(c)
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openConns.leave(c)
	s.tellEmpty()
}

// tellEmpty closes s.empty once the server has ended without connections. It must be called with the mutex held.
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

// turnAway rejects a connection over the limit. Few get a response at a time, and none by TLS: handshakes are costly.
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

// Retire ends connections with their next response, so that clients go elsewhere. New ones are still accepted.
func (s *Server) Retire() {
	s.retired.Store(true)
	s.second.SetKeepAlivesEnabled(false)
}

// Shutdown stops accepting connections, closes idle ones, and waits for requests in flight until ctx ends.
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
		if !c.two.Load() { // HTTP/2 connections end with GOAWAY
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

// Close closes all connections, aborting the requests in flight on them.
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

// handle calls the handler and reports whether it returned. A panic is logged with its stack.
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
