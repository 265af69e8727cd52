package proxy

import (
	"fmt"
	"runtime"
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

// turn is when answers are made: what is kept, and what has begun, goes first. A few are made whatever the queue is, so
// that thousands who ask for the same have it.
type turn struct {
	yield  func()       // runtime.Gosched, but in tests
	few    int64        // 4 for each processor, but in tests
	making atomic.Int64 // answers under way
	closed atomic.Int64 // until then no more than a few are made, UNIX nanoseconds
}

func newTurn() turn { return turn{yield: runtime.Gosched, few: int64(4 * runtime.GOMAXPROCS(0))} }

// take lets everything else that can go on go first, and is to be followed by done, also after an error: cache.ErrBusy
// when that takes too long, and at once as long as the queue may be as long as it was. An answer that is declined costs
// less than one that comes too late.
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
