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

// TestOrdersOfUnknownChainsAreToldOnce has orders name a chain that nobody knows: some before the index runs, one after.
func TestOrdersOfUnknownChainsAreToldOnce(t *testing.T) {
	give, store := newTestChain(1), openStore(t)
	give.mine([]told{newDeal(1, 1, 4_000_000_000).created()}, []told{newDeal(2, 1, 4_000_000_000).created()}, []told{newDeal(3, 1, 137).created()})
	catchUp(t, follow.NewFollower(store, 1, give, quietly(follow.Options{Chains: chain.Documented()})))
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		x := newIndex(store, map[chain.ID]order.Source{1: give}, follow.Options{Chains: chain.Documented(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		running := make(chan struct{})
		go func() { defer close(running); x.Unknown.Run(ctx, x.store) }()
		synctest.Wait()
		if diff := cmp.Diff([]follow.UnknownChain{{Chain: 4_000_000_000, Orders: 2}}, x.UnknownChains()); diff != "" {
			t.Errorf("unknown chains at the start (-want +got):\n%s", diff)
		}
		give.mine([]told{newDeal(4, 1, 4_000_000_001).created()})
		catchUp(t, x.Followers[0])
		time.Sleep(follow.CountedEvery)
		synctest.Wait()
		if diff := cmp.Diff([]follow.UnknownChain{{Chain: 4_000_000_000, Orders: 2}, {Chain: 4_000_000_001, Orders: 1}}, x.UnknownChains()); diff != "" {
			t.Errorf("unknown chains after another order (-want +got):\n%s", diff)
		}
		stop()
		<-running
		for id, want := range map[string]int{"chain=4000000000": 1, "chain=4000000001": 1, "chain=137": 0} {
			if got := strings.Count(log.String(), id); got != want {
				t.Errorf("%s was logged %d times, want %d: %s", id, got, want, log.String())
			}
		}
	})
}
