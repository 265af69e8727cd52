package solana_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"crossgate/chain"
	"crossgate/sandbox/jsonrpc"
	"crossgate/upstream/solana"
)

// recentNode answers as the ledger's node does that has dropped the blocks before a slot.
type recentNode struct {
	world   *world
	first   uint64
	refused atomic.Int64
}

func (n *recentNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	jsonrpc.Each(w, r, mostBytes, func(one *http.Request, call jsonrpc.Request, _ int) *jsonrpc.Recorder {
		var slot uint64
		if call.Method != "getBlock" || json.Unmarshal(call.Params[0], &slot) != nil || slot >= n.first {
			return jsonrpc.Record(n.world.Chain, one)
		}
		n.refused.Add(1)
		return jsonrpc.Answer(call, fmt.Sprintf(
			`"error":{"code":-32001,"message":"Block %d cleaned up, does not exist on node. First available block: %d"}`, slot, n.first))
	})
}

// TestHistoryReachOfNodesIsKnown has a node that dropped old blocks say so of one: it is asked for what is half as old
// at most from then on. That a slot was skipped, which every node says, teaches nothing.
func TestHistoryReachOfNodesIsKnown(t *testing.T) {
	const keeps = 150
	w := newWorld(t)
	w.Mine(400)
	recent := &recentNode{world: w, first: w.Head() - keeps}
	known, _ := chain.Documented().Chain(chain.Solana)
	client := w.clientOver(recent, w)
	c := solana.New(known, client)
	if _, err := c.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for slot := recent.first; slot < w.Head()-70; slot++ {
		got, err := c.Block(t.Context(), slot)
		if err != nil {
			t.Fatal(err)
		}
		if got.Number != slot {
			skipped++
		}
	}
	if limits, _ := client.Capabilities("node-0").Known(); skipped == 0 || len(limits.Depths) > 0 {
		t.Errorf("after %d skipped slots the known depths are %v, want none", skipped, limits.Depths)
	}
	old, err := c.Block(t.Context(), w.Head()-350)
	if err != nil || old.Number > w.Head()-350 {
		t.Errorf("Block(%d) = %+v, %v", w.Head()-350, old, err)
	}
	if limits, _ := client.Capabilities("node-0").Known(); limits.Depths["blocks"] != 350/2 || recent.refused.Load() != 1 {
		t.Errorf("known depths are %v after %d refusals, want %d blocks after one", limits.Depths, recent.refused.Load(), 350/2)
	}
}
