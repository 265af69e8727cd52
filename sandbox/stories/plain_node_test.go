package stories_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// plainNodes lack eth_simulateV1, and some of them overrides of states as well.
var plainNodes = map[bool]map[string]answering{
	true: {"eth_simulateV1": always(`"error":{"code":-32601,"message":"the method eth_simulateV1 does not exist/is not available"}`)},
	false: {
		"eth_simulateV1":  always(`"error":{"code":-32601,"message":"the method eth_simulateV1 does not exist/is not available"}`),
		"eth_call":        withoutOverrides,
		"eth_estimateGas": withoutOverrides,
	},
}

func withoutOverrides(params string, _ int) string {
	if strings.Contains(params, `"stateDiff"`) || strings.Contains(params, `"balance"`) || strings.Contains(params, `"code"`) {
		return `"error":{"code":-32602,"message":"too many arguments, want at most 2"}`
	}
	return ""
}

// TestPlainNodesHandOutWhatWasMeasured has a venue called directly on a chain whose node has no eth_simulateV1. Where it takes
// overrides, swaps pay what they say, to the sender and to others, in coins and in tokens, and are marked nowhere. Where it
// takes none, swaps of the coin alone are measured: other transactions are refused, or marked where the operator allows it.
func TestPlainNodesHandOutWhatWasMeasured(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	base, _ := world.Chain(8453)
	behind := func(takesOverrides bool, unsimulated config.Unsimulated) *trader {
		return newTrader(t, world, base, serveSwaps(t, world, func(c *config.Config) {
			c.Swap.Execution, c.Swap.Unsimulated = config.ExecuteDirectly, unsimulated
			onlyVenues(c, "kyberswap")
			at := slices.IndexFunc(c.Chains, func(c config.Chain) bool { return c.ID == 8453 })
			c.Chains[at].Endpoints = defective(t, c.Chains[at].Endpoints[0], defects{"plain": plainNodes[takesOverrides]})
		}))
	}
	header := func(w *trader, c swapCase) (status int, marked string) {
		response := must.Get(http.Get(w.gateway + "/v1.0/chain/transaction?" + w.query(c).Encode()))(t)
		response.Body.Close()
		return response.StatusCode, response.Header.Get("X-Unsimulated")
	}
	measuring, strict, lax := behind(true, ""), behind(false, ""), behind(false, config.AllowUnsimulated)
	for _, one := range []swapCase{
		{"coin", "USDC", "250000000000000000", false, ""},
		{"coin", "USDC", "250000000000000000", true, ""},
		{"USDC", "coin", "90000000", false, ""},
		{"USDC", "coin", "90000000", true, ""},
		{"USDC", "DAI", "20000000", true, ""},
	} {
		measuring.makeSwap(t, one)
		if status, marked := header(measuring, one); status != http.StatusOK || marked != "" {
			t.Errorf("%s: %d, X-Unsimulated %q, want an answer without a mark", one, status, marked)
		}
		status, marked := header(strict, one)
		if one.in == "coin" { // measured by Multicall3, as soon as the node is known to take no overrides
			if status, marked = header(strict, one); status != http.StatusOK || marked != "" {
				t.Errorf("%s without overrides: %d, X-Unsimulated %q, want an answer without a mark", one, status, marked)
			}
			continue
		}
		if status < http.StatusBadRequest {
			t.Errorf("%s without overrides: %d, X-Unsimulated %q, want that it is refused", one, status, marked)
		}
		if status, marked := header(lax, one); status != http.StatusOK || marked != "true" {
			t.Errorf("%s without overrides, allowed: %d, X-Unsimulated %q, want it marked", one, status, marked)
		}
	}
}
