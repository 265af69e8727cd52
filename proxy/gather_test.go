package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
)

// writes keeps what connections of a listener write, each write by itself.
type writes struct {
	net.Listener
	mu   sync.Mutex
	each [][]byte
}

type writesConn struct {
	net.Conn
	to *writes
}

func (w *writes) Accept() (net.Conn, error) {
	connection, err := w.Listener.Accept()
	return writesConn{connection, w}, err
}

func (c writesConn) Write(p []byte) (int, error) {
	c.to.mu.Lock()
	c.to.each = append(c.to.each, bytes.Clone(p))
	c.to.mu.Unlock()
	return c.Conn.Write(p)
}

func (w *writes) take() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.each
	w.each = nil
	return taken
}

// TestAnswersLeaveInOneWrite counts the writes of answers of several lengths, announced and not.
func TestAnswersLeaveInOneWrite(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := &writes{Listener: listener}
	server := &http.Server{ConnContext: withConn, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		length, err := strconv.Atoi(r.URL.Query().Get("length"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(length))
		w.Header().Set("X-Long", string(bytes.Repeat([]byte("h"), len(r.URL.Query().Get("long"))*5000)))
		if r.URL.Path == "/announced" {
			announce(r, length)
		}
		_, _ = w.Write(bytes.Repeat([]byte("b"), length))
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(gatherListener{seen}) }()
	defer func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	for _, each := range []struct {
		target string
		body   int
		writes int
	}{
		{"/announced?length=1", 1, 1},
		{"/announced?length=3000", 3000, 1},
		{"/announced?length=4000", 4000, 1},
		{"/announced?length=5000", 5000, 1},
		{"/announced?length=9500", 9500, 1},
		{"/announced?length=65536", 64 << 10, 1},
		{"/announced?length=65537", 64<<10 + 1, 2},
		{"/announced?length=9500&long=1", 9500, 3},
		{"/other?length=9500", 9500, 2},
		{"/announced?length=9500", 9500, 1},
	} {
		got, err := lengthOf(t.Context(), "http://"+listener.Addr().String()+each.target)
		if err != nil || got != each.body {
			t.Fatalf("GET %s: body of %d bytes, %v, want %d", each.target, got, err, each.body)
		}
		if sent := seen.take(); len(sent) != each.writes {
			t.Errorf("GET %s left in %d writes, want %d", each.target, len(sent), each.writes)
		}
	}
}

func lengthOf(ctx context.Context, url string) (length int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return len(body), err
}
