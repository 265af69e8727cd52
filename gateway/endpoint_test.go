package gateway

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

const twoChains = `
chains:
  - id: 1
    endpoints: [{name: one, url: "URL/a"}, {name: two, url: "URL/b"}]
  - id: 10
    endpoints: [{name: one, url: "URL/c"}]
venues:
  - {name: kyberswap, endpoints: [{url: "URL/k"}]}
`

func parsed(t *testing.T, text string) config.Config {
	t.Helper()
	return must.Get(config.Parse([]byte(text)))(t)
}

// built returns the parts of a configuration, reusing those before. The caller must close them.
func built(t *testing.T, c config.Config, before *parts) *parts {
	t.Helper()
	return must.Get(build(c, slog.New(slog.DiscardHandler), before))(t)
}

// TestUnchangedPartsOutliveAReload builds one configuration after another from the preceding parts.
func TestUnchangedPartsOutliveAReload(t *testing.T) {
	service := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(service.Close)
	first := built(t, parsed(t, strings.ReplaceAll(twoChains, "URL", service.URL)), nil)
	first.endpoint("1", "one").Cordon()
	first.endpoint("1", "two").Cordon()
	moving := strings.Replace(twoChains, "URL/b", "URL/other", 1)
	second := built(t, parsed(t, strings.ReplaceAll(moving, "URL", service.URL)), first)
	first.close()
	t.Cleanup(second.close)
	for _, same := range [][2]string{{"1", "one"}, {"10", "one"}, {"kyberswap", "kyberswap"}} {
		if before, now := first.endpoint(same[0], same[1]), second.endpoint(same[0], same[1]); now == nil || before != now {
			t.Errorf("endpoint %s was made anew, and nothing about it had changed", same)
		}
	}
	if first.chains[10].orders != second.chains[10].orders || first.chains[1].orders == second.chains[1].orders {
		t.Error("want chain 10 as it was, and chain 1 with its new endpoint")
	}
	moved := second.endpoint("1", "two")
	if moved == first.endpoint("1", "two") {
		t.Error("an endpoint with another URL is the one before")
	}
	if got := moved.Health(); got.Standing != "cordoned" || second.endpoint("1", "one").Health().Standing != "cordoned" {
		t.Errorf("after the reload: %+v, want what operators asked for", got)
	}
	if _, err := second.endpoint("kyberswap", "kyberswap").Do(t.Context(), upstream.Request{}); err != nil {
		t.Errorf("an endpoint of two configurations, one of which is closed: %v, want an answer", err)
	}
	if got := first.endpoint("1", "two").holders.Load(); got != 0 {
		t.Errorf("%d configurations hold an endpoint that none has", got)
	}
	if got := second.endpoint("1", "one").holders.Load(); got != 1 {
		t.Errorf("%d configurations hold an endpoint, want 1", got)
	}
}

// TestRefusedConfigurationHoldsNothing rejects a configuration after some of its endpoints were taken over.
func TestRefusedConfigurationHoldsNothing(t *testing.T) {
	c := parsed(t, strings.ReplaceAll(twoChains, "URL", "http://127.0.0.1:1"))
	first := built(t, c, nil)
	defer first.close()
	c.Venues = append(c.Venues, config.Venue{Name: "nobody"})
	if _, err := build(c, nil, first); err == nil {
		t.Fatal("a configuration with an unknown venue was built")
	}
	for _, e := range first.endpoints {
		if got := e.holders.Load(); got != 1 {
			t.Errorf("%s/%s is held %d times after a refused configuration, want once", e.of, e.Name(), got)
		}
	}
}

// TestLimitsAreSaidInWords has all kinds of limits.
func TestLimitsAreSaidInWords(t *testing.T) {
	known := jsonrpc.Limits{
		Span: 700, Batch: 3,
		Depths: map[string]uint64{"logs": 90_000, "blocks": 80_000, "state": 128}, Lacks: []string{"eth_getLogs topics", "eth_simulateV1"},
	}
	want := []string{
		"searches 700 blocks", "takes 3 calls at once", "blocks: newest 80,000", "logs: newest 90,000", "state: newest 128",
		"no eth_getLogs topics", "no eth_simulateV1",
	}
	if got := LimitsInWords(known); !slices.Equal(got, want) {
		t.Errorf("limits are %q, want %q", got, want)
	}
}

func TestConditionHasCordonedEndpoints(t *testing.T) {
	g := newGateway(t, plannedConfig(t))
	g.Endpoint("1", "node").Cordon()
	found := false
	for _, service := range g.Condition(t.Context()).Services {
		for _, e := range service.Endpoints {
			isCordoned := e.Endpoint == "node"
			found = found || isCordoned
			if e.CanBeAsked == isCordoned || isCordoned && e.Standing != "cordoned" {
				t.Errorf("%s: %s, asked %v; the one named node is cordoned", e.Endpoint, e.Standing, e.CanBeAsked)
			}
		}
	}
	if !found {
		t.Error("the condition has no endpoint named node")
	}
	must.Do(t, g.Close())
}
