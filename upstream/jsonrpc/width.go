package jsonrpc

import (
	"sync"
	"time"
)

// relearn is after what time a Width forgets that more was refused: endpoints and plans change.
const relearn = 10 * time.Minute

// Width is how much of something endpoints take at once, calls in a batch or blocks in a search: learned
// from their refusals. Safe for concurrent use.
type Width struct {
	most uint64

	mu       sync.Mutex
	known    uint64 // zero: nothing was refused
	limit    uint64 // that an endpoint named; zero: none
	until    time.Time
	accepted int // full widths since the last change
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
	return w.known
}

// Refused learns that size is too much: half of it is tried from now on.
func (w *Width) Refused(size uint64) { w.shrink(max((size+1)/2, 1)) }

// Fits learns that size would not have been too much, where more was.
func (w *Width) Fits(size uint64) { w.shrink(max(size, 1)) }

// Limited learns the limit that an endpoint names, whatever the content.
func (w *Width) Limited(limit uint64) {
	w.shrink(max(limit, 1))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = w.known
}

func (w *Width) shrink(to uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known, w.accepted = min(w.now(), to), 0
	w.until = time.Now().Add(relearn)
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
}
