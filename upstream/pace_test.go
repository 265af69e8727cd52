package upstream_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

// TestPaceFollowsRefusals makes calls at a virtual clock: half as many a second after a refusal, more while they are
// answered, and any number again after a while.
func TestPaceFollowsRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p upstream.Pace
		take := func(calls int) time.Duration {
			began := time.Now()
			if _, ok, err := p.Take(t.Context(), calls); !ok || err != nil {
				t.Fatalf("Take() = %t, %v", ok, err)
			}
			return time.Since(began)
		}
		if took := take(8); took != 0 || p.IsSpent() || p.PerSecond() != 0 {
			t.Errorf("unknown: took %v, bound %g", took, p.PerSecond())
		}
		p.Refused(3 * time.Second)
		if p.PerSecond() != 4 || !p.IsSpent() {
			t.Errorf("after 8 calls in a second %g a second are made, want half of them", p.PerSecond())
		}
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if after, ok, err := p.Take(hurried, 1); ok || err != nil || after != 3*time.Second {
			t.Errorf("Take() without time = %v, %t, %v, want to retry after 3 s", after, ok, err)
		}
		if took := take(1); took != 3*time.Second {
			t.Errorf("the next call waited for %v, want 3 s", took)
		}
		take(1)
		if took := take(1); took != 250*time.Millisecond {
			t.Errorf("the one after it waited for %v, want a quarter of a second", took)
		}
		for range 8 {
			p.Accepted()
		}
		if p.PerSecond() != 5 {
			t.Errorf("after 8 answers %g a second are made, want 5", p.PerSecond())
		}
		time.Sleep(10 * time.Minute)
		if took := take(100); took != 0 || p.PerSecond() != 0 {
			t.Errorf("after ten minutes calls wait for %v, bound %g, want none", took, p.PerSecond())
		}
	})
}

// TestDeclaredPaceStays has refusals, answers and time change nothing.
func TestDeclaredPaceStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p upstream.Pace
		p.Declare(2)
		p.Recall(7, time.Now())
		p.Refused(0)
		for range 100 {
			p.Accepted()
		}
		time.Sleep(time.Hour)
		if p.PerSecond() != 2 || p.Changes() != 0 {
			t.Errorf("%g calls a second, changed %d times, want 2 and never", p.PerSecond(), p.Changes())
		}
	})
}

// TestPaceKeepsAShareForFollowing has callers make all calls of one kind that they can.
func TestPaceKeepsAShareForFollowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p upstream.Pace
		p.Declare(2)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		_, _, _ = p.Take(upstream.InBackground(ctx), 1)
		for range 20 {
			go func() {
				for ctx.Err() == nil {
					if _, ok, _ := p.Take(ctx, 1); !ok {
						time.Sleep(time.Millisecond) // one who comes again at once
					}
				}
			}()
		}
		for ctx.Err() == nil {
			began := time.Now()
			if _, _, err := p.Take(upstream.InBackground(ctx), 1); err == nil && time.Since(began) > 2*time.Second {
				t.Errorf("what follows the chain waited %v", time.Since(began))
			}
			time.Sleep(2 * time.Second)
		}
	})
}
