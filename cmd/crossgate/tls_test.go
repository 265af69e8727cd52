package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"crossgate/internal/linktest"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// TestServeOverTLS queries both listeners over HTTP/2, the public one with a client certificate.
func TestServeOverTLS(t *testing.T) {
	t.Chdir(t.TempDir())
	servers, clients := redistest.NewAuthority(t), redistest.NewAuthority(t)
	own := servers.Issue(t, "127.0.0.1")
	operators := must.Get(linktest.FreeAddress())(t)
	text := fmt.Sprintf(`
chains: [{id: 1, endpoints: [{url: "http://127.0.0.1:9"}]}]
tls: {certFile: %q, keyFile: %q, clientCAFile: %q}
telemetry: {admin: %q, tls: {certFile: %q, keyFile: %q}}
`, own.Certificate, own.Key, clients.File, operators, own.Certificate, own.Key)
	write(t, "tls.yaml", text)
	ctx, stop := context.WithCancel(t.Context())
	addresses := make(chan string, 1)
	var said announcement
	said.heard = func() { addresses <- strings.TrimSpace(said.text) }
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		defer stop()
		public, announced := strings.CutPrefix(<-addresses, "crossgate listening on ")
		if !announced || !strings.HasPrefix(public, "https://127.0.0.1:") {
			t.Errorf("serve said %q", public)
			return
		}
		client := clientOf(t, servers, clients.Issue(t, "a client"))
		for _, url := range []string{public + "/healthz", "https://" + operators + "/healthz"} {
			response, err := client.Get(url)
			if err != nil {
				t.Error(err)
				continue
			}
			response.Body.Close()
			if response.StatusCode != http.StatusOK || response.ProtoMajor != 2 {
				t.Errorf("%s: %s %s, want 200 by HTTP/2", url, response.Proto, response.Status)
			}
		}
		if response, err := clientOf(t, servers, redistest.Pair{}).Get(public + "/healthz"); err == nil {
			t.Errorf("a client without a certificate is answered %s", response.Status)
			response.Body.Close()
		}
		var said bytes.Buffer
		if code := run(t.Context(), []string{"healthcheck", "--config", "tls.yaml", "--listen", strings.TrimPrefix(public, "https://")}, &said, &said); code != 0 {
			t.Errorf("healthcheck = %d: %s", code, said.String())
		}
		client.CloseIdleConnections()
	}()
	if code := run(ctx, []string{"serve", "--config", "tls.yaml", "--listen", "127.0.0.1:0"}, &said, os.Stderr); code != 0 {
		t.Errorf("serve = %d, want 0", code)
	}
	<-asked
}

// clientOf returns a client that trusts an authority, speaks HTTP/2, and may have a certificate.
func clientOf(t *testing.T, trusted *redistest.Authority, own redistest.Pair) *http.Client {
	t.Helper()
	text, err := os.ReadFile(trusted.File)
	if err != nil {
		t.Error(err)
	}
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	c.RootCAs.AppendCertsFromPEM(text)
	if own.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(own.Certificate, own.Key)
		if err != nil {
			t.Error(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}}
}
