package solana_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"testing"

	"crossgate/internal/must"
	"crossgate/order"
)

var blockhashes = regexp.MustCompile(`"blockhash":"[^"]*"`)

// TestNodeOfAnotherBranchIsNotUsed has a first node that has other blocks in all slots.
func TestNodeOfAnotherBranchIsNotUsed(t *testing.T) {
	w := newWorld(t)
	w.Mine(100)
	forked := liar{w, "getBlock", func(result json.RawMessage) json.RawMessage {
		return blockhashes.ReplaceAll(result, []byte(`"blockhash":"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"`))
	}}
	anchor := must.Get(w.chain().Block(t.Context(), w.Head()-40))(w.t)
	newest := must.Get(w.chain().Block(t.Context(), w.Head()))(w.t)
	c := w.chain(forked)
	told := c.Testify(t.Context(), anchor.Number, 2)
	if len(told) != 2 || told["node-0"].Hash == told["node-1"].Hash || told["node-1"] != anchor {
		t.Fatalf("Testify = %+v, want two blocks, node-1's %+v", told, anchor)
	}
	if got, err := c.Block(t.Context(), w.Head()); err != nil || got.Hash == newest.Hash {
		t.Fatalf("Block = %+v, %v without an anchor, so that nothing is shown", got, err)
	}
	c.Anchor(anchor, true)
	if got, err := c.Block(t.Context(), w.Head()); err != nil || got != newest {
		t.Errorf("Block = %+v, %v, want %+v", got, err, newest)
	}
	alone := w.chainOver(forked)
	alone.Anchor(anchor, true)
	if got, err := alone.Head(t.Context()); !errors.Is(err, order.ErrOtherBranch) {
		t.Errorf("Head of a node of another branch alone = %+v, %v", got, err)
	}
	cause := errors.New("two branches")
	c.Suspend(cause)
	if _, err := c.Head(t.Context()); !errors.Is(err, cause) {
		t.Errorf("Head = %v, want why the chain is suspended", err)
	}
}
