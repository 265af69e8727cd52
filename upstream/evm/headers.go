package evm

import (
	"sync/atomic"

	"crossgate/cache/recent"
)

// readHeaders caches the headers read since the newest block was seen, so that reading the chain's tip requests none of
// them twice.
type readHeaders struct {
	known recent.Map[headerPlace, *header]
	heads atomic.Uint64 // times that everything was dropped
}

// headerPlace is the number of a block, and how many heads the chain had had when its header was requested.
type headerPlace struct{ number, heads uint64 }

const mostReadHeaders = 64

// since returns when a call for a header began, for keep.
func (r *readHeaders) since() (heads uint64) { return r.heads.Load() }

// keep caches h until the chain has a new head. One that came since the call for h began counts: h may be of a dropped
// branch.
func (r *readHeaders) keep(h *header, since uint64) {
	r.known.Put(headerPlace{uint64(h.Number), since}, h)
}

func (r *readHeaders) of(number uint64) *header {
	h, _ := r.known.Get(headerPlace{number, r.heads.Load()})
	return h
}

// forget drops everything: the chain has a new head, and may have other blocks.
func (r *readHeaders) forget() { r.heads.Add(1) }
