package evm

import "sync"

// readHeaders are headers that were read since the newest block was seen, so that looking at the chain's newest end asks
// for none of them twice.
type readHeaders struct {
	mu       sync.Mutex
	byNumber map[uint64]*header
	ended    *header // the last one of the newest end, which was read block by block, each linked to the one before
}

const mostReadHeaders = 64

func (r *readHeaders) keep(h *header) {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// end takes note that the newest end was read up to h.
func (r *readHeaders) end(h *header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = h
}

// take returns the last header of the newest end once, if it has that number: whoever has just read the events of that
// very block by its hash need not ask which block it was.
func (r *readHeaders) take(number uint64) *header {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.ended
	if h == nil || uint64(h.Number) != number {
		return nil
	}
	r.ended = nil
	return h
}

// forget drops everything: the chain has a new head, and may have other blocks.
func (r *readHeaders) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byNumber, r.ended = nil, nil
}
