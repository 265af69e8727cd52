package proxy

import (
	"fmt"
	"sync/atomic"
	"time"

	"crossgate/cache"
)

// How long the queue for processors may be for answers to be made, and for how long at most none is tried after it was
// longer.
const (
	longestQueue = 25 * time.Millisecond
	longestClose = 100 * time.Millisecond
)

// turn is when answers are made: what is kept, and what has begun, goes first.
type turn struct {
	yield  func()       // runtime.Gosched, but in tests
	closed atomic.Int64 // until then none is made, UNIX nanoseconds
}

// await lets everything else that can go on go first: cache.ErrBusy when that takes too long, and at once as long as the
// queue has not become shorter since. An answer that is declined costs less than one that comes too late.
func (t *turn) await() error {
	began := time.Now()
	if began.UnixNano() < t.closed.Load() {
		return cache.ErrBusy
	}
	t.yield()
	waited := time.Since(began)
	if waited <= longestQueue {
		return nil
	}
	t.closed.Store(time.Now().Add(min(waited, longestClose)).UnixNano())
	return fmt.Errorf("%w: %v until a processor was free", cache.ErrBusy, waited.Round(time.Millisecond))
}
