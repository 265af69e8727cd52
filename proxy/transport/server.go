// Package transport serves a net/http handler over HTTP/1.1 connections that fasthttp reads and writes, at half the CPU
// cost of net/http's own server (docs/decisions/0019-connections.md).
//
// fasthttp parses a request into its own buffers; newRequest copies it into an http.Request that stays valid after the
// connection is reused, or refuses it by an HTTP status, which Options.Refuse turns into a response. The handler runs
// in the connection's goroutine and writes to a response, which is sent as a whole when the handler returns. From the
// first Flush on it is a stream, written to the connection as it comes, and the connection is closed after it.
//
// Handlers notice one difference: the client's disconnect ends the request's context only once something waits on
// its Done channel. That call starts a goroutine which reads ahead from the connection (conn.watch) until the
// handler has returned. A panic in a handler closes its connection and no other.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// Sizes of a connection's buffers in bytes, kept while it is idle. Longer responses take two writes.
const (
	readBuffer  = 12 << 10
	writeBuffer = 12 << 10
)

// Options configure a Server.
type Options struct {
	Handler http.Handler
	// Refuse responds to a request that could not be parsed, so that there is none for Handler: with status 400, 408,
	// 413, 431 or 505. The connection is closed after it.
	Refuse func(w http.ResponseWriter, status int)

	ReadLimit  time.Duration // for a request to arrive, from its first byte
	WriteLimit time.Duration // for a response to be sent
	IdleLimit  time.Duration // between two requests of a connection
	BodyBytes  int           // in a request

	Logger *slog.Logger
}

// fasthttp starts the clock of its Date headers with the first response and never stops it. Started here, it is the
// real clock also when the first response is sent within a test that has a clock of its own.
func init() { new(fasthttp.ResponseHeader).Header() }

// Server serves connections.
type Server struct {
	options Options
	fast    *fasthttp.Server

	mu        sync.Mutex
	ended     bool // by Shutdown
	listeners []*watchedListener
	open      map[*conn]struct{}
}

// New returns a server.
func New(o Options) *Server {
	s := &Server{options: o, open: map[*conn]struct{}{}}
	s.fast = &fasthttp.Server{
		Handler:            s.serve,
		ErrorHandler:       s.refuse,
		ReadBufferSize:     readBuffer,
		WriteBufferSize:    writeBuffer,
		ReadTimeout:        o.ReadLimit,
		WriteTimeout:       o.WriteLimit,
		IdleTimeout:        o.IdleLimit,
		MaxRequestBodySize: o.BodyBytes,
		CloseOnShutdown:    true,
		Logger:             log.New(io.Discard, "", 0), // it would log what clients send, which may be keys

		DisablePreParseMultipartForm: true,
		NoDefaultContentType:         true,
		NoDefaultServerHeader:        true,
	}
	return s
}

// Serve accepts connections until Shutdown, after which it returns nil.
func (s *Server) Serve(listener net.Listener) error {
	from := &watchedListener{Listener: listener, server: s}
	s.mu.Lock()
	s.listeners = append(s.listeners, from)
	s.mu.Unlock()
	if s.hasEnded() {
		return from.Close()
	}
	if err := s.fast.Serve(from); err != nil || s.hasEnded() {
		return err
	}
	return net.ErrClosed // not by Shutdown
}

func (s *Server) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Shutdown accepts no further connections, closes idle ones, and waits for requests in flight until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.ended = true
	var errs []error
	for _, listener := range s.listeners { // fasthttp may not know the newest ones yet
		errs = append(errs, listener.Close())
	}
	s.mu.Unlock()
	return errors.Join(append(errs, s.fast.ShutdownWithContext(ctx))...)
}

// Close closes all connections, with the requests in flight on them.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for c := range s.open {
		errs = append(errs, c.Conn.Close())
	}
	return errors.Join(errs...)
}

// serve handles one request, and recovers from panics, which fasthttp does not.
func (s *Server) serve(c *fasthttp.RequestCtx) {
	w := newResponse(c)
	ctx := &requestContext{conn: w.conn}
	defer func() {
		ctx.end()
		if panicked := recover(); panicked != nil {
			w.abort()
			if cause, isError := panicked.(error); !isError || !errors.Is(cause, http.ErrAbortHandler) {
				stack := string(debug.Stack())
				s.options.Logger.Error("handler panicked", "panic", fmt.Sprint(panicked), "stack", stack)
			}
		}
		w.release()
	}()
	r, refused := newRequest(ctx, c, w.conn.remote)
	if refused != 0 {
		s.options.Refuse(w, refused)
		c.SetConnectionClose()
	} else {
		s.options.Handler.ServeHTTP(w, r)
	}
	w.finish()
}

// refuse responds to a request that fasthttp could not parse.
func (s *Server) refuse(c *fasthttp.RequestCtx, err error) {
	w := newResponse(c)
	defer w.release()
	s.options.Refuse(w, statusOf(err))
	w.finish()
}

func statusOf(err error) int {
	var tooLong *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &tooLong):
		return http.StatusRequestHeaderFieldsTooLarge
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout
	}
	return http.StatusBadRequest
}
