package query

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
)

// TestOrdersOfUnknownChainsAreLoggedOnce has orders name chains that are not known: some before the index runs, one after.
func TestOrdersOfUnknownChainsAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		give, store := newTestChain(1), openStore(t)
		give.mine([]told{newDeal(1, 1, 4_000_000_000).created()}, []told{newDeal(2, 1, 4_000_000_000).created()}, []told{newDeal(3, 1, 137).created()})
		catchUp(t, newFollower(store, 1, give, quietly(follow.Options{Chains: chain.Documented()})))
		var log bytes.Buffer
		x := newIndex(store, map[chain.ID]order.Source{1: give}, follow.Options{Chains: chain.Documented(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan error)
		go func() { running <- x.Run(ctx) }()
		time.Sleep(time.Minute)
		if diff := cmp.Diff(map[chain.ID]uint64{4_000_000_000: 2}, x.UnknownChains()); diff != "" {
			t.Errorf("unknown chains at the start (-want +got):\n%s", diff)
		}
		give.mine([]told{newDeal(4, 1, 4_000_000_001).created()})
		time.Sleep(time.Hour)
		if diff := cmp.Diff(map[chain.ID]uint64{4_000_000_000: 2, 4_000_000_001: 1}, x.UnknownChains()); diff != "" {
			t.Errorf("unknown chains after another order (-want +got):\n%s", diff)
		}
		stop()
		if err := <-running; err != nil {
			t.Error(err)
		}
		for id, want := range map[string]int{"chain=4000000000": 1, "chain=4000000001": 1, "chain=137": 0} {
			if got := strings.Count(log.String(), id); got != want {
				t.Errorf("%s was logged %d times, want %d: %s", id, got, want, log.String())
			}
		}
	})
}
