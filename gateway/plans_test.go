package gateway

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/store"
	"crossgate/upstream"
)

const (
	// shareOfDay is what the plan below allows in one day.
	shareOfDay = 1000
	planned    = `
chains: [{id: 1, endpoints: [{name: node, url: "URL", monthly: 32000}]}]
venues: [{name: kyberswap, endpoints: [{url: "URL"}]}]
index: {path: "PATH"}
`
)

// plannedConfig returns the configuration of gateways that share a store and a service that answers 404.
func plannedConfig(t *testing.T) config.Config {
	t.Helper()
	service := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(service.Close)
	path := filepath.Join(t.TempDir(), "orders.db")
	return parsed(t, strings.NewReplacer("URL", service.URL, "PATH", path).Replace(planned))
}

func newGateway(t *testing.T, c config.Config) *Gateway {
	t.Helper()
	return must.Get(New(t.Context(), c, slog.New(slog.DiscardHandler)))(t)
}

// spend takes a number of units from a plan.
func spend(t *testing.T, e *upstream.Endpoint, units int) {
	t.Helper()
	must.Get(e.Do(t.Context(), upstream.Request{Cost: units}))(t)
}

// wantLeft requires a remainder of a day's share, or up to two claims less: some may be claimed but not spent.
func wantLeft(t *testing.T, when string, e *upstream.Endpoint, want float64) {
	t.Helper()
	const claims = 2 * shareOfDay / 100
	if got := e.Health().Left; got > want+1 || got < want-claims {
		t.Errorf("%s %v units are left of %d, want %v, or up to %d less", when, got, shareOfDay, want, claims)
	}
}

// TestPlansOutliveTheGateway covers a gateway that stops in order, and one that is killed.
func TestPlansOutliveTheGateway(t *testing.T) {
	c := plannedConfig(t)
	first := newGateway(t, c)
	ctx, stop := context.WithCancel(t.Context())
	listener := must.Get(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))(t)
	ended := make(chan error, 1)
	go func() { ended <- first.Run(ctx, listener) }()
	spend(t, first.Endpoint("1", "node"), 300)
	stop()
	must.Do(t, <-ended)

	second := newGateway(t, c)
	node := second.Endpoint("1", "node")
	// The first gateway's followers used the endpoint too.
	left := node.Health().Left
	if left > shareOfDay-300 || left < shareOfDay-400 {
		t.Errorf("%v units are left after a restart, want those of %d that were not spent before", left, shareOfDay)
	}
	spend(t, node, 200)
	second.savers[0].update(t.Context())
	if _, err := New(t.Context(), c, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), c.Index.Path+": another gateway uses it") {
		t.Errorf("a second gateway on the file: %v", err)
	}
	must.Do(t, second.Close()) // which writes nothing
	third := newGateway(t, c)
	wantLeft(t, "after a kill", third.Endpoint("1", "node"), left-200)
	must.Do(t, third.Close())
}

// TestPlansOfGatewaysAddUp has two gateways spend one plan, one of which reloads its configuration.
func TestPlansOfGatewaysAddUp(t *testing.T) {
	c := plannedConfig(t)
	_, address := startPostgres(t)
	c.Index.Postgres = config.NewSecret(address)
	one, other := newGateway(t, c), newGateway(t, c)
	for _, each := range []struct {
		by    *Gateway
		units int
	}{{one, 200}, {other, 300}, {one, 100}} {
		spend(t, each.by.Endpoint("1", "node"), each.units)
		each.by.savers[0].update(t.Context())
	}
	wantLeft(t, "after 600 units by two gateways", one.Endpoint("1", "node"), shareOfDay-600)
	c.Chains[0].Endpoints[0].Timeout = c.Swap.Deadline
	must.Do(t, one.Reload(c))
	moved := one.Endpoint("1", "node")
	wantLeft(t, "after a change of the endpoint", moved, shareOfDay-600)
	spend(t, moved, 100)
	one.savers[0].update(t.Context())
	spend(t, other.Endpoint("1", "node"), 50)
	other.savers[0].update(t.Context())
	wantLeft(t, "after that, at the other gateway", other.Endpoint("1", "node"), shareOfDay-750)
	for _, g := range []*Gateway{one, other} {
		must.Do(t, g.Close())
	}
}

// TestPlansWithoutAStore takes the store away for a while.
func TestPlansWithoutAStore(t *testing.T) {
	c := plannedConfig(t)
	var log bytes.Buffer
	made := built(t, c, nil)
	defer made.close()
	opened := func() *store.DB {
		store := must.Get(openStore(t.Context(), c.Index, 0, slog.New(slog.DiscardHandler)))(t)
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	plans := newPlanSaver(opened(), func() []*endpoint { return made.endpoints }, slog.New(slog.NewTextHandler(&log, nil)))
	must.Do(t, plans.store.Close())
	node := made.endpoint("1", "node").Endpoint
	for range 3 {
		plans.update(t.Context())
		spend(t, node, 100)
	}
	if got := strings.Count(log.String(), "level=WARN"); got != 1 {
		t.Errorf("the log has %d warnings, want one: %s", got, log.String())
	}
	plans.store = opened()
	for range 3 {
		plans.update(t.Context())
	}
	if got := strings.Count(log.String(), "level=INFO"); got != 1 {
		t.Errorf("the log tells %d times that the store is back, want once: %s", got, log.String())
	}
	again := newGateway(t, c)
	wantLeft(t, "after a restart", again.Endpoint("1", "node"), shareOfDay-300)
	must.Do(t, again.Close())
}

// TestPlansAreComparedInTheirUnits projects the following of a chain for endpoints with plans of requests and of units.
func TestPlansAreComparedInTheirUnits(t *testing.T) {
	known, _ := chain.Documented().Chain(1)
	units := map[string]int{"*": 20}
	for name, test := range map[string]struct {
		endpoints []config.Endpoint
		each      uint64 // units of a call, at least
		planned   uint64 // by all plans, in these units
	}{
		"no plan":                  {[]config.Endpoint{{}}, 20, 0},
		"requests":                 {[]config.Endpoint{{Monthly: 3_000_000}}, 1, 3_000_000},
		"units":                    {[]config.Endpoint{{Monthly: 3_000_000, Costs: units}}, 20, 3_000_000},
		"requests, and then units": {[]config.Endpoint{{Monthly: 1_000_000}, {Monthly: 40_000_000, Costs: units}}, 1, 3_000_000},
		"units, and then requests": {[]config.Endpoint{{Monthly: 40_000_000, Costs: units}, {Monthly: 1_000_000}}, 20, 60_000_000},
		"a plan, and one without":  {[]config.Endpoint{{Monthly: 1_000_000}, {}}, 20, 0},
	} {
		_, load := Loads(known, config.Chain{ID: 1, Endpoints: test.endpoints}, config.Index{})
		if each := load.UnitsPerMonth / load.CallsPerMonth; each != test.each && (test.planned > 0 || each < test.each) || load.Monthly != test.planned {
			t.Errorf("%s: %d units for %d calls, %d planned; want %d each, %d", name, load.UnitsPerMonth, load.CallsPerMonth, load.Monthly, test.each, test.planned)
		}
	}
}
