package transport

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
)

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func TestRefusals(t *testing.T) {
	const secret = "accesstoken=abcdef"
	for name, each := range map[string]struct {
		sent   string
		pause  time.Duration // before the last byte
		status int
	}{
		"unreadable":     {"GET /?" + secret + " HTTP\r\nHost: h\r\n\r\n", 0, 400},
		"no host":        {"GET /?" + secret + " HTTP/1.1\r\n\r\n", 0, 400},
		"slow header":    {"GET /?" + secret + " HTTP/1.1\r\nHost: h\r\n\r\n", time.Minute, 408},
		"slow body":      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", time.Minute, 408},
		"long body":      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1025\r\n\r\n", 0, 413},
		"long chunks":    {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n500\r\n" + strings.Repeat("b", 0x500) + "\r\n0\r\n\r\n", 0, 413},
		"long header":    {"GET /?" + secret + " HTTP/1.1\r\nHost: h\r\nX-Long: " + strings.Repeat("x", headBytes) + "\r\n\r\n", 0, 431},
		"long target":    {"GET /?" + secret + strings.Repeat("x", headBytes) + " HTTP/1.1\r\nHost: h\r\n\r\n", 0, 431},
		"version":        {"GET /?" + secret + " HTTP/2.0\r\nHost: h\r\n\r\n", 0, 505},
		"fitting chunks": {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" + strings.Repeat("b", 0x400) + "\r\n0\r\n\r\n", 0, 200},
		"as long as can": {"GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + strings.Repeat("x", headBytes-100) + "\r\n\r\n", 0, 200},
		"late, in time":  {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", 9 * time.Second, 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said strings.Builder
				_, listener := serving(t, func(http.ResponseWriter, *http.Request) {}, func(o *Options) { o.Logger = textLog(&said) })
				connection := listener.dial()
				written := make(chan struct{})
				defer func() { _ = connection.Close(); <-written }()
				go func() {
					defer close(written)
					last := len(each.sent) - 1
					_, _ = io.WriteString(connection, each.sent[:last])
					<-time.After(each.pause)
					_, _ = io.WriteString(connection, each.sent[last:])
				}()
				reader := bufio.NewReader(connection)
				response := must.Get(http.ReadResponse(reader, nil))(t)
				_, _ = io.Copy(io.Discard, response.Body)
				if response.StatusCode != each.status {
					t.Errorf("%s, want %d", response.Status, each.status)
				}
				if each.status == http.StatusOK {
					return
				}
				if _, err := reader.ReadByte(); err == nil {
					t.Error("the connection goes on")
				}
				if strings.Contains(said.String(), secret) {
					t.Errorf("the log has what the client keeps secret:\n%s", &said)
				}
			})
		})
	}
}

func TestIdleConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, listener := serving(t, func(http.ResponseWriter, *http.Request) {})
		for name, sent := range map[string]string{"never used": "", "used": requests["plain"]} {
			connection := listener.dial()
			began := time.Now()
			go func() { _, _ = io.WriteString(connection, sent) }()
			if _, err := io.ReadAll(connection); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("%s: open for %v", name, took)
			}
		}
	})
}

func TestClientThatReadsNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, listener := serving(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
		connection := listener.dial()
		must.Get(io.WriteString(connection, requests["plain"]))(t)
		<-time.After(time.Minute)
		if got, _ := io.ReadAll(connection); len(got) > 0 {
			t.Errorf("%d bytes came after the limit", len(got))
		}
	})
}

