package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// flight is one load under way. Its result is read after done is closed.
type flight[V any] struct {
	number uint64 // of the last purge before it began
	done   chan struct{}
	value  V
	life   Life
	err    error
}

// PanicError is a panic of a load, as the error that everybody who waits for it gets.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("load panicked: %v", e.Value) }

// errExited says that a load ended its goroutine (runtime.Goexit) instead of returning.
var errExited = errors.New("load exited without an answer")

// join returns the flight for key: the one under way, or a new one that runs load. Who comes after a purge
// does not share a load that began before it.
func (c *Cache[V]) join(ctx context.Context, key Key, load Load[V]) (f *flight[V], shared bool) {
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
	f = &flight[V]{done: make(chan struct{}), err: errExited, number: number}
	c.flights[key] = f
	c.landed.Add(1)
	c.counts.loads.Add(1)
	go c.fly(context.WithoutCancel(ctx), key, f, load)
	return f, false
}

// fly runs load and lands the flight. Everybody who waits gets a value before the store has it, and only then
// the flight leaves: a call in between joins it instead of loading again. After an error it leaves first.
func (c *Cache[V]) fly(ctx context.Context, key Key, f *flight[V], load Load[V]) {
	defer c.landed.Done()
	defer func() {
		if recovered := recover(); recovered != nil {
			f.err = &PanicError{Value: recovered, Stack: debug.Stack()}
		}
		if f.err != nil {
			c.counts.failed.Add(1)
			c.postpone(key)
			c.leave(key, f)
			close(f.done)
			return
		}
		close(f.done)
		e := entry[V]{key: key, value: f.value, life: f.life, number: f.number, loaded: time.Now()}
		if c.options.Tags != nil {
			e.tags = c.options.Tags(f.value)
		}
		c.keep(e)
		c.leave(key, f)
	}()
	ctx, cancel := context.WithTimeout(ctx, c.options.LoadLimit)
	defer cancel()
	f.value, f.life, f.err = load(ctx)
}

func (c *Cache[V]) leave(key Key, f *flight[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flights[key] == f {
		delete(c.flights, key)
	}
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
	return Result[V]{Value: f.value, Life: f.life}, f.err
}

// landed is a flight that was over before it began.
func landed[V any](kept Result[V], err error) *flight[V] {
	f := &flight[V]{done: make(chan struct{}), value: kept.Value, life: kept.Life, err: err}
	close(f.done)
	return f
}
