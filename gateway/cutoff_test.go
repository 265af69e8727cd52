package gateway

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"crossgate/cache/shared"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// pairOnOneCache returns two gateways that share through a cache whether they reach the database, which is away from
// those set in away.
func pairOnOneCache(t *testing.T, away *[2]bool) (gateways [2]*cutOff) {
	t.Helper()
	server := redistest.Serve(t)
	for i := range gateways {
		made := must.Get(shared.New(shared.Options{URL: server.URL(), Timeout: 20 * time.Second, Silence: time.Minute}))(t)
		gateways[i] = &cutOff{shared: made, available: func() error {
			if away[i] {
				return errors.New("no answer")
			}
			return nil
		}}
		connect(t, made)
	}
	return gateways
}

// connect runs a shared cache until the test ends, and waits until it is connected.
func connect(t *testing.T, c *shared.Cache) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	for deadline := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
		if state, ok := c.Status(); ok {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("waited a minute for a connection, now %s", state)
		}
	}
}

// TestReadinessDoesNotFlap interrupts the link from one of two gateways to the database repeatedly.
func TestReadinessDoesNotFlap(t *testing.T) {
	var away [2]bool
	gateways := pairOnOneCache(t, &away)
	const lacks = 'l'
	wasReady := true
	for _, step := range []struct {
		looks string
		turns int // of readiness
	}{
		{"h", 0},
		{"lllhlllhlllh", 0}, // never away long enough
		{"llll", 1},
		{"hhlhhlhl", 0}, // never back long enough
		{"hhh", 1},
		{"lllh", 0},
	} {
		turns := 0
		for _, look := range step.looks {
			away[0] = look == lacks
			gateways[1].look(t.Context())
			gateways[0].look(t.Context())
			if isReady := gateways[0].err() == nil; isReady != wasReady {
				wasReady = isReady
				turns++
			}
		}
		if turns != step.turns {
			t.Errorf("looks %s turned readiness %d times, want %d", step.looks, turns, step.turns)
		}
	}
}

// TestOnlyOneThatIsCutOffIsUnready lets two gateways lose the database, one after the other.
func TestOnlyOneThatIsCutOffIsUnready(t *testing.T) {
	var away [2]bool
	gateways := pairOnOneCache(t, &away)
	for i, step := range []struct {
		away, unready [2]bool
	}{
		{},
		{[2]bool{true, false}, [2]bool{true, false}},
		{[2]bool{false, false}, [2]bool{}},
		{[2]bool{false, true}, [2]bool{false, true}},
		{[2]bool{true, true}, [2]bool{}}, // the database is away
		{},
	} {
		away = step.away
		for range cutOffAfter {
			for _, g := range gateways {
				g.look(t.Context())
			}
		}
		for n, g := range gateways {
			if got := g.err() != nil; got != step.unready[n] {
				t.Errorf("step %d, without the database %v: gateway %d is cut off: %v, want %v", i, step.away, n, got, step.unready[n])
			}
		}
	}
	away = [2]bool{true, false}
	gateways[1].look(t.Context())
	for range cutOffAfter - 1 {
		gateways[0].look(t.Context())
	}
	if gateways[0].err() != nil {
		t.Error("a gateway is cut off before the others had time to notice an outage")
	}
}
