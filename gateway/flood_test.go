// The race detector of Go 1.26 crashes now and then where many processors run the timers of one bubble.

//go:build !race

package gateway

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
	"crossgate/upstream"
)

// TestUnknownHashesHoldUpNoChain floods an index of all chains of the default configuration, none of them indexed from
// its beginning, with hashes that no chain knows: for a while, or with CROSSGATE_FLOOD from 60 clients for two minutes.
// Each chain is followed nevertheless, no endpoint is asked more than its rate allows, and a search that cannot be made
// is refused immediately.
func TestUnknownHashesHoldUpNoChain(t *testing.T) {
	clients, lasts := 20, 15*time.Second
	if os.Getenv("CROSSGATE_FLOOD") != "" {
		clients, lasts = 60, 2*time.Minute
	}
	onVirtualClock(t, func(t *testing.T, db *store.DB, c config.Config, o follow.Options) {
		chains, sources := map[chain.ID]*calm{}, map[chain.ID]order.Source{}
		for _, own := range c.Chains {
			chains[own.ID] = newCalm(c, own.ID)
			chains[own.ID].meters = []*meter{}
			sources[own.ID] = chains[own.ID].source(t, c, own)
		}
		o.Lookback = 100
		x := index(follow.New(db, sources, o), c.Index)
		stop := settled(t, x, 2*time.Minute, chains)
		defer stop()
		all := slices.Collect(maps.Keys(chains))
		quiet := askAround(x, chains, all, time.Minute)
		var flood sync.WaitGroup
		var mu sync.Mutex
		outcomes, slowest := map[string]int{}, time.Duration(0)
		for client := range clients {
			flood.Go(func() {
				for i := range int(7 * lasts.Seconds()) {
					began := time.Now()
					outcome := search(t, x, uint64(client)<<32|uint64(i))
					took := time.Since(began)
					mu.Lock()
					outcomes[outcome]++
					slowest = max(slowest, took)
					mu.Unlock()
					time.Sleep(time.Second/7 - took)
				}
			})
		}
		ages := askAround(x, chains, all, lasts-10*time.Second)
		flood.Wait()
		t.Logf("%v; the slowest after %v", outcomes, slowest)
		if slowest > 100*time.Millisecond || outcomes["shed"] == 0 || outcomes["not found"] == 0 {
			t.Errorf("%v; the slowest after %v, want some searches made, and others refused at once", outcomes, slowest)
		}
		for id := range chains {
			// A poll of some chains with quick blocks takes more than five calls a second, with and without a flood.
			before, limit := slices.Max(quiet[id]), 2*chains[id].chain.BlockTime+2*time.Second
			if worst := slices.Max(ages[id]); worst > max(limit, before+2*time.Second) {
				t.Errorf("chain %d was indexed up to a block that was %v old, %v before the flood: want %v", id, worst, before, limit)
			}
			for _, m := range chains[id].meters {
				if m.over > 0 {
					t.Errorf("chain %d: %d calls of %d were more than the rate of %s allows", id, m.over, m.calls, m.name)
				}
			}
		}
	})
}

// search looks up a hash that no chain knows.
func search(t *testing.T, x *query.Index, number uint64) (outcome string) {
	var raw [32]byte
	binary.BigEndian.PutUint64(raw[:], number+1)
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	_, _, err := x.Find(ctx, chain.NewTxHash(raw[:]))
	short := errors.As(err, new(*query.UnheardError)) && upstream.IsShort(err)
	switch {
	case errors.Is(err, order.ErrNotFound):
		return "not found"
	case short, errors.As(err, new(*query.BusyError)):
		return "shed"
	}
	return err.Error()
}