// TestShutdownWaits ends a server with an idle connection and a request in flight.
func TestShutdownWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answering, answer := make(chan struct{}), make(chan struct{})
		server, listener := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/busy" {
				close(answering)
				<-answer
			}
			_, _ = io.WriteString(w, "done")
		})
		idle, busy := listener.dial(), listener.dial()
		idleReader := bufio.NewReader(idle)
		must.Get(io.WriteString(idle, requests["plain"]))(t)
		if response, err := http.ReadResponse(idleReader, nil); err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		} else if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		must.Get(io.WriteString(busy, "GET /busy HTTP/1.1\r\nHost: h\r\n\r\n"))(t)
		<-answering
		ended := make(chan error, 1)
		go func() { ended <- server.Shutdown(t.Context()) }()
		if _, err := idleReader.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("the idle connection: %v, want its end", err)
		}
		select {
		case err := <-ended:
			t.Fatalf("the server did not wait: %v", err)
		case <-time.After(time.Minute):
		}
		close(answer)
		response, err := http.ReadResponse(bufio.NewReader(busy), nil)
		if err != nil || response.StatusCode != http.StatusOK || !response.Close {
			t.Errorf("the request under way: %v (%v), want an answer that ends the connection", response, err)
		}
		must.Get(io.Copy(io.Discard, response.Body))(t)
		must.Do(t, <-ended)
	})
}

func TestServerThatHasBeenShutDownServesNobody(t *testing.T) {
	server, listener := New(options(http.NotFound)), newLines()
	must.Do(t, server.Shutdown(t.Context()))
	must.Do(t, server.Serve(listener))
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener: %v, want that it is closed", err)
	}
}

func TestListenerThatSomebodyClosesIsAnError(t *testing.T) {
	server, listener := New(options(http.NotFound)), newLines()
	must.Do(t, listener.Close())
	if err := server.Serve(listener); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v, want that the listener is closed", err)
	}
}

func TestCloseDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan struct{})
		server, listener := serving(t, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(left)
		})
		connection := listener.dial()
		must.Get(io.WriteString(connection, requests["plain"]))(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v, want that its time is over", err)
		}
		must.Do(t, server.Close())
		<-left
	})
}

// scarce is a listener whose first accepts fail.
type scarce struct {
	*lines
	failures []error
}

func (s *scarce) Accept() (net.Conn, error) {
	if len(s.failures) > 0 {
		err := s.failures[0]
		s.failures = s.failures[1:]
		return nil, err
	}
	return s.lines.Accept()
}

func TestServingGoesOnWhenFilesAreUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := New(options(http.NotFound))
		listener := &scarce{newLines(), []error{&net.OpError{Op: "accept", Err: syscall.EMFILE}, syscall.ENFILE}}
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		if status, _, _, err := exchange(listener.lines, []byte(requests["plain"])); status != http.StatusNotFound {
			t.Errorf("%d, %v", status, err)
		}
		must.Do(t, errors.Join(server.Shutdown(t.Context()), <-served))
	})
}

// TestRestingConnectionsTakeLittleMemory has connections idle long after an answer. They are answered again, and end at
// the limit or with the server.
func TestRestingConnectionsTakeLittleMemory(t *testing.T) {
	const connections, perConnection, limit = 200, 11 << 10, time.Hour // bytes with the race detector; 6 kB without
	synctest.Test(t, func(t *testing.T) {
		var stack [4 << 10]byte // of a handler
		server, listener := serving(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(append(stack[:0], r.URL.Path...))
		}, func(o *Options) { o.IdleLimit = limit })
		before := used()
		var clients [connections]net.Conn
		for i := range clients {
			clients[i] = listener.dial()
			defer clients[i].Close()
			if status := ask(t, clients[i], "/"); status != http.StatusOK {
				t.Error(status)
			}
		}
		time.Sleep(2 * restsAfter)
		synctest.Wait()
		_ = used() // pools keep their content for one collection
		if takes := (used() - before) / connections; takes > perConnection {
			t.Errorf("a connection that rests takes %d bytes, want %d at most", takes, perConnection)
		}
		if status := ask(t, clients[0], "/"); status != http.StatusOK {
			t.Errorf("after a rest: %d", status)
		}
		time.Sleep(limit - 2*restsAfter)
		synctest.Wait()
		if left := len(server.openConns.all); left != 1 {
			t.Errorf("%d connections are left at the limit, want the one that was used", left)
		}
		if err := server.Shutdown(t.Context()); err != nil || len(server.openConns.all) > 0 {
			t.Errorf("Shutdown: %v, %d connections are left", err, len(server.openConns.all))
		}
	})
}
