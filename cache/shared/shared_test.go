package shared

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/internal/redistest"
	"crossgate/internal/tlsfiles"
)

func TestAddressesAreNotTold(t *testing.T) {
	for _, url := range []string{
		"http://user:canary@host", "redis://user:canary@host:port:1/x", "redis://:canary@host/a/b", "://canary",
		"rediss://user:12/canary@host", "rediss://user:12#canary@host:6379/0", "redis://user:12?canary@host",
	} {
		if _, err := New(Options{URL: url}); err == nil || bytes.Contains([]byte(err.Error()), []byte("canary")) {
			t.Errorf("NewShared: %v, want an error that does not tell the address", err)
		}
	}
}

// TestCertificatesThatCannotBeRead are mistakes that are told at the start.
func TestCertificatesThatCannotBeRead(t *testing.T) {
	authority := redistest.NewAuthority(t)
	own, other := authority.Issue(t, "gateway"), authority.Issue(t, "another")
	absent := filepath.Join(t.TempDir(), "canary.pem")
	for _, test := range []struct {
		files tlsfiles.Files
		why   string
	}{
		{tlsfiles.Files{Authorities: absent}, "certificate of the authority: no such file"},
		{tlsfiles.Files{Authorities: own.Key}, "no certificate in PEM"},
		{tlsfiles.Files{Own: own.Certificate, Key: absent}, "private key of this gateway: no such file"},
		{tlsfiles.Files{Own: own.Certificate, Key: other.Key}, "private key does not match public key"},
	} {
		_, err := New(Options{URL: "rediss://localhost", Certificates: test.files})
		if err == nil || !strings.Contains(err.Error(), test.why) || strings.Contains(err.Error(), "canary") {
			t.Errorf("NewShared with %+v: %v, want %s and no path", test.files, err, test.why)
		}
	}
}
