package jsonrpc

import (
	"sync"
	"time"
)

// After what time a Width forgets that more was refused: endpoints and plans change. A limit that was told is likely to
// be a plan's.
const (
	relearn     = 10 * time.Minute
	relearnTold = 6 * time.Hour
)

// Width is how much of something an endpoint takes at once, calls in a batch or blocks in a search: learned
// from its refusals. Safe for concurrent use.
type Width struct {
	most    uint64
	isBound bool // it is never more

	mu       sync.Mutex
	known    uint64 // zero: nothing was refused
	limit    uint64 // that the endpoint named; zero: none
	until    time.Time
	accepted int    // full widths since the last change
	tried    uint64 // more than was known, as the last change
	changed  uint64
}

// NewWidth returns a width of most until that is refused.
func NewWidth(most uint64) *Width { return &Width{most: most} }

// Now returns how much to ask for.
func (w *Width) Now() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now()
}

func (w *Width) now() uint64 {
	if w.known != 0 && !time.Now().Before(w.until) {
		w.known, w.limit = 0, 0
	}
	if w.known == 0 {
		return w.most
	}
	return min(w.known, w.most)
}

// bound sets how much is asked for at most; zero leaves it as it is.
func (w *Width) bound(most uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if most > 0 {
		w.most, w.isBound = most, true
	}
}

// Refused learns that size is too much: half of it is tried from now on. Where size was only tried, it is not tried
// again for a while.
func (w *Width) Refused(size uint64) {
	w.mu.Lock()
	isTrial := size == w.tried
	w.mu.Unlock()
	w.shrink(max((size+1)/2, 1), relearn)
	if isTrial {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.limit = w.known
	}
}

// Fits learns that size would not have been too much, where more was.
func (w *Width) Fits(size uint64) { w.shrink(max(size, 1), relearn) }

// Limited learns the limit that an endpoint names, whatever the content.
func (w *Width) Limited(limit uint64) {
	w.shrink(max(limit, 1), relearnTold)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = w.known
}

func (w *Width) shrink(to uint64, term time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known, w.accepted, w.tried = min(w.now(), to), 0, 0
	w.until = time.Now().Add(term)
	w.changed++
}

// Accepted learns that size was taken: after several full widths twice as much is tried, up to the limit
// that was named.
func (w *Width) Accepted(size uint64) {
	const enough = 8
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == 0 || size < w.now() || w.known == w.limit {
		return
	}
	w.accepted++
	if w.accepted < enough {
		return
	}
	w.accepted = 0
	w.known = min(2*w.known, w.most)
	if w.limit > 0 {
		w.known = min(w.known, w.limit)
	}
	w.tried = w.known
	w.changed++
}

// limited returns the width where it is less than what is asked of anybody; zero: it is not.
func (w *Width) limited() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := w.now(); w.known != 0 || w.isBound {
		return now
	}
	return 0
}

// changes counts what was learned.
func (w *Width) changes() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// recall begins with a width that was known at a time.
func (w *Width) recall(known uint64, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known, w.until = known, at.Add(relearnTold)
}
