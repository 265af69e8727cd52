package index

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// dated is a clockwork whose blocks have the times at which they were made, and which counts what it is asked.
type dated struct {
	*clockwork
	calls atomic.Int64
}

func (d *dated) date(b order.Block) order.Block {
	b.Time = uint64(d.start.Add(time.Duration(int64(b.Number)-int64(d.first)) * d.every).Unix())
	return b
}

func (d *dated) Head(ctx context.Context) (order.Head, error) {
	d.calls.Add(1)
	head, err := d.clockwork.Head(ctx)
	head.Latest = d.date(head.Latest)
	return head, err
}

func (d *dated) Block(ctx context.Context, number uint64) (order.Block, error) {
	d.calls.Add(1)
	b, err := d.clockwork.Block(ctx, number)
	return d.date(b), err
}

func (d *dated) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	d.calls.Add(1)
	return d.clockwork.Events(ctx, from, to)
}

// TestReplicasThatWatchAskLittle follows a chain with 12 s blocks that nobody asks about for an hour of the bubble's clock.
// Two others watch it as replicas do that did not get the lease, on the same store.
func TestReplicasThatWatchAskLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, start := openStore(t), time.Now()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var running sync.WaitGroup
		var sources []*dated
		for i := range 3 {
			source := &dated{clockwork: &clockwork{id: 1, start: start, first: 10_000, last: 1 << 40, every: 12 * time.Second}}
			chains := chain.NewRegistry(chain.Chain{ID: 1, Family: chain.EVM, BlockTime: source.every})
			f := New(db, map[chain.ID]order.Source{1: source}, quietly(Options{Chains: chains, Lookback: 10})).followers[0]
			f.demand.orders.Store(0) // of the start, when everything counts as asked about
			sources = append(sources, source)
			running.Go(func() {
				if i == 0 {
					f.run(ctx)
					return
				}
				for f.watchFor(ctx) {
				}
			})
		}
		time.Sleep(time.Hour)
		stop()
		running.Wait()
		follows, watch, other := sources[0].calls.Load(), sources[1].calls.Load(), sources[2].calls.Load()
		t.Logf("%d calls an hour of the replica that follows, %d and %d of those that watch", follows, watch, other)
		if watch == 0 || watch+other > follows/2 {
			t.Errorf("those that watch asked %d and %d times, want half of the %d of the one that follows at most", watch, other, follows)
		}
	})
}
