package evm

import "sync"

// readHeaders caches the headers read since the newest block was seen, so that reading the chain's tip requests none of
// them twice.
type readHeaders struct {
	mu       sync.Mutex
	byNumber map[uint64]*header
	heads    uint64 // times that everything was dropped
}

const mostReadHeaders = 64

// since returns when a call for a header began, for keep and end.
func (r *readHeaders) since() (heads uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heads
}

// keep caches h, unless the chain has had a new head since the call for h began: h may be of a dropped branch.
func (r *readHeaders) keep(h *header, since uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if since != r.heads {
		return
	}
	if r.byNumber == nil || len(r.byNumber) >= mostReadHeaders {
		r.byNumber = make(map[uint64]*header)
	}
	r.byNumber[uint64(h.Number)] = h
}

func (r *readHeaders) of(number uint64) *header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byNumber[number]
}

// forget drops everything: the chain has a new head, and may have other blocks.
func (r *readHeaders) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byNumber = nil
	r.heads++
}
