package processes_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"crossgate/sandbox"
)

// TestNothingIsNotFoundInAnOutage asks for an indexed order, which is not kept, and for unknown ones, while the tables are
// locked, and while database and chain are away: what cannot be known is 503 INDEX_UNAVAILABLE with Retry-After, and no
// chain is blamed for it. bench's TestChaos has the same with 200 requests a second.
func TestNothingIsNotFoundInAnOutage(t *testing.T) {
	t.Parallel()
	r := startReplicated(t, sandbox.Options{})
	gateway := serveApart(t, r.config)
	gateway.until(t, "level", lockedFor(r.taker), isLevel)
	isDeclined := func(got reply) bool {
		return got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "" && strings.Contains(got.body, "INDEX_UNAVAILABLE")
	}
	chain := func(does string) error { return r.world.Inject("1", sandbox.Fault{Kind: does}) }
	var release func() error
	for i, outage := range []struct {
		name       string
		begin, end func() error
		isToldOf   bool // by the chains
	}{
		{"tables locked", func() (err error) {
			release, err = r.server.Hold("orders", "BEGIN; LOCK TABLE events, orders IN ACCESS EXCLUSIVE MODE")
			return err
		}, func() error { return release() }, true},
		{
			"database and chain away", func() error { return errors.Join(r.server.Kill(), chain(sandbox.Down)) },
			func() error { return errors.Join(chain(sandbox.NoFault), r.server.Resume()) }, false,
		},
	} {
		o, unknown := deliver(t, r.world), unknownOrder(i)
		gateway.until(t, "indexed", lockedFor(r.taker), o.isLocked)
		if err := outage.begin(); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{unknown, strings.Replace(unknown, "creationTxHash/", "", 1)} {
			if got := gateway.ask(t, path); !isDeclined(got) {
				t.Errorf("%s: GET %s = %d %v %s", outage.name, path, got.status, got.header, got.body)
			}
		}
		isTold := func(got reply) bool {
			if !o.isLocked(got) && !isDeclined(got) {
				t.Errorf("%s: GET %s = %d %v %s", outage.name, o.path(), got.status, got.header, got.body)
			}
			return o.isLocked(got)
		}
		if outage.isToldOf {
			gateway.until(t, "told by its chains", o.path(), isTold)
		} else if isTold(gateway.ask(t, o.path())) {
			t.Errorf("%s: the order is told", outage.name)
		}
		if err := outage.end(); err != nil {
			t.Fatal(err)
		}
		gateway.until(t, "told", o.path(), func(got reply) bool {
			if got.status == http.StatusNotFound {
				t.Errorf("after %s: an indexed order is not found: %s", outage.name, got.body)
			}
			return o.isLocked(got)
		})
		gateway.until(t, "not found", unknown, func(got reply) bool { return got.status == http.StatusNotFound })
	}
}
