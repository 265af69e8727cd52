package proxy

import (
	"fmt"
	"sync/atomic"
	"time"

	"crossgate/cache"
)

// How long a load may wait for a processor, and for how long at most further loads are rejected after a longer wait.
const (
	longestQueue = 25 * time.Millisecond
	longestClose = 100 * time.Millisecond
)

// turn decides when loads begin: after everything else that is runnable, so that cached answers go first. A few loads
// always begin, so that thousands of clients asking for one answer get it.
type turn struct {
	yield  func()       // runtime.Gosched except in tests
	few    int64        // loads that always begin: 4 per processor except in tests
	making atomic.Int64 // loads under way
	closed atomic.Int64 // until when only the few begin, UNIX nanoseconds
}

// take waits for a load's turn, or returns cache.ErrBusy if getting a processor takes too long or did a moment ago: a
// rejection costs less than a late answer. Call done in either case.
func (t *turn) take() (done func(), err error) {
	done = func() { t.making.Add(-1) }
	began := time.Now()
	switch {
	case t.making.Add(1) <= t.few:
		return done, nil
	case began.UnixNano() < t.closed.Load():
		return done, cache.ErrBusy
	}
	t.yield()
	if waited := time.Since(began); waited > longestQueue {
		t.closed.Store(time.Now().Add(min(waited, longestClose)).UnixNano())
		return done, fmt.Errorf("%w: %v until a processor was free", cache.ErrBusy, waited.Round(time.Millisecond))
	}
	return done, nil
}
