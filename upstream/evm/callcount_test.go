package evm_test

import (
	"maps"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// TestCallsForABlock counts what reading one new block costs. A block without orders took a list of logs and a header
// before: its header, which the head brought, says now that there are none, and of others the time.
func TestCallsForABlock(t *testing.T) {
	for name, alter := range map[string]func(method, members string) string{"times told": nil, "times not told": untimed} {
		t.Run(name, func(t *testing.T) { countCallsForABlock(t, alter) })
	}
}

func countCallsForABlock(t *testing.T, alter func(method, members string) string) {
	recordings, _ := readRecordings(t)
	for _, recorded := range recordings {
		recorded.head = recorded.Head
		p := &provider{recording: recorded, calls: map[string]int{}, alter: alter}
		c := evm.New(recorded.describe(), jsonrpc.New(upstream.NewPool("chain", endpointOf(t, "provider", p))))
		quiet, telling := uint64(0), uint64(0)
		for recorded.head = 1; recorded.head < recorded.Head; recorded.head++ {
			must.Get(c.Head(t.Context()))(t)
			clear(p.calls)
			events := must.Get(c.Events(t.Context(), recorded.head, recorded.head))(t)
			txs := map[chain.TxHash]bool{}
			for _, e := range events {
				txs[e.At.Tx] = true
			}
			want := map[string]int{}
			if len(events) > 0 {
				telling++
				want = map[string]int{"eth_getLogs": 1, "eth_getTransactionReceipt": len(txs)}
			} else if len(p.calls) > 0 {
				continue // before the first filter with a bit, or another contract's log that looks like one
			} else {
				quiet++
			}
			if len(p.calls) > 0 && !maps.Equal(p.calls, want) {
				t.Errorf("block %d with %d events took %v, want %v", recorded.head, len(events), p.calls, want)
			}
		}
		if quiet < 50 || telling < 20 {
			t.Errorf("chain %d: %d blocks were read without a call, %d with events", recorded.ChainID, quiet, telling)
		}
	}
}

// TestCallsForARange counts what reading a range of old blocks costs, and what proving it adds: one list, and the header
// that an endpoint which lags does not have.
func TestCallsForARange(t *testing.T) {
	recordings, _ := readRecordings(t)
	recorded := recordings[0]
	recorded.head = recorded.Head
	p := &provider{recording: recorded, calls: map[string]int{}}
	c := evm.New(recorded.describe(), jsonrpc.New(upstream.NewPool("chain", endpointOf(t, "provider", p))))
	for recorded.head = 100; recorded.head < recorded.Head; recorded.head++ { // some of these have filters with bits
		must.Get(c.Head(t.Context()))(t)
	}
	clear(p.calls)
	events, err := c.Events(t.Context(), 0, 200)
	if err != nil || len(events) == 0 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	txs := map[chain.TxHash]bool{}
	for _, e := range events {
		txs[e.At.Tx] = true
	}
	// A list as long as the longest one is held against its halves.
	if want := map[string]int{"eth_getLogs": 3, "eth_getBlockByNumber": 3, "eth_getTransactionReceipt": len(txs)}; !maps.Equal(p.calls, want) {
		t.Errorf("reading 201 blocks took %v, want %v", p.calls, want)
	}
	clear(p.calls)
	verdict, err := c.Verify(t.Context(), 0, 200, events)
	if err != nil || len(verdict.Events) != len(events) || len(verdict.Wrong) > 0 {
		t.Errorf("Verify() = %d events, %v, %v, want the same %d", len(verdict.Events), verdict.Wrong, err, len(events))
	}
	if want := map[string]int{"eth_getLogs": 3, "eth_getBlockByNumber": 3}; !maps.Equal(p.calls, want) {
		t.Errorf("proving 201 blocks took %v, want %v", p.calls, want)
	}
}
