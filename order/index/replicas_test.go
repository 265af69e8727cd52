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

// TestReplicasThatWatchAskLittle follows a chain with 12 s blocks that nobody asks about for an hour of the bubble's
// clock, alone and with two other replicas on one PostgreSQL.
func TestReplicasThatWatchAskLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("an hour of leases is some thousand transactions: run without -short")
	}
	const hour = time.Hour
	asked := func(replicas int) (all []int64) {
		url := newDatabase(t)
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var running sync.WaitGroup
			var sources []*dated
			for range replicas {
				source := &dated{clockwork: &clockwork{id: 1, start: start, first: 10_000, last: 1 << 40, every: 12 * time.Second}}
				chains := chain.NewRegistry(chain.Chain{ID: 1, Family: chain.EVM, BlockTime: source.every})
				x := New(openReplica(t, url), map[chain.ID]order.Source{1: source}, quietly(Options{Chains: chains, Lookback: 10}))
				x.followers[0].demand.orders.Store(0) // of the start, when everything counts as asked about
				sources = append(sources, source)
				running.Go(func() { x.followers[0].run(ctx) })
			}
			time.Sleep(hour)
			stop()
			running.Wait()
			for _, s := range sources {
				all = append(all, s.calls.Load())
			}
		})
		return all
	}
	alone, together := asked(1), asked(3)
	var sum, most int64
	for _, each := range together {
		sum, most = sum+each, max(most, each)
	}
	t.Logf("%d calls an hour of one replica; of three %v, %d of all", alone[0], together, sum)
	if most > 11*alone[0]/10 || sum > 3*alone[0]/2 {
		t.Errorf("three replicas asked %v times, want half as many again as one at most, which asked %d times", together, alone[0])
	}
}
