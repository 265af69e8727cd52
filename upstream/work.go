package upstream

import (
	"context"
	"sync"
	"time"
)

// Work is the purpose of a call. It decides which share of an endpoint's rate the call may take, and whether it waits
// for it.
type Work uint8

// The kinds of work.
const (
	// Answering serves a caller who waits for something that is known to exist.
	Answering Work = iota
	// Following reads how far a chain has come, which answers depend on.
	Following
	// Background is work that no caller waits for. It leaves half of the burst to other work, and gives way to it.
	Background
	// Searching looks for something that may not exist. It has a small share of the rate, and is refused immediately
	// when that is spent.
	Searching
)

// Shares of an endpoint's rate: the part reserved for following and background work once it is followed, and the part
// that searches may take.
const (
	followedShare  = 0.25
	searchingShare = 0.1
)

type workKey struct{}

// For marks the calls made with a context as this kind of work; unmarked calls are Answering.
func (w Work) For(ctx context.Context) context.Context { return context.WithValue(ctx, workKey{}, w) }

// WorkOf returns the purpose of calls with ctx.
func WorkOf(ctx context.Context) Work {
	w, _ := ctx.Value(workKey{}).(Work)
	return w
}

// Lookup identifies the work for one request of a client. Its calls, which reach a chain within moments of each other,
// may share requests: if one of these fails, no other lookup is affected.
type Lookup struct{ _ byte } // not empty, so that each has its own address

type lookupKey struct{}

// WithLookup marks calls as those of a new Lookup.
func WithLookup(ctx context.Context) context.Context {
	return context.WithValue(ctx, lookupKey{}, new(Lookup))
}

// LookupOf returns the lookup that calls with ctx belong to, if any.
func LookupOf(ctx context.Context) *Lookup {
	l, _ := ctx.Value(lookupKey{}).(*Lookup)
	return l
}

// untilHalfFree returns how long it takes, without other calls, until cost units leave half of the burst; a call larger
// than the other half waits for all of it.
func (b *Budget) untilHalfFree(cost int) time.Duration {
	if b.limiter == nil {
		return 0
	}
	burst := float64(b.limiter.Burst())
	missing := min(float64(cost)+burst/2, burst) - b.limiter.Tokens()
	if missing <= 0 {
		return 0
	}
	return max(time.Duration(missing/float64(b.limiter.Limit())*float64(time.Second)), time.Millisecond)
}

// worker runs an endpoint's background work, one task at a time.
type worker struct {
	working sync.WaitGroup
	mu      sync.Mutex
	isBusy  bool
	stop    context.CancelFunc // cancels the latest work; nil: there was none
	isOver  bool
}

// begin starts work in the background unless other work is under way or the worker is closed.
func (w *worker) begin(work func(context.Context)) (begun bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isOver || w.isBusy {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.isBusy, w.stop = true, cancel
	w.working.Go(func() {
		defer cancel()
		work(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.isBusy = false
	})
	return true
}

// close cancels the work under way and waits for it; none can begin from then on.
func (w *worker) close() {
	w.mu.Lock()
	w.isOver = true
	if w.stop != nil {
		w.stop()
	}
	w.mu.Unlock()
	w.working.Wait()
}
