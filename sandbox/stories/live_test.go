package stories_test

import (
	"slices"
	"strings"
	"testing"

	"crossgate/cmd/crossgate/gateway"
	"crossgate/config"
	"crossgate/sandbox/sandboxtest"
)

// TestIdentifyNamesWhatIsNotAsConfigured asks every endpoint of a sandbox, of which some are wrong.
func TestIdentifyNamesWhatIsNotAsConfigured(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	c := configOf(t, world)
	identities, err := gateway.Identify(t.Context(), c)
	if err != nil || len(identities) < len(c.Chains)+3 {
		t.Fatalf("Identify = %d endpoints, %v, want one for each endpoint", len(identities), err)
	}
	for _, f := range identities {
		if len(f.Wrong) > 0 || f.Said == "" {
			t.Errorf("a sound endpoint: %+v", f)
		}
	}
	evm := slices.IndexFunc(c.Chains, func(each config.Chain) bool { return each.ID == 1 })
	other := slices.IndexFunc(c.Chains, func(each config.Chain) bool { return each.ID == 8453 })
	const key = "canary-4f1d2a"
	c.Chains[evm].Endpoints = append(c.Chains[evm].Endpoints,
		config.Endpoint{Name: "confused", URL: c.Chains[other].Endpoints[0].URL},
		config.Endpoint{Name: "gone", URL: config.NewSecret("http://127.0.0.1:9/" + key)})
	c.Chains[other].Contracts.Multicall = c.Registry().All()[0].WrappedCoin // where nobody has put a contract
	identities, err = gateway.Identify(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	wrong := make(map[string]string)
	for _, f := range identities {
		if len(f.Wrong) > 0 {
			wrong[f.Endpoint] = strings.Join(f.Wrong, "; ")
		}
	}
	if got := wrong["confused"]; !strings.Contains(got, "serves chain 8453, not 1") {
		t.Errorf("an endpoint of another chain: %q", got)
	}
	if got := wrong["gone"]; !strings.Contains(got, "unreachable") || strings.Contains(got, key) {
		t.Errorf("an endpoint that is down: %q", got)
	}
	if got := wrong["chain-8453"]; len(wrong) != 3 || !strings.Contains(got, "multicall: no code at 0x") {
		t.Errorf("wrong are %q, want these two and the contract that is not there", wrong)
	}
}
