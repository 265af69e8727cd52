package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/proxy"
	"crossgate/proxy/passthrough"
	"crossgate/upstream"
)

// passing runs a server in a bubble that passes everything it does not answer itself to an origin, and returns its
// network and the origin's endpoint.
func passing(t *testing.T, origin http.HandlerFunc) (*network, *upstream.Endpoint) {
	t.Helper()
	behind, front := newNetwork(), newNetwork()
	server := &http.Server{Handler: origin}
	transport := &http.Transport{DialContext: behind.dial}
	endpoint := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{
		Name: "origin", URL: "http://origin", Forwards: true, Transport: transport,
	}))(t)
	s := newWorld(t).server(t, func(o *parts) {
		o.Logger = slog.New(slog.DiscardHandler)
		o.Passthrough = proxy.Passthrough{Origins: origins{upstream.NewPool("origin", endpoint)}, MaxBytes: 64 << 20, Hosts: []passthrough.Host{{
			Name: "orders", MaxBody: 8 << 20,
		}}}
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Run(ctx, front) }()
	go func() { ended <- server.Serve(behind) }()
	t.Cleanup(func() {
		stop()
		endpoint.Close()
		_ = server.Close()
		for range cap(ended) {
			if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		}
		rest()
	})
	return front, endpoint
}

// clients returns a client of HTTP/1.1 and one of HTTP/2.
func clients(t *testing.T, to *network) map[string]*http.Client {
	t.Helper()
	all := map[string]*http.Client{}
	for name, choose := range map[string]func(*http.Protocols, bool){
		"HTTP/1.1": (*http.Protocols).SetHTTP1, "HTTP/2": (*http.Protocols).SetUnencryptedHTTP2,
	} {
		transport := &http.Transport{DialContext: to.dial, Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}}
		choose(transport.Protocols, true)
		t.Cleanup(transport.CloseIdleConnections)
		all[name] = &http.Client{Transport: transport}
	}
	return all
}

// slowly pauses after each part that is read.
type slowly struct {
	io.Reader
	part  int64
	pause time.Duration
	read  int64
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.read == s.part {
		time.Sleep(s.pause)
		s.read = 0
	}
	n, err := s.Reader.Read(p[:min(int64(len(p)), s.part-s.read)])
	s.read += int64(n)
	return n, err
}

// TestSteadyBodiesAreNotCut has clients and the origin take nine seconds for each part of a body, for minutes.
func TestSteadyBodiesAreNotCut(t *testing.T) {
	const parts, part, pause = 20, 64 << 10, 9 * time.Second
	synctest.Test(t, func(t *testing.T) {
		front, _ := passing(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				n, err := io.Copy(io.Discard, &slowly{Reader: r.Body, part: part, pause: pause})
				_, _ = fmt.Fprint(w, n, err)
				return
			}
			if r.URL.Path == "/kept" {
				w.Header().Set("Cache-Control", "max-age=86400")
			}
			_, _ = w.Write(make([]byte, parts*part))
		})
		for name, client := range clients(t, front) {
			for _, length := range []int64{parts, -1} {
				slow := &slowly{Reader: iotest.DataErrReader(strings.NewReader(strings.Repeat("x", parts))), part: 1, pause: pause}
				wantTaken(t, name+", a slow client", client, slow, length, parts)
			}
			wantTaken(t, name+", a slow origin", client, strings.NewReader(strings.Repeat("x", parts*part)), -1, parts*part)
			for _, path := range []string{"/passed", "/kept", "/kept"} {
				response := must.Get(client.Get("http://crossgate" + path))(t)
				if n, err := io.Copy(io.Discard, &slowly{Reader: response.Body, part: part, pause: pause}); err != nil || n != parts*part {
					t.Errorf("%s, download of %s (%s): %d bytes, %v", name, path, response.Header.Get("Cache-Status"), n, err)
				}
				response.Body.Close()
			}
		}
	})
}

// wantTaken uploads a body and requires that it arrives whole.
func wantTaken(t *testing.T, name string, client *http.Client, sent io.Reader, length, want int64) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://crossgate/x", sent))(t)
	r.ContentLength = length
	response, err := client.Do(r)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got := string(body(t, response)); got != fmt.Sprint(want, " <nil>") {
		t.Errorf("%s, %d bytes announced: %d %s, want %d bytes", name, length, response.StatusCode, got, want)
	}
}

// TestBodiesThatFailDecideTheStatus has a client send a malformed body, stop within one, or leave; none of that is
// blamed on the origin, which fails at the end.
func TestBodiesThatFailDecideTheStatus(t *testing.T) {
	const chunked = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
	synctest.Test(t, func(t *testing.T) {
		var answers bool
		ended := make(chan error, 1)
		front, endpoint := passing(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/early" {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return
			}
			_, err := io.Copy(io.Discard, r.Body)
			if !answers {
				<-r.Context().Done()
			}
			ended <- err
		})
		answers = true
		for sent, want := range map[string]struct {
			status int
			after  time.Duration
		}{
			chunked + "5\r\nhelloXX": {400, 0}, chunked + "xyz\r\n": {400, 0}, chunked + "8 ;x\r\n": {400, 0},
			chunked + "5\r\nhello\r\n0\r\nX:\x00\r\n\r\n":               {400, 0},
			chunked + "5\r\nhello\r\n":                                  {408, proxy.ReadLimit},
			"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx": {408, proxy.ReadLimit},
		} {
			for range 6 { // as many as make a circuit breaker suspicious
				connection := must.Get(front.dial(t.Context(), "", ""))(t)
				began := time.Now()
				go func() { _, _ = io.WriteString(connection, sent) }()
				response := must.Get(http.ReadResponse(bufio.NewReader(connection), nil))(t)
				if response.StatusCode != want.status || time.Since(began) != want.after {
					t.Errorf("%q: %d after %v, want %d after %v", sent, response.StatusCode, time.Since(began), want.status, want.after)
				}
				connection.Close()
				if err := <-ended; err == nil {
					t.Errorf("%q: the origin took it for a whole body", sent)
				}
			}
		}
		for name, client := range clients(t, front) {
			silent, end := io.Pipe()
			defer end.Close()
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://crossgate/x", io.MultiReader(strings.NewReader("x"), silent)))(t)
			response, err := client.Do(r)
			if err != nil || response.StatusCode != http.StatusRequestTimeout {
				t.Errorf("%s: silence: %v, %v, want 408", name, response, err)
			}
			<-ended
			// A short body: the test's network has no half-closed connections, on which the server would wait for more.
			response, err = client.Post("http://crossgate/early", "text/plain", strings.NewReader("x"))
			if err != nil || response.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("%s: refused by the origin before it is read: %v, %v, want 413", name, response, err)
			}
		}
		connection := must.Get(front.dial(t.Context(), "", ""))(t)
		must.Get(io.WriteString(connection, chunked+"5\r\nhello\r\n"))(t)
		connection.Close()
		<-ended
		if reason := endpoint.Health().Reason; reason != "" {
			t.Errorf("held against the origin: %s", reason)
		}
		answers = false
		began := time.Now()
		response := must.Get((&http.Client{Transport: &http.Transport{DialContext: front.dial, DisableKeepAlives: true}}).
			Post("http://crossgate/x", "text/plain", strings.NewReader("hello")))(t)
		wantError(t, response, http.StatusGatewayTimeout, "UPSTREAM_TIMEOUT")
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("an origin that says nothing: answered after %v", took)
		}
	})
}
