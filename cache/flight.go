package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"crossgate/cache/shared"
)

// flight is one load under way. Its result is read after done is closed.
type flight[V any] struct {
	flown[V]
	key     Key
	number  uint64 // of the last purge before it began
	done    chan struct{}
	entry   entry[V]
	outcome Outcome
	remote  bool // the shared level had it
	failure error
	err     error
	lock    *shared.FillLock // the fill lock of the shared cache; nil: none
}

// flown is what a flight is for.
type flown[V any] struct {
	load     Load[V]
	isShared bool        // by way of the shared level
	want     shared.Want // from there
	inTurn   bool        // with few others, or not at all
}

// mostTurns is how many values are loaded again at a time after everything was purged at once. Each is followed by a rest
// as long as it took. Until their turn comes they are served as they are: most of the processors are left to those who ask
// for anything else.
func mostTurns() int { return max(runtime.GOMAXPROCS(0)/2, 1) }

// PanicError is a panic of a load, as the error that everybody who waits for it gets.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("load panicked: %v", e.Value) }

// errExited says that a load ended its goroutine (runtime.Goexit) instead of returning.
var errExited = errors.New("load exited without an answer")

// join returns the flight for key: the one under way, or a new one. Who comes after a purge does not share a load
// that began before it.
func (c *Cache[V]) join(ctx context.Context, key Key, how flown[V]) (f *flight[V], shared bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	number := c.purges.newest.Load()
	if f, underway := c.flights[key]; underway && f.number == number {
		return f, true
	}
	if c.closed {
		return landed(Result[V]{}, ErrClosed), false
	}
	// Checked again under the lock: the flight that this call waited to start may just have landed.
	if kept, _ := c.lookup(key); kept.Outcome == Hit {
		return landed(kept, nil), true
	}
	if c.options.MaxLoads > 0 && len(c.flights) >= c.options.MaxLoads {
		c.counts.shed.Add(1)
		return landed(Result[V]{}, ErrBusy), false
	}
	if how.inTurn {
		if c.turns >= mostTurns() {
			return landed(Result[V]{}, ErrBusy), false
		}
		c.turns++
	}
	f = &flight[V]{flown: how, done: make(chan struct{}), err: errExited, key: key, number: number}
	c.flights[key] = f
	c.landed.Add(1)
	go c.fly(context.WithoutCancel(ctx), f)
	return f, false
}

// fly makes the result of a flight and lands it.
func (c *Cache[V]) fly(ctx context.Context, f *flight[V]) {
	defer c.landed.Done()
	defer c.yield(f, time.Now())
	defer func() {
		if recovered := recover(); recovered != nil {
			f.err = &PanicError{Value: recovered, Stack: debug.Stack()}
		}
		c.land(ctx, f)
	}()
	limited, cancel := context.WithTimeout(ctx, c.options.LoadLimit)
	defer cancel()
	if f.isShared {
		c.obtain(limited, f)
		return
	}
	c.load(limited, f)
}

func (c *Cache[V]) load(ctx context.Context, f *flight[V]) {
	c.counts.loads.Add(1)
	f.entry = entry[V]{key: f.key, number: f.number}
	f.entry.value, f.entry.life, f.err = f.flown.load(ctx)
	f.entry.loaded = time.Now()
}

// land gives everybody who waits the value before the store has it, and only then the flight leaves: a call in between
// joins it instead of loading again. After an error it leaves first. Other replicas come last.
func (c *Cache[V]) land(ctx context.Context, f *flight[V]) {
	if f.err != nil {
		c.counts.failed.Add(1)
		c.postpone(f.key)
		c.leave(f)
		close(f.done)
		c.share(ctx, f)
		return
	}
	if c.options.Tags != nil {
		f.entry.tags = c.options.Tags(f.entry.value)
	}
	close(f.done)
	c.keep(f.entry)
	c.leave(f)
	c.share(ctx, f)
	if f.outcome == Stale {
		c.join(ctx, f.key, flown[V]{load: f.flown.load, isShared: true, want: shared.Fresh})
	}
}

func (c *Cache[V]) leave(f *flight[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[f.key] == f {
		delete(c.flights, f.key)
	}
}

// yield gives up the turn of a flight that had one, after a rest.
func (c *Cache[V]) yield(f *flight[V], began time.Time) {
	if !f.inTurn {
		return
	}
	time.AfterFunc(time.Since(began), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.turns--
	})
}

// wait returns the flight's result, or ctx's error when that ends first.
func (f *flight[V]) wait(ctx context.Context) (Result[V], error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		// Both may be ready; an answer that is there is given.
		select {
		case <-f.done:
		default:
			return Result[V]{}, context.Cause(ctx)
		}
	}
	result := Result[V]{Value: f.entry.value, Life: f.entry.life, Outcome: f.outcome, Remote: f.remote, Failure: f.failure}
	if f.remote {
		result.Age = time.Since(f.entry.loaded)
	}
	return result, f.err
}

// landed is a flight that was over before it began.
func landed[V any](kept Result[V], err error) *flight[V] {
	f := &flight[V]{done: make(chan struct{}), entry: entry[V]{value: kept.Value, life: kept.Life}, err: err}
	close(f.done)
	return f
}
