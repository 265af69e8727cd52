package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/config"
	"crossgate/internal/redistest"
)

// withShared is a configuration with a shared cache.
func withShared(t *testing.T, address, authority string) config.Config {
	t.Helper()
	c, err := config.Parse(fmt.Appendf(nil, `
chains: [{id: 1, endpoints: [{url: "http://127.0.0.1:1"}]}]
cache: {shared: %q, sharedCAFile: %q}
`, address, authority))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSharedCacheOverTLSByConfiguration has the server want a password, and has an authority of its own.
func TestSharedCacheOverTLSByConfiguration(t *testing.T) {
	servers := redistest.NewAuthority(t)
	const user, password = "crossgate", "0123456789"
	server := redistest.ServeGuarded(t, redistest.Guarded{
		Own: servers.Issue(t, "127.0.0.1"), User: user, Password: password,
	})
	address := fmt.Sprintf("rediss://%s:%s@127.0.0.1:%d/0", user, password, server.Port())
	made, err := build(withShared(t, address, servers.File), slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer made.close()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = made.shared.Run(ctx) })
	defer running.Wait()
	defer stop()
	for deadline := time.Now().Add(time.Minute); ; {
		state, ok := made.shared.Status()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for a connection, now %s", state)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestAbsentCertificatesAreMistakes(t *testing.T) {
	err := Check(withShared(t, "rediss://:secret@127.0.0.1/0", "/absent/canary.pem"))
	const want = "cache.shared: line 3: shared cache: certificate of the authority: no such file or directory"
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Check = %v, want %s", err, want)
	}
}
