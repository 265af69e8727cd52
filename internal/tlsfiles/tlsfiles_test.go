package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// pool trusts one authority.
func pool(t *testing.T, a *redistest.Authority) *x509.CertPool {
	t.Helper()
	text := must.Get(os.ReadFile(a.File))(t)
	made := x509.NewCertPool()
	made.AppendCertsFromPEM(text)
	return made
}

// shake shakes hands over a connection without a network.
func shake(server, client *tls.Config) error {
	near, far := net.Pipe()
	defer near.Close()
	shaken := make(chan error, 1)
	go func() {
		defer far.Close()
		shaken <- tls.Server(far, server).Handshake()
	}()
	c := tls.Client(near, client)
	err := c.Handshake()
	if err == nil {
		_, err = c.Read(make([]byte, 1)) // a refused certificate shows here
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return errors.Join(err, <-shaken)
}

// put replaces a file, at a time of its own.
func put(t *testing.T, from, to string, at time.Time) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	must.Do(t, errors.Join(err, os.Chtimes(to, at, at)))
}

// TestRenewedFilesAreUsed replaces a certificate and then its key by those of another authority.
func TestRenewedFilesAreUsed(t *testing.T) {
	before, after := redistest.NewAuthority(t), redistest.NewAuthority(t)
	first, second := before.Issue(t, "127.0.0.1"), after.Issue(t, "127.0.0.1")
	files := Files{Own: t.TempDir() + "/own.pem", Key: t.TempDir() + "/own.key"}
	begun := time.Now()
	put(t, first.Certificate, files.Own, begun)
	put(t, first.Key, files.Key, begun)
	var said strings.Builder
	server := must.Get(files.Server(slog.New(slog.NewTextHandler(&said, nil))))(t)
	has := func(a *redistest.Authority, when string) {
		t.Helper()
		if err := shake(server, &tls.Config{RootCAs: pool(t, a), ServerName: "127.0.0.1"}); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	has(before, "at first")
	put(t, second.Certificate, files.Own, begun.Add(time.Second))
	has(before, "with half of the new pair")
	has(before, "again")
	put(t, second.Key, files.Key, begun.Add(2*time.Second))
	has(after, "with the new pair")
	if told := strings.Count(said.String(), "are unusable"); told != 1 {
		t.Errorf("the log tells %d times that files are unusable, want once:\n%s", told, &said)
	}
	if strings.Contains(said.String(), files.Own) {
		t.Errorf("the log has a path:\n%s", &said)
	}
}

func TestClientsNeedACertificateOfTheirAuthority(t *testing.T) {
	servers, clients := redistest.NewAuthority(t), redistest.NewAuthority(t)
	own := servers.Issue(t, "127.0.0.1")
	server := must.Get(Files{Own: own.Certificate, Key: own.Key, Authorities: clients.File}.Server(slog.New(slog.DiscardHandler)))(t)
	for name, each := range map[string]struct {
		by      *redistest.Authority
		welcome bool
	}{"none": {nil, false}, "another authority's": {servers, false}, "theirs": {clients, true}} {
		client := &tls.Config{RootCAs: pool(t, servers), ServerName: "127.0.0.1"}
		if each.by != nil {
			pair := each.by.Issue(t, "a client")
			own := must.Get(tls.LoadX509KeyPair(pair.Certificate, pair.Key))(t)
			client.Certificates = []tls.Certificate{own}
		}
		if err := shake(server, client); (err == nil) != each.welcome {
			t.Errorf("a client with a certificate of %s: %v", name, err)
		}
	}
}

func TestFilesThatCannotBeUsedAreNamedByWhatTheyAre(t *testing.T) {
	authority := redistest.NewAuthority(t)
	own := authority.Issue(t, "127.0.0.1")
	for want, files := range map[string]Files{
		"certificate of this gateway: no such file or directory":           {Own: "/absent/canary.pem", Key: own.Key},
		"private key of this gateway: no such file or directory":           {Own: own.Certificate, Key: "/absent/canary.key"},
		"certificate of the authority: no such file or directory":          {Own: own.Certificate, Key: own.Key, Authorities: "/absent/canary.pem"},
		"certificate of the authority: the file has no certificate in PEM": {Own: own.Certificate, Key: own.Key, Authorities: own.Key},
	} {
		if _, err := files.Server(slog.New(slog.DiscardHandler)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
