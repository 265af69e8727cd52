package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines is a listener without a network.
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

// serving is a server in front of handler, with limits that change may change.
func serving(t testing.TB, handler http.HandlerFunc, change ...func(*Options)) (*Server, *lines) {
	t.Helper()
	o := Options{
		Handler: handler, Refuse: func(w http.ResponseWriter, status int) { http.Error(w, http.StatusText(status), status) },
		ReadLimit: 10 * time.Second, WriteLimit: 10 * time.Second, IdleLimit: time.Minute, BodyBytes: 1 << 10,
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, each := range change {
		each(&o)
	}
	server, listener := New(o), newLines()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server, listener
}

// net/http's own server in front of the same handler.
func reference(t testing.TB, handler http.HandlerFunc) *lines {
	t.Helper()
	listener := newLines()
	server := &http.Server{Handler: handler, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
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

// told is what a handler sees of a request.
type told struct {
	Method, Target, Proto, Host, Path, RawPath, Query string
	Header                                            http.Header
	Body                                              string
}

func tell(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// fasthttp leaves out some headers without a value, tells a length without being told one, and writes cookies, of which
	// nobody here knows, in its own way.
	maps.DeleteFunc(r.Header, func(name string, values []string) bool {
		return name == "Cookie" || name == "Content-Length" || values[0] == ""
	})
	_ = json.NewEncoder(w).Encode(told{
		r.Method, r.RequestURI, r.Proto, r.Host, r.URL.Path, r.URL.RawPath, r.URL.RawQuery, r.Header, string(body),
	})
}

// patience is longer than any answer takes.
const patience = 10 * time.Second

// exchange sends bytes over a connection and returns the first answer.
func exchange(l *lines, sent []byte, patience time.Duration) (status int, header http.Header, body []byte, err error) {
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

var requests = map[string]string{
	"plain":                "GET /api/Orders/0x01?index=1 HTTP/1.1\r\nHost: crossgate\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n\r\n",
	"1.0":                  "GET / HTTP/1.0\r\n\r\n",
	"escapes":              "GET /a%2Fb%20c/d%C3%A9?x=%20+&y HTTP/1.1\r\nHost: h\r\n\r\n",
	"odd characters":       "GET /a;b=c/d,e:@!$&'()*+ HTTP/1.1\r\nHost: h\r\n\r\n",
	"two slashes":          "GET //a//b HTTP/1.1\r\nHost: h\r\n\r\n",
	"dots":                 "GET /a/../b/./c HTTP/1.1\r\nHost: h\r\n\r\n",
	"empty query":          "GET /a? HTTP/1.1\r\nHost: h\r\n\r\n",
	"question marks":       "GET /a?b?c=? HTTP/1.1\r\nHost: h\r\n\r\n",
	"fragment":             "GET /a?b#c HTTP/1.1\r\nHost: h\r\n\r\n",
	"absolute":             "GET http://other:80/a?b HTTP/1.1\r\nHost: h\r\n\r\n",
	"several lines":        "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1\r\nx-forwarded-for: 2.2.2.2\r\n\r\n",
	"lower case":           "GET / HTTP/1.1\r\nhost: h\r\nif-none-match: \"x\"\r\nUSER-AGENT: me\r\n\r\n",
	"blanks around values": "GET / HTTP/1.1\r\nHost: h\r\nAccept: \t */* \t\r\n\r\n",
	"no value":             "GET / HTTP/1.1\r\nHost: h\r\nAccept:\r\n\r\n",
	"body":                 "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
	"chunks":               "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"another method":       "PROPFIND /a HTTP/1.1\r\nHost: h\r\n\r\n",
	"latin-1":              "GET / HTTP/1.1\r\nHost: h\r\nX-Name: \xe9\r\n\r\n",

	"no host":              "GET / HTTP/1.1\r\n\r\n",
	"two hosts":            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
	"odd host":             "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
	"blank before colon":   "GET / HTTP/1.1\r\nHost: h\r\nAccept : x\r\n\r\n",
	"folded line":          "GET / HTTP/1.1\r\nHost: h\r\nAccept: x,\r\n y\r\n\r\n",
	"no colon":             "GET / HTTP/1.1\r\nHost: h\r\nAccept\r\n\r\n",
	"NUL":                  "GET / HTTP/1.1\r\nHost: h\r\nAccept: \x00\r\n\r\n",
	"two lengths":          "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
	"length and chunks":    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"negative length":      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\nhello",
	"length with a sign":   "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello",
	"unknown coding":       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"chunk without digits": "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n",
	"blank in the target":  "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
	"no target":            "GET HTTP/1.1\r\nHost: h\r\n\r\n",
	"relative":             "GET a HTTP/1.1\r\nHost: h\r\n\r\n",
	"HTTP/3":               "GET / HTTP/3.0\r\nHost: h\r\n\r\n",
	"no HTTP":              "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
}

// TestRequestsAreThoseOfNetHTTP sends the same bytes to net/http's server.
func TestRequestsAreThoseOfNetHTTP(t *testing.T) {
	_, ours := serving(t, tell)
	theirs := reference(t, tell)
	for name, sent := range requests {
		wantStatus, _, want, err := exchange(theirs, []byte(sent), patience)
		if err != nil {
			t.Errorf("%s: net/http: %v", name, err)
		}
		status, _, got, err := exchange(ours, []byte(sent), patience)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if wantStatus == http.StatusOK && (status != wantStatus || !bytes.Equal(got, want)) {
			t.Errorf("%s: %d %s\nwant %d %s", name, status, got, wantStatus, want)
		}
		if wantStatus != http.StatusOK && status < 400 {
			t.Errorf("%s: %d %s\nwant a refusal as %d %s", name, status, got, wantStatus, want)
		}
	}
}

func TestTargetThatCannotBeDecodedIsThePath(t *testing.T) {
	_, listener := serving(t, tell)
	status, _, body, err := exchange(listener, []byte("GET /a%zz?b=%zz HTTP/1.1\r\nHost: h\r\n\r\n"), patience)
	if err != nil || status != http.StatusOK || !strings.Contains(string(body), `"Path":"/a%zz"`) {
		t.Errorf("%d %s (%v), want the path as it stands", status, body, err)
	}
}
