package shared

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/internal/redistest"
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
	own := authority.Issue(t, "gateway")
	absent := filepath.Join(t.TempDir(), "canary.pem")
	for _, test := range []struct {
		file, why string
	}{
		{absent, "certificate of the authority: no such file"},
		{own.Key, "no certificate in PEM"},
	} {
		_, err := New(Options{URL: "rediss://localhost", CAFile: test.file})
		if err == nil || !strings.Contains(err.Error(), test.why) || strings.Contains(err.Error(), "canary") {
			t.Errorf("NewShared with %+v: %v, want %s and no path", test.file, err, test.why)
		}
	}
}
