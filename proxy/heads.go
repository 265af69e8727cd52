package proxy

import (
	"context"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// Advanced gives up what a chain has told that the index had not read before its new head (order/index.Options.Advanced).
// This comes with every block, so it is no purge: that would part those who wait for one load.
func (s *Server) Advanced(id chain.ID) { s.heads.add(id) }

// heads counts the heads that chains told of.
type heads struct {
	mu    sync.RWMutex
	count uint64
	last  map[chain.ID]head // each chain's newest
}

type head struct {
	count uint64
	heard time.Time
}

func (h *heads) add(id chain.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil {
		h.last = map[chain.ID]head{}
	}
	h.count++
	h.last[id] = head{h.count, time.Now()}
}

func (h *heads) now() uint64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.count
}

// at is the count that tells of what another replica loaded then whether a head has outrun it.
func (h *heads) at(then time.Time) (count uint64) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, newest := range h.last {
		if newest.heard.Before(then) {
			count = max(count, newest.count)
		}
	}
	return count
}

// outrun reports whether one of the chains has told of a head since the count was taken.
func (h *heads) outrun(count uint64, chains []chain.ID) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.ContainsFunc(chains, func(id chain.ID) bool { return h.last[id].count > count })
}

func (s *Server) unread(ctx context.Context, o *order.Order) []chain.ID {
	if s.options.Unread == nil {
		return nil
	}
	return s.options.Unread(ctx, o)
}

// stands reports whether no new head can have made an answer wrong.
func (s *Server) stands(a answer) bool {
	for i := range a.pages {
		if unread := a.pages[i].unread; len(unread) > 0 && s.heads.outrun(a.heads, unread) {
			return false
		}
	}
	return true
}
