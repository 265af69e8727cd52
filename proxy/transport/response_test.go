package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"crossgate/internal/must"
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
	"body of one string": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
	"body of several strings": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "a")
		_, _ = io.WriteString(w, "b")
	},
	"long body": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(make([]byte, 100_000))
	},
	"body shorter than said": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		_, _ = io.WriteString(w, "hell")
	},
	"body longer than said": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		_, _ = io.WriteString(w, "hello")
		if _, err := io.WriteString(w, "!"); !errors.Is(err, http.ErrContentLength) {
			panic(err)
		}
	},
	"stream": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "more")
	},
	"stream of a length": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "hello")
	},
	"empty stream": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() },
	"compressed": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(w, "x")
	},
	"sniffed late": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "<html>")
	},
	"asks to close": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "x")
	},
	"own date":       func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", "today") },
	"odd field name": func(w http.ResponseWriter, _ *http.Request) { w.Header()["X: y\r\nX-Forged"] = []string{"1"} },
	"nothing":        func(http.ResponseWriter, *http.Request) {},
	"problem":        func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) },
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
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(http.StatusNotModified)
		if _, err := io.WriteString(w, "hello"); !errors.Is(err, http.ErrBodyNotAllowed) {
			panic(err)
		}
	},
	"no content": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	"redirect":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/b", http.StatusMovedPermanently) },
	"early hints": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("X-Later", "1")
		_, _ = io.WriteString(w, "hello")
	},
}

// asked are the ways to call handlers, each followed by a request that only a persistent connection answers.
var asked = map[string]string{
	"GET":        "GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
	"HEAD":       "HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n",
	"1.0":        "GET /a HTTP/1.0\r\n\r\n",
	"1.0, kept":  "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	"HEAD, kept": "HEAD /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	"last":       "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
}

// answered is one response as a client reads it.
type answered struct {
	Status int
	Header http.Header
	Body   string
	Cut    bool // before its end
	Coding []string
	Length int64
}

func readAll(t *testing.T, sent []byte, method string) (all []answered) {
	t.Helper()
	reader := bufio.NewReader(bytes.NewReader(sent))
	for {
		response, err := http.ReadResponse(reader, &http.Request{Method: method})
		if err != nil {
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%v in\n%s", err, sent)
			}
			return all
		}
		body, err := io.ReadAll(response.Body)
		if response.StatusCode >= 200 && response.Header.Get("Date") == "" {
			t.Errorf("no date in\n%s", sent)
		}
		response.Header.Del("Date")
		response.Header.Del("Connection") // a second answer says more
		if response.StatusCode < 200 && response.ProtoMinor == 0 {
			continue // net/http sends interim responses to HTTP/1.0 too, against RFC 9110, section 15.2
		}
		all = append(all, answered{
			response.StatusCode, response.Header, string(body), err != nil, response.TransferEncoding,
			response.ContentLength,
		})
	}
}

// TestAnswersAreThoseOfNetHTTP compares responses with those of the same handlers behind net/http's server.
func TestAnswersAreThoseOfNetHTTP(t *testing.T) {
	for name, handler := range handlers {
		ours := &listening{}
		_, ours.listener = serving(t, handler)
		theirs := &listening{listener: reference(t, handler)}
		for how, request := range asked {
			method, _, _ := strings.Cut(request, " ")
			_, gotSent := ours.hear([]byte(request + request))
			_, wantSent := theirs.hear([]byte(request + request))
			got, want := readAll(t, gotSent, method), readAll(t, wantSent, method)
			if difference := cmp.Diff(want, got, cmpopts.EquateEmpty()); difference != "" {
				t.Errorf("%s, %s:\n%s\n%.1000s\nwant\n%.1000s", name, how, difference, gotSent, wantSent)
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
				if err := errors.Join(controller.SetWriteDeadline(time.Now().Add(patience)), controller.Flush()); err != nil {
					t.Error(err)
				}
				<-read
			}
		})
		connection := listener.dial()
		reader := bufio.NewReader(connection)
		must.Get(io.WriteString(connection, "GET / "+proto+"\r\nHost: h\r\n\r\n"))(t)
		response := must.Get(http.ReadResponse(reader, nil))(t)
		if got := response.Header.Get("Content-Type"); got != "text/event-stream" || response.Close == framed {
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
		if !framed {
			continue
		}
		go func() {
			_, _ = io.WriteString(connection, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
			for range 3 {
				read <- struct{}{}
			}
		}()
		if next, err := http.ReadResponse(reader, nil); err != nil || !next.Close {
			t.Errorf("the next answer: %v, %v", next, err)
		} else if body, err := io.ReadAll(next.Body); err != nil || string(body) != "onetwo" {
			t.Errorf("the next answer: %q, %v", body, err)
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
		_, _, _, err := exchange(listener, []byte("GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n"))
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, want the end of the connection", path, err)
		}
	}
	if status, _, _, err := exchange(listener, []byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n")); status != http.StatusOK {
		t.Errorf("afterwards: %d, %v", status, err)
	}
	if got := strings.Count(said.String(), "a mistake"); got != 2 {
		t.Errorf("the log tells of %d panics, want 2:\n%s", got, &said)
	}
}

// TestConnectionIsKept sends several requests over one connection, the last two together.
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
			response := must.Get(http.ReadResponse(reader, nil))(t)
			if body, err := io.ReadAll(response.Body); err != nil || string(body) != path {
				t.Errorf("%q (%v), want %q", body, err, path)
			}
		}
	}
}

func TestClientThatLeavesEndsTheContext(t *testing.T) {
	for name, leave := range map[string]func(net.Conn){
		"closes":              func(c net.Conn) { _ = c.Close() },
		"does so late":        func(c net.Conn) { <-time.After(time.Minute); _ = c.Close() },
		"sends and then ends": func(c net.Conn) { _ = c.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error)
			_, listener := serving(t, func(_ http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				ended <- r.Context().Err()
			})
			connection := listener.dial()
			must.Get(io.WriteString(connection, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"))(t)
			leave(connection)
			if err := <-ended; err == nil {
				t.Errorf("%s: the context has ended without an error", name)
			}
		})
	}
}
