package jsonrpc

import (
	"sync"
	"time"
)

const (
	// relearn is the time until more than the endpoint accepts is tried again, since endpoints and plans change.
	relearn = 10 * time.Minute
	// enoughAccepted is after how many full widths a larger one is tried.
	enoughAccepted = 8
)

// width is how much an endpoint accepts at once, calls in a batch or blocks in a search: found by halving whatever it
// refuses, and remembered. Safe for concurrent use.
type width struct {
	most uint64

	mu       sync.Mutex
	known    uint64    // zero: nothing was refused
	rest     time.Time // until then no more is tried
	accepted int       // full widths since the last change
	tried    uint64    // width that the last change tried; zero: it was another change
	good     uint64    // width before tried
	tooMuch  uint64    // size that was refused last
}

// now returns how much to ask for.
func (w *width) now() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nowLocked()
}

func (w *width) nowLocked() uint64 {
	if w.known == 0 {
		return w.most
	}
	return min(w.known, w.most)
}

// refused records that size is too much: from now on half of it is asked for or, if it was only tried, as much as
// before, and no more is tried for a while.
func (w *width) refused(size uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.nowLocked()
	switch {
	case w.known > 0 && size == w.tried:
		w.known, w.rest = w.good, time.Now().Add(relearn)
	case w.known > 0 && size > now: // asked for earlier, or tried elsewhere
		w.tooMuch = min(w.tooMuch, size)
		return
	default:
		w.known = min(now, max((size+1)/2, 1))
	}
	w.tooMuch, w.accepted, w.tried = size, 0, 0
}

// took records that size was accepted: after several full widths more is tried, up to twice as much.
func (w *width) took(size uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == 0 || w.known >= w.most || size < w.known || time.Now().Before(w.rest) {
		return
	}
	if w.accepted++; w.accepted < enoughAccepted {
		return
	}
	if !w.rest.IsZero() {
		w.tooMuch = 0 // the endpoint may have become less strict
	}
	more := 2 * w.known
	if w.tooMuch > 0 {
		more = (w.known + w.tooMuch) / 2
	}
	w.good, w.rest, w.accepted = w.known, time.Time{}, 0
	if more <= w.known+w.known/8 { // near enough
		w.rest = time.Now().Add(relearn)
		return
	}
	w.known = min(more, w.most)
	w.tried = w.known
}

// limited returns the width if it is less than the most for any endpoint, else zero.
func (w *width) limited() uint64 {
	if now := w.now(); now < w.most {
		return now
	}
	return 0
}
