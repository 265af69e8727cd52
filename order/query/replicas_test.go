package query

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
)

// dated is a clockwork whose blocks have the time at which they appear, and which counts calls.
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

// reached is the newest block that the replica knows to be stored.
func reached(f *follow.Follower) uint64 {
	return f.State().Position.Block
}

// learn waits until each replica has learned as many times that later blocks are stored.
func learn(t *testing.T, replicas []*follow.Follower, times int) {
	t.Helper()
	learned, seen := make([]int, len(replicas)), make([]uint64, len(replicas))
	must.Await(t, "all to know how far the chain is stored", func() bool {
		for i, f := range replicas {
			if now := reached(f); now > seen[i] {
				seen[i] = now
				learned[i]++
			}
		}
		return slices.Min(learned) >= times
	})
}

// TestReplicasOnPostgresAskLittle lets three replicas with leases and a real server follow a chain that is not asked
// about, with a block every 50 ms: one follows it; the others read it once, and from then on learn its progress from
// the database. When the first one leaves, another takes over.
func TestReplicasOnPostgresAskLittle(t *testing.T) {
	t.Parallel()
	const every = 50 * time.Millisecond
	url, start := newDatabase(t), time.Now()
	replicas, sources, stops := make([]*follow.Follower, 3), make([]*dated, 3), make([]func(), 3)
	for i := range replicas {
		sources[i] = &dated{clockwork: &clockwork{id: 1, start: start, first: 10_000, last: 1 << 40, every: every}}
		x := newIndex(openReplica(t, url), map[chain.ID]order.Source{1: sources[i]}, quietly(follow.Options{
			// Watchers doubt the leader only if blocks get older than this.
			Chains:   chain.NewRegistry(chain.Chain{ID: 1, Family: chain.EVM, BlockTime: time.Minute}),
			Pace:     follow.Pace{Asked: every, Listed: every, Idle: every},
			Lookback: 10,
		}))
		replicas[i] = x.Followers[0]
		replicas[i].Demand.Orders.Store(0) // at first everything counts as asked about
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			replicas[i].Run(ctx)
		}()
		stops[i] = func() { cancel(); <-ended }
		t.Cleanup(stops[i])
	}
	leader := func() int {
		return slices.IndexFunc(replicas, func(f *follow.Follower) bool { return f.Leading.Load() == 1 })
	}
	must.Await(t, "a leader", func() bool { return leader() >= 0 && reached(replicas[leader()]) > 0 })
	first := leader()
	learn(t, replicas, 2) // including each replica's first look
	before, began := make([]int64, len(replicas)), reached(replicas[first])
	for i, source := range sources {
		before[i] = source.calls.Load()
	}
	learn(t, replicas, 2)
	blocks := reached(replicas[first]) - began
	for i, source := range sources {
		calls := source.calls.Load() - before[i]
		t.Logf("replica %d of which number %d follows: %d calls in %d blocks, %d at first", i, first, calls, blocks, before[i])
		if isIdle := calls == 0; isIdle != (i != first) {
			t.Errorf("replica %d of which number %d follows made %d calls in %d blocks", i, first, calls, blocks)
		}
	}
	stops[first]()
	left := reached(replicas[first])
	must.Await(t, "another leader", func() bool {
		next := leader()
		return next >= 0 && next != first && reached(replicas[next]) > left
	})
}
