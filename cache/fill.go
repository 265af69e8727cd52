package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"crossgate/cache/shared"
)

// fill is one load in flight, for all who wait for it. Its result may be read once done is closed.
type fill[V any] struct {
	fillOptions[V]
	key     Key
	number  uint64 // of the last purge before it began
	began   time.Time
	done    chan struct{}
	entry   entry[V]
	outcome Outcome
	remote  bool // the shared level had it
	failure error
	err     error
	lock    *shared.FillLock // the shared cache's fill lock; nil if not held
}

type fillOptions[V any] struct {
	load     Load[V]
	isShared bool        // through the shared level
	want     shared.Want // how old a value from there may be
}

// errExited means that a load ended its goroutine (runtime.Goexit) instead of returning.
var errExited = errors.New("load exited without a result")

// join returns the fill of key in flight since the last purge, or a new one.
func (c *Cache[V]) join(ctx context.Context, key Key, how fillOptions[V]) (f *fill[V], joined bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	number := c.purges.newest.Load()
	if f, underway := c.fills[key]; underway && f.number == number {
		return f, true
	}
	if c.closed {
		return completed(Result[V]{}, ErrClosed), false
	}
	// Checked again under the lock: an earlier fill may just have completed.
	if kept, _ := c.lookup(key); kept.Outcome == Hit {
		return completed(kept, nil), true
	}
	if c.maxLoads > 0 && len(c.fills) >= c.maxLoads {
		c.counts.shed.Add(1)
		return completed(Result[V]{}, ErrBusy), false
	}
	f = &fill[V]{fillOptions: how, done: make(chan struct{}), err: errExited, key: key, number: number, began: time.Now()}
	c.fills[key] = f
	c.running.Add(1)
	go c.run(context.WithoutCancel(ctx), f)
	return f, false
}

func (c *Cache[V]) run(ctx context.Context, f *fill[V]) {
	defer c.running.Done()
	defer func() {
		if recovered := recover(); recovered != nil {
			f.err = fmt.Errorf("load panicked: %v\n%s", recovered, debug.Stack())
		}
		c.complete(ctx, f)
	}()
	limited, cancel := context.WithTimeout(ctx, c.options.LoadLimit)
	defer cancel()
	if f.isShared {
		c.obtain(limited, f)
		return
	}
	c.load(limited, f)
}

func (c *Cache[V]) load(ctx context.Context, f *fill[V]) {
	c.counts.loads.Add(1)
	f.entry = entry[V]{key: f.key, number: f.number}
	f.entry.value, f.entry.life, f.err = f.fillOptions.load(ctx)
	f.entry.loaded = time.Now()
}

// complete publishes the value to all waiters before the store has it, and only then removes the fill: a call in
// between joins it instead of loading again. After an error, or if the value is not cached, the fill is removed first,
// so that no later caller gets it. Other replicas come last.
func (c *Cache[V]) complete(ctx context.Context, f *fill[V]) {
	if f.err != nil {
		c.counts.failed.Add(1)
		c.postpone(f.key)
	} else if c.options.Tags != nil {
		f.entry.tags = c.options.Tags(f.entry.value)
	}
	if f.err != nil || f.entry.life.whole() == 0 {
		c.forget(f)
		close(f.done)
	} else {
		close(f.done)
		c.keep(f.entry)
		c.forget(f)
	}
	c.share(ctx, f)
	if f.err == nil && f.outcome == Stale {
		c.join(ctx, f.key, fillOptions[V]{load: f.fillOptions.load, isShared: true, want: shared.Fresh})
	}
}

func (c *Cache[V]) forget(f *fill[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fills[f.key] == f {
		delete(c.fills, f.key)
	}
}

// waitBeside returns the fill's result, or ctx's error when that ends first. It waits no longer than lateAfter where an
// old value is kept: errLate then.
func (f *fill[V]) waitBeside(ctx context.Context, kept Result[V]) (Result[V], error) {
	if kept.Outcome == StaleIfError {
		limited, cancel := context.WithDeadlineCause(ctx, f.began.Add(lateAfter), errLate)
		defer cancel()
		ctx = limited
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		// Both may be ready; then the result counts.
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

// completed returns a fill that needs no load.
func completed[V any](kept Result[V], err error) *fill[V] {
	f := &fill[V]{done: make(chan struct{}), entry: entry[V]{value: kept.Value, life: kept.Life}, err: err}
	close(f.done)
	return f
}
