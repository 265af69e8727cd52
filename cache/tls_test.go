package cache

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/cache/shared"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// password contains every character with a special meaning in a URL.
const password = "pass:word/@?#%-canary"

// secure runs a TLS server with a certificate for localhost by an unknown authority.
func secure(t *testing.T, change ...func(*redistest.Guarded)) (*redistest.Server, *redistest.Authority) {
	t.Helper()
	authority := redistest.NewAuthority(t)
	by := redistest.Guarded{Own: authority.Issue(t, "localhost"), User: "crossgate", Password: password}
	for _, c := range change {
		c(&by)
	}
	return redistest.ServeGuarded(t, by), authority
}

func address(scheme, password, host string, port int) string {
	made := url.URL{Scheme: scheme, User: url.UserPassword("crossgate", password), Host: fmt.Sprintf("%s:%d", host, port), Path: "/0"}
	return made.String()
}

func trusting(authority *redistest.Authority) func(*Options[string], *shared.Options) {
	return func(_ *Options[string], on *shared.Options) { on.CAFile = authority.File }
}

// TestReplicasMeetOverTLS uses every shared function over TLS, as a user with only the necessary permissions.
func TestReplicasMeetOverTLS(t *testing.T) {
	server, authority := secure(t)
	at := address("rediss", password, "localhost", server.Port())
	a, b := startReplica(t, at, trusting(authority)).connected(t), startReplica(t, at, trusting(authority)).connected(t)
	wantResult(t, "the first", a.ask(t, constant("value", hour)), "value", Miss, false)
	wantResult(t, "the second", b.ask(t, unloaded(t)), "value", Hit, true)
	b.Purge(Hard, named("tag v"))
	must.Await(t, "the purge to arrive", a.gone)
	wantResult(t, "the first, after it", a.ask(t, constant("newer", hour)), "newer", Miss, false)
	wantResult(t, "the second, after it", b.ask(t, unloaded(t)), "newer", Hit, true)
	if _, _, err := a.shared.Spend(t.Context(), named("account"), time.Second, time.Minute, 0); err != nil {
		t.Errorf("Spend: %v", err)
	}
	for name, r := range map[string]*replica{"the first": a, "the second": b} {
		if state, ok := r.shared.Status(); !ok {
			t.Errorf("%s: Status() = %s, want that it is there and refuses nothing", name, state)
		}
	}
	must.Do(t, server.Kill())
	must.Await(t, "the loss to be noticed", disconnected(a))
	must.Do(t, server.Resume())
	a.connected(t)
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestConnectionsThatAreRefusedSayWhy tries every wrong way to connect; requests are answered nevertheless.
func TestConnectionsThatAreRefusedSayWhy(t *testing.T) {
	server, authority := secure(t)
	for name, test := range map[string]struct {
		scheme, password, host string
		authority              *redistest.Authority
		why                    string
	}{
		"an authority that is not known":     {"rediss", password, "localhost", nil, "signed by unknown authority"},
		"another authority":                  {"rediss", password, "localhost", redistest.NewAuthority(t), "signed by unknown authority"},
		"another name":                       {"rediss", password, "127.0.0.1", authority, "cannot validate certificate for 127.0.0.1"},
		"a wrong password":                   {"rediss", "canary-of-old", "localhost", authority, "WRONGPASS"},
		"no TLS, where the server wants TLS": {"redis", password, "localhost", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log lines
			before := runtime.NumGoroutine()
			r := startReplica(t, address(test.scheme, test.password, test.host, server.Port()), hurried, func(_ *Options[string], on *shared.Options) {
				on.Logger = slog.New(slog.NewTextHandler(&log, nil))
				if test.authority != nil {
					on.CAFile = test.authority.File
				}
			})
			at := fmt.Sprintf("%s:%d", test.host, server.Port())
			isNamed := func(said string) bool { return strings.Contains(said, at) && strings.Contains(said, test.why) }
			must.Await(t, "the log to say why", func() bool { // perhaps after a handshake that took too long
				return slices.ContainsFunc(strings.Split(log.String(), "\n"), func(line string) bool {
					return strings.Contains(line, "unreachable") && isNamed(line)
				})
			})
			var state string
			must.Await(t, "the status to say why", func() (ok bool) {
				state, ok = r.shared.Status()
				return !ok && isNamed(state)
			})
			if told := log.String() + state; strings.Contains(told, "canary") {
				t.Errorf("the password is told: %s", told)
			}
			askMany(t, r, name, 1000)
			r.stop()
			must.Await(t, "all that it began to end", fewer(before))
		})
	}
}

// TestRenewedAuthoritiesCount replaces the authority's file while it makes the server unreachable.
func TestRenewedAuthoritiesCount(t *testing.T) {
	server, authority := secure(t)
	file := filepath.Join(t.TempDir(), "authority.pem")
	replace := func(by *redistest.Authority) {
		must.Do(t, os.WriteFile(file+".new", must.Get(os.ReadFile(by.File))(t), 0o600))
		must.Do(t, os.Rename(file+".new", file))
	}
	replace(redistest.NewAuthority(t))
	r := startReplica(t, address("rediss", password, "localhost", server.Port()), func(_ *Options[string], on *shared.Options) {
		on.CAFile = file
	})
	must.Await(t, "a refusal", func() bool {
		state, _ := r.shared.Status()
		return strings.Contains(state, "unknown authority")
	})
	replace(authority)
	r.connected(t)
}
