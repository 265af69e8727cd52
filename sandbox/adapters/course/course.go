// Package course is what tests have in common that follow a chain through random courses of bad providers, until
// everything is proven, and compare what was stored then.
package course

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
)

// Seeds is how many random courses each kind of fault takes: CROSSGATE_SEEDS, or one; make soak has it be twenty.
func Seeds(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("CROSSGATE_SEEDS")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Run runs an index until stop.
func Run(t *testing.T, x *query.Index) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Until returns when a condition holds, which other goroutines bring about.
func Until(t *testing.T, holds func() bool) {
	t.Helper()
	ticks := time.NewTicker(2 * time.Millisecond)
	defer ticks.Stop()
	for !holds() {
		select {
		case <-ticks.C:
		case <-t.Context().Done():
			t.Fatal("never")
		}
	}
}

// Locked lists the orders that an index tells to be locked for a taker.
func Locked(t *testing.T, x *query.Index, taker chain.Address) (ids []order.ID) {
	t.Helper()
	totals, _, err := x.Locked(t.Context(), taker)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range totals {
		for _, token := range each.Tokens {
			for _, target := range token.Targets {
				ids = append(ids, target.Orders...)
			}
		}
	}
	return ids
}

// Compare holds the states that an index has stored against what happened, and what is locked for a taker: the orders
// in some states.
func Compare(t *testing.T, x *query.Index, taker chain.Address, happened map[order.ID][]order.Event, lockedIn ...order.State) {
	t.Helper()
	wrong, locked, told := 0, 0, Locked(t, x, taker)
	for id, events := range happened {
		want, isCreated := order.Fold(events)
		if !isCreated {
			continue
		}
		if got, err := x.ByID(t.Context(), id); err != nil || got.State != want.State || got.Call != want.Call {
			wrong++
			t.Logf("order %s = %+v, %v, want %v", id, got, err, want.State)
		}
		if slices.Contains(lockedIn, want.State) {
			if locked++; !slices.Contains(told, id) {
				t.Errorf("order %s is missing from what is locked", id)
			}
		}
	}
	if wrong > 0 || len(told) != locked || locked == 0 {
		t.Errorf("%d of %d states wrong; %d orders are said to be locked, %d are", wrong, len(happened), len(told), locked)
	}
}
