// Package flight shares one load between all who need its result at the time, as golang.org/x/sync/singleflight does,
// and counts who waits: when the last waiter has left, the load is cancelled.
//
// A cache keeps the [Call] that loads a key beside its values. A caller joins it, or begins one with [Start] where
// there is none or [Call.Join] says that it was given up, and then waits outside the cache's lock, which the load may
// need. The load has a context of its own with the values of the first caller's. What it returns, or a panic as an
// error, goes to every waiter.
package flight

import (
	"context"
	"fmt"
	"sync"
)

// Call is one load under way, or its result. Safe for concurrent use.
type Call[V any] struct {
	done  chan struct{} // closed when value and err are set
	value V
	err   error
	stop  context.CancelFunc

	mu      sync.Mutex
	waiters int // zero: given up
}

// Start begins a load that the caller waits for. load runs in a goroutine of its own.
func Start[V any](ctx context.Context, load func(context.Context) (V, error)) *Call[V] {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Call[V]{done: make(chan struct{}), stop: stop, waiters: 1}
	go func() {
		defer stop()
		defer func() {
			if cause := recover(); cause != nil {
				c.err = fmt.Errorf("load panicked: %v", cause)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			close(c.done)
		}()
		c.value, c.err = load(ctx)
	}()
	return c
}

// Join adds the caller to those who wait. It reports false for a Call that was given up before it had a result.
func (c *Call[V]) Join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiters == 0 {
		return false
	}
	c.waiters++
	return true
}

// Wait returns the result. A caller whose ctx ends before leaves with its error, and ends the load if no other caller
// waits for it. Each Start and each Join is followed by at most one Wait.
func (c *Call[V]) Wait(ctx context.Context) (V, error) {
	select {
	case <-c.done:
	case <-ctx.Done():
		if c.leave() {
			var none V
			return none, ctx.Err()
		}
	}
	return c.value, c.err
}

// leave counts the caller off, unless the result is there.
func (c *Call[V]) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.done:
		return false
	default:
	}
	if c.waiters--; c.waiters == 0 {
		c.stop()
	}
	return true
}
