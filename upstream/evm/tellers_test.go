package evm_test

import (
	"slices"
	"testing"

	"crossgate/internal/must"
)

// TestTellersAreThoseWhoseWordWasTaken reads a transaction's events by its hash, lists them again with other blocks, and
// has the list verified.
func TestTellersAreThoseWhoseWordWasTaken(t *testing.T) {
	terms, _ := delivery()
	first, second := newNode(1000), newNode(1000)
	tx := first.add(t, 500, true, fulfilledLog(t, terms))
	second.add(t, 500, true, fulfilledLog(t, terms))
	c := serveAll(t, testChain, first, second)
	block := hash(t, blockHash(500))
	tellers := func() []string { return slices.Sorted(slices.Values(c.Tellers(tx, block))) }
	if got := tellers(); len(got) != 0 {
		t.Errorf("reported by %q before any was asked", got)
	}
	must.Get(c.EventsIn(t.Context(), tx))(t)
	if got := tellers(); len(got) != 1 {
		t.Errorf("reported by %q, want the one endpoint that gave the receipt", got)
	}
	events, err := c.Events(t.Context(), 400, 600)
	if err != nil || len(events) != 1 {
		t.Fatalf("Events() = %+v, %v", events, err)
	}
	must.Get(c.Verify(t.Context(), 400, 600, events))(t)
	if got := tellers(); !slices.Equal(got, []string{"node-1", "node-2"}) {
		t.Errorf("reported by %q after both readings", got)
	}
	if got := c.Tellers(tx, hash(t, blockHash(501))); len(got) != 0 {
		t.Errorf("reported in another block by %q", got)
	}
}
