package solana_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"crossgate/chain"
	"crossgate/upstream/solana"
)

// recentNode answers as the ledger's node does that has dropped the blocks before a slot.
type recentNode struct {
	world   *world
	first   uint64
	refused atomic.Int64
}

func (n *recentNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the client asks again
	isBatch := body[0] == '['
	if !isBatch {
		body = fmt.Appendf(nil, "[%s]", body)
	}
	var calls []json.RawMessage
	if err := json.Unmarshal(body, &calls); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	replies := make([]string, len(calls))
	for i, call := range calls {
		told := httptest.NewRecorder()
		r.Body = io.NopCloser(bytes.NewReader(call))
		n.world.Chain.ServeHTTP(told, r)
		replies[i] = told.Body.String()
		var read struct {
			ID     json.RawMessage
			Method string
			Params []json.RawMessage
		}
		var slot uint64
		if json.Unmarshal(call, &read) == nil && read.Method == "getBlock" && json.Unmarshal(read.Params[0], &slot) == nil && slot < n.first {
			n.refused.Add(1)
			replies[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Block %d cleaned up, does not exist on node. First available block: %d"}}`,
				read.ID, slot, n.first)
		}
	}
	text := strings.Join(replies, ",")
	if isBatch {
		text = "[" + text + "]"
	}
	_, _ = io.WriteString(w, text) // the client asks again
}

// TestHistoryReachOfNodesIsKnown has a node that dropped old blocks say so of one: that it keeps the newest 150 slots is
// known from then on. That a slot was skipped, which every node says, teaches nothing.
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
	if limits, _ := client.Capabilities("node-0").Known(); limits.Depths["blocks"] != keeps || recent.refused.Load() != 1 {
		t.Errorf("known depths are %v after %d refusals, want %d blocks after one", limits.Depths, recent.refused.Load(), keeps)
	}
}
