package jsonrpc

import (
	"context"
	"sync/atomic"
	"time"
)

// expiry is the latest deadline of the callers of a batch.
type expiry struct {
	isNone atomic.Bool // one of them has none
	latest atomic.Pointer[time.Time]
}

func (e *expiry) extend(ctx context.Context) {
	deadline, limited := ctx.Deadline()
	if !limited {
		e.isNone.Store(true)
	} else if latest := e.latest.Load(); latest == nil || deadline.After(*latest) {
		e.latest.Store(&deadline)
	}
}

// sharedContext is that of a batch: it has the values of the caller who started it, ends when no caller waits any more,
// and its deadline, at which that will be, moves while others join.
type sharedContext struct {
	context.Context
	expiry *expiry
}

func (c sharedContext) Deadline() (time.Time, bool) {
	if latest := c.expiry.latest.Load(); latest != nil && !c.expiry.isNone.Load() {
		return *latest, true
	}
	return time.Time{}, false
}
