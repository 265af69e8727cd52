package transport

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var handlers = map[string]http.HandlerFunc{
	"body": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "2")
		_, _ = w.Write([]byte("{}"))
	},
	"body of two writes": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>"))
		_, _ = io.WriteString(w, "</html>")
	},
	"long body": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(make([]byte, 100_000))
	},
	"nothing": func(http.ResponseWriter, *http.Request) {},
	"problem": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) },
	"header of several lines": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Vary", "Accept")
		w.Header().Add("Vary", "Accept-Encoding")
		w.Header().Set("Set-Cookie", "a=b; Path=/")
	},
	"header after the status": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		w.WriteHeader(http.StatusOK)
		w.Header().Set("X-Late", "1")
	},
	"line break in a value": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Said", "a\r\nX-Forged: b")
	},
	"not modified": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"x"`)
		w.WriteHeader(http.StatusNotModified)
	},
	"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"redirect":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/b", http.StatusMovedPermanently) },
}

// TestAnswersAreThoseOfNetHTTP compares what clients get from the same handlers behind net/http's server.
func TestAnswersAreThoseOfNetHTTP(t *testing.T) {
	for name, handler := range handlers {
		_, ours := serving(t, handler)
		theirs := reference(t, handler)
		for _, method := range []string{"GET", "HEAD"} {
			request := []byte(method + " /a HTTP/1.1\r\nHost: h\r\n\r\n")
			wantStatus, wantHeader, want, wantErr := exchange(theirs, request, patience)
			status, header, got, err := exchange(ours, request, patience)
			if err != nil || wantErr != nil {
				t.Fatalf("%s: %v, %v", name, err, wantErr)
			}
			for _, h := range []http.Header{header, wantHeader} {
				if h.Get("Date") == "" {
					t.Errorf("%s, %s: no date in %v", name, method, h)
				}
				h.Del("Date")
			}
			if status != wantStatus || string(got) != string(want) {
				t.Errorf("%s, %s: %d with %d bytes, want %d with %d", name, method, status, len(got), wantStatus, len(want))
			}
			if difference := cmp.Diff(wantHeader, header); difference != "" {
				t.Errorf("%s, %s: header\n%s", name, method, difference)
			}
		}
	}
}

func TestStreamLeavesAsItIsFlushed(t *testing.T) {
	for proto, framed := range map[string]bool{"HTTP/1.1": true, "HTTP/1.0": false} {
		read := make(chan struct{})
		_, listener := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			controller := http.NewResponseController(w)
			w.Header().Set("Content-Type", "text/event-stream")
			for _, each := range []string{"one", "two", ""} {
				if _, err := io.WriteString(w, each); err != nil {
					t.Error(err)
				}
				if err := errors.Join(controller.SetWriteDeadline(time.Now().Add(time.Second)), controller.Flush()); err != nil {
					t.Error(err)
				}
				<-read
			}
		})
		connection := listener.dial()
		if _, err := io.WriteString(connection, "GET / "+proto+"\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := response.Header.Get("Content-Type"); got != "text/event-stream" || !response.Close {
			t.Errorf("%s: Content-Type %q, ends the connection: %v", proto, got, response.Close)
		}
		if chunks := len(response.TransferEncoding) > 0; chunks != framed {
			t.Errorf("%s: in chunks: %v, want %v", proto, chunks, framed)
		}
		for _, want := range []string{"one", "two"} {
			got := make([]byte, len(want))
			if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
				t.Errorf("%s: read %q (%v), want %q", proto, got, err, want)
			}
			read <- struct{}{}
		}
		read <- struct{}{}
		if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 {
			t.Errorf("%s: %q (%v) after the end", proto, rest, err)
		}
		if _, err := connection.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the connection is still open: %v", proto, err)
		}
	}
}

// TestPanicEndsTheConnectionAlone has a handler panic; the next connection must be answered.
func TestPanicEndsTheConnectionAlone(t *testing.T) {
	var said strings.Builder
	_, listener := serving(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/panic":
			panic("a mistake")
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/late":
			_, _ = w.Write([]byte("some"))
			panic("a mistake")
		}
	}, func(o *Options) { o.Logger = textLog(&said) })
	for _, path := range []string{"/panic", "/abort", "/late"} {
		_, _, _, err := exchange(listener, []byte("GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n"), patience)
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, want the end of the connection", path, err)
		}
	}
	if status, _, _, err := exchange(listener, []byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), patience); status != http.StatusOK {
		t.Errorf("afterwards: %d, %v", status, err)
	}
	if got := strings.Count(said.String(), "a mistake"); got != 2 {
		t.Errorf("the log tells of %d panics, want 2:\n%s", got, &said)
	}
}

// TestConnectionIsKept sends several requests over one connection, the last two at once.
func TestConnectionIsKept(t *testing.T) {
	_, listener := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			select {
			case <-r.Context().Done():
				t.Error("a client that sends its next request has not left")
			case <-time.After(10 * time.Millisecond):
			}
		}
		_, _ = io.WriteString(w, r.URL.Path)
	})
	connection := listener.dial()
	defer connection.Close()
	reader := bufio.NewReader(connection)
	for _, paths := range [][]string{{"/a"}, {"/b"}, {"/wait", "/c"}, {"/wait", "/wait", "/d"}} {
		var sent strings.Builder
		for _, path := range paths {
			sent.WriteString("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n")
		}
		go func() { _, _ = io.WriteString(connection, sent.String()) }()
		for _, path := range paths {
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(response.Body); err != nil || string(body) != path {
				t.Errorf("%q (%v), want %q", body, err, path)
			}
		}
	}
}

func TestConnectionEndsAsTheClientAsks(t *testing.T) {
	for _, lines := range []string{
		"HTTP/1.1\r\nHost: h\r\nConnection: close", "HTTP/1.1\r\nHost: h\r\nConnection: TE, Close", "HTTP/1.0\r\nHost: h",
	} {
		_, listener := serving(t, func(http.ResponseWriter, *http.Request) {})
		connection := listener.dial()
		if _, err := io.WriteString(connection, "GET / "+lines+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(connection); err != nil || !strings.HasPrefix(string(rest), "HTTP/1.1 200 OK\r\n") {
			t.Errorf("%q: %q (%v), want an answer and the end", lines, rest, err)
		}
	}
}

func TestClientThatLeavesEndsTheContext(t *testing.T) {
	for name, leave := range map[string]func(net.Conn){
		"closes":              func(c net.Conn) { _ = c.Close() },
		"does so late":        func(c net.Conn) { <-time.After(time.Minute); _ = c.Close() },
		"sends and then ends": func(c net.Conn) { _ = c.Close() },
	} {
		inBubble(t, func(t *testing.T) {
			ended := make(chan error)
			_, listener := serving(t, func(_ http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				ended <- r.Context().Err()
			})
			connection := listener.dial()
			if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			leave(connection)
			if err := <-ended; err == nil {
				t.Errorf("%s: the context has ended without an error", name)
			}
		})
	}
}
