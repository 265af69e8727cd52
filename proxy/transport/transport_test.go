package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// lines is an in-memory listener.
type lines struct {
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newLines() *lines { return &lines{calls: make(chan net.Conn), closed: make(chan struct{})} }

func (l *lines) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *lines) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *lines) Addr() net.Addr { return &net.UnixAddr{Name: "lines", Net: "unix"} }

func (l *lines) dial() net.Conn {
	client, server := net.Pipe()
	l.calls <- server
	return client
}

func (l *lines) dialFrom(address string) net.Conn {
	client, server := net.Pipe()
	l.calls <- called{server, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))}
	return client
}

// called is a connection with a remote address.
type called struct {
	net.Conn
	from net.Addr
}

func (c called) RemoteAddr() net.Addr { return c.from }

// options returns the options of a server in front of handler, with limits that tests can wait for.
func options(handler http.HandlerFunc) Options {
	return Options{
		Handler: handler, Refuse: func(w http.ResponseWriter, status int) { http.Error(w, http.StatusText(status), status) },
		RefusePlain: func(w http.ResponseWriter) { http.Error(w, "use https", http.StatusBadRequest) },
		ReadLimit:   10 * time.Second, WriteLimit: 10 * time.Second, IdleLimit: time.Minute, BodyBytes: 1 << 10,
		Logger: slog.New(slog.DiscardHandler),
	}
}

// serving returns a server in front of handler, with its options modified by change.
func serving(t testing.TB, handler http.HandlerFunc, change ...func(*Options)) (*Server, *lines) {
	t.Helper()
	listener := newLines()
	return servingOn(t, listener, handler, change...), listener
}

func servingOn(t testing.TB, listener net.Listener, handler http.HandlerFunc, change ...func(*Options)) *Server {
	t.Helper()
	o := options(handler)
	for _, each := range change {
		each(&o)
	}
	server := New(o)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
			_ = server.Close()
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server
}

// reference returns net/http's own server in front of the same handler.
func reference(t testing.TB, handler http.HandlerFunc) *lines {
	t.Helper()
	listener := newLines()
	server := &http.Server{
		Handler: handler, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), DisableGeneralOptionsHandler: true,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return listener
}

// told is a request as a handler sees it.
type told struct {
	Method, Target, Proto, Host, Path, RawPath, Query string
	Major, Minor                                      int
	Header, Trailer                                   http.Header
	Coding                                            []string
	Length                                            int64
	Close                                             bool
	Body                                              string
	Failed                                            bool // while reading the body
}

func tellOf(r *http.Request) told {
	body, err := io.ReadAll(r.Body)
	return told{
		r.Method, r.RequestURI, r.Proto, r.Host, r.URL.Path, r.URL.RawPath, r.URL.RawQuery, r.ProtoMajor, r.ProtoMinor,
		r.Header, r.Trailer, r.TransferEncoding, r.ContentLength, r.Close, string(body), err != nil,
	}
}

// listening is a server that records what its handler receives, by connection.
type listening struct {
	listener *lines
	mu       sync.Mutex
	heard    map[string][]told
}

func (l *listening) handle(w http.ResponseWriter, r *http.Request) {
	heard := tellOf(r)
	l.mu.Lock()
	l.heard[r.RemoteAddr] = append(l.heard[r.RemoteAddr], heard)
	l.mu.Unlock()
	if heard.Failed {
		w.WriteHeader(http.StatusBadRequest)
	}
}

func listeningTo(t testing.TB, listen func(testing.TB, http.HandlerFunc) *lines) *listening {
	t.Helper()
	l := &listening{heard: map[string][]told{}}
	l.listener = listen(t, l.handle)
	return l
}

// bothListen returns this server and net/http's.
func bothListen(t testing.TB) (ours, theirs *listening) {
	t.Helper()
	ours = listeningTo(t, func(t testing.TB, handler http.HandlerFunc) *lines {
		t.Helper()
		_, listener := serving(t, handler, func(o *Options) { o.BodyBytes = 64 << 10 })
		return listener
	})
	return ours, listeningTo(t, reference)
}

// hear sends bytes, and then nothing more, over a new connection. It returns the requests that the handler received,
// and the bytes of the response.
func (l *listening) hear(sent []byte) (heard []told, answer []byte) {
	return l.hearInPieces(sent, len(sent))
}

// hearInPieces is hear with at most the given number of bytes arriving at a time.
func (l *listening) hearInPieces(sent []byte, most int) (heard []told, answer []byte) {
	c := &script{unread: sent, most: most, closed: make(chan struct{}), name: fmt.Sprint(scripts.Add(1))}
	l.listener.calls <- c
	<-c.closed
	l.mu.Lock()
	defer l.mu.Unlock()
	heard = l.heard[c.name]
	delete(l.heard, c.name)
	return heard, c.written
}

// script is a connection on which everything has already arrived.
type script struct {
	net.Conn
	name    string
	unread  []byte
	most    int // bytes at a time
	written []byte
	once    sync.Once
	closed  chan struct{}
}

var scripts atomic.Int64 // so far

func (c *script) Read(p []byte) (int, error) {
	if len(c.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.unread[:min(c.most, len(c.unread))])
	c.unread = c.unread[n:]
	return n, nil
}

func (c *script) Write(p []byte) (int, error) {
	c.written = append(c.written, p...)
	return len(p), nil
}

func (c *script) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *script) LocalAddr() net.Addr              { return c.RemoteAddr() }
func (c *script) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: c.name, Net: "unix"} }
func (c *script) SetDeadline(time.Time) error      { return nil }
func (c *script) SetReadDeadline(time.Time) error  { return nil }
func (c *script) SetWriteDeadline(time.Time) error { return nil }

// patience is longer than any answer takes.
const patience = time.Minute

// exchange sends bytes over a connection and returns the first response.
func exchange(l *lines, sent []byte) (status int, header http.Header, body []byte, err error) {
	connection := l.dial()
	defer connection.Close()
	go func() {
		_, _ = connection.Write(sent) // a server that refuses need not read everything
	}()
	_ = connection.SetReadDeadline(time.Now().Add(patience))
	method, _, _ := bytes.Cut(sent, []byte(" "))
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: string(method)})
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, response.Header, body, err
}
