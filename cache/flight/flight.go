// Package flight shares one load among all who need its result at the same time, like golang.org/x/sync/singleflight,
// but counts the waiters: when the last one has left, the load is cancelled.
//
// A cache keeps the [Call] that loads a key beside its values. A caller joins it, or begins one with [Start] if there
// is none or [Call.Join] reports that it was abandoned, and then waits outside the cache's lock, which the load may
// need. The load has its own context with the values of the first caller's. Its result, or a panic as an error, goes to
// every waiter.
package flight

import (
	"context"
	"fmt"
	"sync"
)

// Call is one load in flight, or its result. It is safe for concurrent use.
type Call[V any] struct {
	done  chan struct{} // closed when value and err are set
	value V
	err   error
	stop  context.CancelFunc

	mu      sync.Mutex
	waiters int // zero if abandoned
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

// Join adds the caller to the waiters. It returns false if the call was abandoned before it had a result.
func (c *Call[V]) Join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiters == 0 {
		return false
	}
	c.waiters++
	return true
}

// Wait returns the result, or ctx's error if that ends first; the load is cancelled if no other caller waits for it.
// Call Wait at most once for each Start and each Join.
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

// leave removes the caller from the waiters, unless the result is there.
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
