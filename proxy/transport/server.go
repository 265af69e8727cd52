// Package transport serves a handler of net/http over HTTP/1.1 connections that fasthttp reads and writes, which costs half
// of what they cost with net/http's own server. Handlers see no difference but one: a client that leaves is noticed
// once the handler, or what it calls, waits for the end of the request's context, and not before.
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

// Sizes of a connection's buffers, bytes, which it keeps while it is idle. Longer answers leave in two writes.
const (
	readBuffer  = 12 << 10
	writeBuffer = 12 << 10
)

// Options are a server's handler and limits.
type Options struct {
	Handler http.Handler
	// Refuse answers, by an HTTP status, for a request that could not be read, so that there is none to hand to Handler:
	// 400, 408, 413, 431 or 505. The connection ends with it.
	Refuse func(w http.ResponseWriter, status int)

	ReadLimit  time.Duration // for a request to arrive, once it has begun
	WriteLimit time.Duration // for an answer to leave
	IdleLimit  time.Duration // between two requests of a connection
	BodyBytes  int           // of a request

	Logger *slog.Logger
}

// fasthttp starts the clock of its Date headers with the first answer and never stops it. Here it is the program's from the
// beginning, and not that of whoever is answered first: a test may have a clock of its own.
func init() { new(fasthttp.ResponseHeader).Header() }

// Server serves connections.
type Server struct {
	options Options
	fast    *fasthttp.Server

	mu        sync.Mutex
	ended     bool // no further listener is served
	listeners []*accepting
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
		Logger:             log.New(io.Discard, "", 0), // it writes of what clients send, which may be keys

		DisablePreParseMultipartForm: true,
		NoDefaultContentType:         true,
		NoDefaultServerHeader:        true,
	}
	return s
}

// Serve answers what comes in by listener until the server is shut down, which is no error.
func (s *Server) Serve(listener net.Listener) error {
	from := &accepting{Listener: listener, server: s}
	s.mu.Lock()
	s.listeners = append(s.listeners, from)
	s.mu.Unlock()
	if s.hasEnded() {
		return from.Close()
	}
	if err := s.fast.Serve(from); err != nil || s.hasEnded() {
		return err
	}
	return net.ErrClosed // by somebody else
}

func (s *Server) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Shutdown takes no further connections, ends the idle ones, and waits for requests under way until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.ended = true
	var errs []error
	for _, listener := range s.listeners { // fasthttp does not know yet of one that has just come
		errs = append(errs, listener.Close())
	}
	s.mu.Unlock()
	return errors.Join(append(errs, s.fast.ShutdownWithContext(ctx))...)
}

// Close ends all connections, with whatever is under way on them.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for c := range s.open {
		errs = append(errs, c.Conn.Close())
	}
	return errors.Join(errs...)
}

// serve answers one request; nobody else recovers from a panic.
func (s *Server) serve(c *fasthttp.RequestCtx) {
	w := newResponse(c)
	ctx := &requestContext{conn: w.conn}
	defer func() {
		ctx.end()
		if panicked := recover(); panicked != nil {
			w.abort()
			if cause, isError := panicked.(error); !isError || !errors.Is(cause, http.ErrAbortHandler) {
				s.options.Logger.Error("a handler panicked", "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
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

// refuse answers for a request that could not be read.
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
