package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// secured makes a server speak TLS, with a certificate that the pool trusts.
func secured(t *testing.T) (change func(*Options), trusted *x509.CertPool) {
	t.Helper()
	authority := redistest.NewAuthority(t)
	pair := authority.Issue(t, "127.0.0.1")
	own := must.Get(tls.LoadX509KeyPair(pair.Certificate, pair.Key))(t)
	text := must.Get(os.ReadFile(authority.File))(t)
	trusted = x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	return func(o *Options) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"h2", "http/1.1"}}
	}, trusted
}

func plain(*Options) {}

// TestEveryProtocolReachesTheHandler sends requests over one connection of each kind, and then stops the server.
func TestEveryProtocolReachesTheHandler(t *testing.T) {
	withTLS, trusted := secured(t)
	for name, each := range map[string]struct {
		change func(*Options)
		scheme string
		choose func(*http.Protocols, bool)
		proto  string
	}{
		"HTTP/1.1":                        {plain, "http", (*http.Protocols).SetHTTP1, "HTTP/1.1"},
		"HTTP/1.1 over TLS":               {withTLS, "https", (*http.Protocols).SetHTTP1, "HTTP/1.1"},
		"HTTP/2 over TLS":                 {withTLS, "https", (*http.Protocols).SetHTTP2, "HTTP/2.0"},
		"HTTP/2 by prior knowledge (h2c)": {plain, "http", (*http.Protocols).SetUnencryptedHTTP2, "HTTP/2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			server := servingOn(t, listener, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/panic" {
					panic(http.ErrAbortHandler)
				}
				heard := tellOf(r)
				if secure := r.TLS != nil; secure != (each.scheme == "https") {
					t.Errorf("the handler is told of TLS: %v", secure)
				}
				_, _ = io.WriteString(w, strings.Join([]string{heard.Method, heard.Proto, heard.Target, heard.Body}, " "))
			}, each.change)
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, Protocols: new(http.Protocols)}
			each.choose(transport.Protocols, true)
			client := &http.Client{Transport: transport}
			base := each.scheme + "://" + listener.Addr().String()
			for _, body := range []string{"one", "two"} {
				got := postText(t, client, base+"/a?b", body)
				if want := "200 POST " + each.proto + " /a?b " + body; got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
			if got := postText(t, client, base, strings.Repeat("b", 2000)); !strings.HasPrefix(got, "413 ") {
				t.Errorf("a body that is too long: %.80q", got)
			}
			if _, err := client.Get(base + "/panic"); err == nil {
				t.Error("a handler that aborts has answered")
			}
			if got := postText(t, client, base, ""); !strings.HasPrefix(got, "200 ") {
				t.Errorf("after that: %q", got)
			}
			must.Do(t, server.Shutdown(t.Context()))
			if _, err := client.Get(base); err == nil {
				t.Error("the server answers after its end")
			}
		})
	}
}

func postText(t *testing.T, client *http.Client, url, body string) string {
	t.Helper()
	response := must.Get(client.Post(url, "text/plain", strings.NewReader(body)))(t)
	defer response.Body.Close()
	return response.Status[:4] + string(must.Get(io.ReadAll(response.Body))(t))
}

// TestConnectionWithoutHandshakeEnds speaks plain HTTP, HTTP/2 and garbage to a TLS listener.
func TestConnectionWithoutHandshakeEnds(t *testing.T) {
	withTLS, _ := secured(t)
	_, listener := serving(t, func(http.ResponseWriter, *http.Request) { t.Error("a request without a handshake") }, withTLS)
	for sent, want := range map[string]string{
		requests["plain"]:                   "HTTP/1.1 400 Bad Request",
		"PUT / HTTP/1.1\r\nHost: h\r\n\r\n": "HTTP/1.1 400 Bad Request",
		preface:                             "HTTP/1.1 400 Bad Request",
		"get / HTTP/1.1\r\nHost: h\r\n\r\n": "",
		"SSH-2.0-client\r\n":                "",
		"\x00\x01\x02\x03\x04\x05\x06":      "",
	} {
		connection := listener.dial()
		go func() { _, _ = io.WriteString(connection, sent) }()
		answer, err := io.ReadAll(connection)
		if err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		status, body, _ := strings.Cut(string(answer), "\r\n")
		if status != want || want != "" && !strings.HasSuffix(body, "use https\n") {
			t.Errorf("%q: answered %q, want %q", sent, answer, want)
		}
	}
}

// TestBeginningOfThePrefaceIsNoHTTP2 sends requests that begin like an HTTP/2 connection.
func TestBeginningOfThePrefaceIsNoHTTP2(t *testing.T) {
	ours, _ := bothListen(t)
	for sent, want := range map[string]string{
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r":    "505",
		"PRI * HTTP/1.1\r\nHost: h\r\n\r\n": "200",
		"PRI":                               "400",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n": "200",
	} {
		for most := range 3 {
			if _, answer := ours.hearInPieces([]byte(sent), most+1); len(answers(answer)) == 0 || answers(answer)[0] != want {
				t.Errorf("%q: %q, want %s", sent, answer, want)
			}
		}
	}
}

// TestIdleHTTP2MakesRoom opens a connection while HTTP/2 has the only place, first with a request in flight.
func TestIdleHTTP2MakesRoom(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	begun, busy := make(chan struct{}), make(chan struct{})
	servingOn(t, listener, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			close(begun)
			<-busy
		}
	}, func(o *Options) { o.Connections.All = 1 })
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	answered := make(chan int)
	go func() {
		response, err := (&http.Client{Transport: transport}).Get("http://" + listener.Addr().String() + "/busy")
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		response.Body.Close()
		answered <- response.StatusCode
	}()
	<-begun
	second := func() int {
		connection := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
		defer connection.Close()
		return ask(t, connection, "/")
	}
	if status := second(); status != http.StatusServiceUnavailable {
		t.Errorf("%d while the other has a request under way", status)
	}
	close(busy)
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the request under way: %d", status)
	}
	for deadline := time.Now().Add(patience); second() != http.StatusOK; { // it is idle a moment after its answer
		if time.Now().After(deadline) {
			t.Fatal("the idle connection has not made room")
		}
	}
}
