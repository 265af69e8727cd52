package gateway

import (
	"fmt"
	"strings"
	"testing"

	"crossgate/internal/redistest"
)

const withShared = "chains: [{id: 1, endpoints: [{url: 'http://127.0.0.1:1'}]}]\ncache: {shared: %q, sharedCAFile: %q}\n"

// TestSharedCacheOverTLSByConfiguration has the server want a password, and has an authority of its own.
func TestSharedCacheOverTLSByConfiguration(t *testing.T) {
	servers := redistest.NewAuthority(t)
	const user, password = "crossgate", "0123456789"
	server := redistest.ServeGuarded(t, redistest.Guarded{
		Own: servers.Issue(t, "127.0.0.1"), User: user, Password: password,
	})
	address := fmt.Sprintf("rediss://%s:%s@127.0.0.1:%d/0", user, password, server.Port())
	made := built(t, parsed(t, fmt.Sprintf(withShared, address, servers.File)), nil)
	defer made.close()
	connect(t, made.shared)
}

func TestAbsentCertificatesAreMistakes(t *testing.T) {
	err := Check(parsed(t, fmt.Sprintf(withShared, "rediss://:secret@127.0.0.1/0", "/absent/canary.pem")))
	const want = "cache.shared: line 2: shared cache: certificate of the authority: no such file or directory"
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Check = %v, want %s", err, want)
	}
}
