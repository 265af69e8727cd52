package query

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
)

// crier is an announcer that announces and fails as a test tells it to.
type crier struct {
	heads chan order.Block
	lost  chan error
	calls atomic.Int64 // of announce
}

func (c *crier) announce(ctx context.Context, announce func(order.Block)) error {
	c.calls.Add(1)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.lost:
			return err
		case head := <-c.heads:
			announce(head)
		}
	}
}

func newestOf(t *testing.T, l *testChain) order.Block {
	t.Helper()
	head := must.Get(l.Head(t.Context()))(t)
	return head.Latest
}

// announcing follows a chain with a block every 12 s, whose orders are asked for, with one announcer, while during
// runs. That is called once the chain is level and its newest block was announced.
func announcing(t *testing.T, during func(t *testing.T, x *Index, l *testChain, c *crier)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, c := newTestChain(1), &crier{heads: make(chan order.Block), lost: make(chan error)}
		l.mine()
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: l}, quietly(follow.Options{
			Chains:     chain.NewRegistry(chain.Chain{ID: 1, Family: chain.EVM, BlockTime: 12 * time.Second}),
			Announcers: map[chain.ID][]follow.Announcer{1: {c.announce}}, Pace: follow.Pace{Asked: 2 * time.Second},
		}))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- x.Run(ctx) }()
		<-time.After(11 * time.Second) // one second after a look
		c.heads <- newestOf(t, l)
		during(t, x, l, c)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// looks returns how often a chain's head was requested within a time.
func looks(l *testChain, within time.Duration) int {
	before := l.times("Head")
	<-time.After(within)
	return l.times("Head") - before
}

func TestAnAnnouncedHeadIsLookedAtAtOnce(t *testing.T) {
	announcing(t, func(t *testing.T, x *Index, l *testChain, c *crier) {
		if n := looks(l, 12*time.Second); n > 1 {
			t.Errorf("%d looks at a chain with nothing new in 12 s, want 1 at most", n)
		}
		if !x.Of(1).Covers(1_000_005) {
			t.Error("the store is not believed to hold all events, though no block was announced that it lacks")
		}
		l.mine()
		c.heads <- newestOf(t, l)
		<-time.After(time.Millisecond)
		if got := lagOf(x, 1).Indexed; got != 2 {
			t.Errorf("a millisecond after block 2 was announced block %d is the newest that was read", got)
		}
	})
}

func TestAChainIsAskedAgainWhenNobodyAnnounces(t *testing.T) {
	announcing(t, func(t *testing.T, x *Index, l *testChain, c *crier) {
		synctest.Wait()
		if told := x.Announced()[1]; told != (follow.Announced{Endpoints: 1, Connections: 1, Newest: 1}) {
			t.Errorf("announced are %+v, want block 1 by one connection", told)
		}
		c.lost <- errors.New("connection broke")
		if n := looks(l, 20*time.Second); n < 9 {
			t.Errorf("%d looks in 20 s after the announcer was lost, want one in 2 s", n)
		}
		if told := x.Announced()[1]; told != (follow.Announced{Endpoints: 1}) {
			t.Errorf("after the connection was lost announced are %+v, want nothing", told)
		}
		if n := c.calls.Load(); n != 2 {
			t.Errorf("%d connections in 20 s after the first was lost, want another one", n)
		}
		c.heads <- newestOf(t, l)
		if n := looks(l, 12*time.Second); n > 1 {
			t.Errorf("%d looks in 12 s after heads are announced again, want 1 at most", n)
		}
	})
}

func TestASilentAnnouncerIsNotTrustedForLong(t *testing.T) {
	announcing(t, func(t *testing.T, x *Index, l *testChain, _ *crier) {
		l.mine() // unannounced
		<-time.After(15 * time.Second)
		if got := lagOf(x, 1).Indexed; got != 2 {
			t.Errorf("15 s after block 2, which nobody announced, block %d is the newest that was read", got)
		}
		if n := looks(l, 20*time.Second); n < 9 {
			t.Errorf("%d looks in 20 s when the chain is ahead of what is announced, want one in 2 s", n)
		}
	})
}

func TestAnAnnouncedHeadIsTrustedForThreeBlockTimes(t *testing.T) {
	announcing(t, func(t *testing.T, _ *Index, l *testChain, _ *crier) {
		if n := looks(l, 36*time.Second); n < 2 || n > 3 {
			t.Errorf("%d looks in three block times with nothing new, want one in 15 s", n)
		}
		if n := looks(l, 20*time.Second); n < 9 {
			t.Errorf("%d looks in 20 s after that, want one in 2 s", n)
		}
	})
}

func TestAnnouncedNonsenseChangesNothing(t *testing.T) {
	for name, head := range map[string]order.Block{
		"far ahead": {Number: 1 << 63, Hash: chain.Hash{1}}, "another branch": {Number: 1, Hash: chain.Hash{2}},
	} {
		t.Run(name, func(t *testing.T) {
			announcing(t, func(t *testing.T, x *Index, l *testChain, c *crier) {
				c.heads <- head
				if n := looks(l, 20*time.Second); n < 9 || n > 11 {
					t.Errorf("%d looks in 20 s, want one in 2 s", n)
				}
				if got := lagOf(x, 1); got.Indexed != 1 || got.Head != 1 {
					t.Errorf("read %+v, want block 1 as the chain says", got)
				}
			})
		})
	}
}

func TestPausesBetweenLostConnectionsGrow(t *testing.T) {
	announcing(t, func(t *testing.T, _ *Index, _ *testChain, c *crier) {
		begun := time.Now()
		for range 6 {
			c.lost <- errors.New("connection broke")
		}
		// The sixth came after pauses of 1, 2, 4, 8 and 16 s, each up to half as long again.
		if took := time.Since(begun); took < 31*time.Second || took > 47*time.Second {
			t.Errorf("six connections were lost within %v, want 31 to 47 s", took)
		}
	})
}
