package solana_test

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/sandbox/jsonrpc"
	"crossgate/upstream/solana"
)

// TestHistoryReachOfNodesIsKnown has a node that dropped old blocks say so of one: it is asked for what is half as old
// at most from then on. That a slot was skipped, which every node says, teaches nothing.
func TestHistoryReachOfNodesIsKnown(t *testing.T) {
	const keeps = 150
	w := newWorld(t)
	w.Mine(400)
	first, refused := w.Head()-keeps, atomic.Int64{}
	recent := jsonrpc.Altered(w.Chain, func(call jsonrpc.Request, _ int) string {
		var slot uint64
		if call.Method != "getBlock" || json.Unmarshal(call.Params[0], &slot) != nil || slot >= first {
			return ""
		}
		refused.Add(1)
		return fmt.Sprintf(`"error":{"code":-32001,"message":"Block %d cleaned up, does not exist on node. First available block: %d"}`, slot, first)
	})
	known, _ := chain.Documented().Chain(chain.Solana)
	client := w.clientOver(recent, w)
	c := solana.New(known, client)
	must.Get(c.Head(t.Context()))(t)
	skipped := 0
	for slot := first; slot < w.Head()-70; slot++ {
		got := must.Get(c.Block(t.Context(), slot))(t)
		if got.Number != slot {
			skipped++
		}
	}
	if limits := client.Capabilities("node-0").Known(); skipped == 0 || len(limits.Depths) > 0 {
		t.Errorf("after %d skipped slots the known depths are %v, want none", skipped, limits.Depths)
	}
	old, err := c.Block(t.Context(), w.Head()-350)
	if err != nil || old.Number > w.Head()-350 {
		t.Errorf("Block(%d) = %+v, %v", w.Head()-350, old, err)
	}
	if limits := client.Capabilities("node-0").Known(); limits.Depths["blocks"] != 350/2 || refused.Load() != 1 {
		t.Errorf("known depths are %v after %d refusals, want %d blocks after one", limits.Depths, refused.Load(), 350/2)
	}
}
