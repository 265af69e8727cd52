package gateway

import (
	"slices"
	"testing"

	"crossgate/upstream/jsonrpc"
)

// TestLimitsAreSaidInWords has all of them.
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
