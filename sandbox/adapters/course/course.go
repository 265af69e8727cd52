// Package course has the common parts of tests that follow a chain through random courses of bad providers until
// everything is proven, and then compare what was stored.
package course

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
)

// Seeds returns the number of random courses per kind of fault: CROSSGATE_SEEDS, which make soak sets to 20, or one.
func Seeds(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("CROSSGATE_SEEDS")
	if text == "" {
		return 1
	}
	return must.Get(strconv.ParseUint(text, 10, 64))(t)
}

// Before wraps a node with a function to call before each answer to a request that contains a text.
func Before(node http.Handler, text string, happens func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(text)) {
			happens()
		}
		node.ServeHTTP(w, r)
	})
}

// Follow lets an index follow chains until it is done. It returns the log, and an index of what was stored, which reads
// nothing more from the chains.
func Follow(t *testing.T, chains chain.Registry, sources map[chain.ID]order.Source, isDone func(*query.Index) bool) (said string, stored *query.Index) {
	t.Helper()
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	var log bytes.Buffer
	x := query.New(follow.New(db, sources, follow.Options{
		Chains: chains, Pace: follow.Pace{Asked: time.Millisecond}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}), query.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	until(t, func() bool { return isDone(x) })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	silent := map[chain.ID]order.Source{}
	for id, source := range sources {
		silent[id] = struct{ order.Source }{source}
	}
	return log.String(), query.New(follow.New(db, silent, follow.Options{Chains: chains}), query.Options{})
}

// until waits for a condition that other goroutines bring about.
func until(t *testing.T, holds func() bool) {
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

// lockedFor returns the orders that an index reports as locked for a taker.
func lockedFor(t *testing.T, x *query.Index, taker chain.Address) (ids []order.ID) {
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

// Compare compares the states that an index has stored with what happened, and what is locked for a taker with the
// orders in the given states.
func Compare(t *testing.T, x *query.Index, taker chain.Address, happened map[order.ID][]order.Event, lockedIn ...order.State) {
	t.Helper()
	wrong, locked, told := 0, 0, lockedFor(t, x, taker)
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
