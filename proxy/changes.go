package proxy

import (
	"cmp"
	"slices"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
)

// Tags of all answers from the index, and of those that any chain's reorg can make wrong.
var (
	indexTag    = cache.KeyOf("index")
	branchesTag = cache.KeyOf("branches")
)

func orderTag(id order.ID) cache.Key { return cache.KeyOf("order", id[:]) }

func chainTag(id chain.ID) cache.Key { return cache.KeyOf("chain", []byte(id.String())) }

// branchTag is that of answers which a chain's reorg can make wrong.
func branchTag(id chain.ID) cache.Key { return cache.KeyOf("branch", []byte(id.String())) }

// subject stands for the path in keys that tag an answer with its question, whichever path that came by: an order
// that was not found has no other tag.
const subject = "subject"

// tags are what an answer of the index can be purged by: its question, every order and every chain that it is about,
// and the branches that its basis stands on unless nothing can make it wrong.
func (a answer) tags() []cache.Key {
	if a.subject == (cache.Key{}) {
		return nil
	}
	tags, isSettled := []cache.Key{indexTag, a.subject}, a.isSettled()
	add := func(tag cache.Key) {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	for _, b := range a.bodies {
		for _, id := range b.orders {
			add(orderTag(id))
		}
		if b.basis.All {
			add(branchesTag)
			continue
		}
		for _, c := range b.basis.Chains {
			add(chainTag(c.Chain))
			if !isSettled {
				add(branchTag(c.Chain))
			}
		}
	}
	return tags
}

// mostChanges is how many changes are looked at one by one.
const mostChanges = 500

// OrdersChanged drops what is kept about orders about which something new is known, or whatever the index has answered
// when changes are nil (index.Observer).
func (s *Server) OrdersChanged(changes []index.Change) {
	defer s.arrivals.announce(changes) // when what is out of date is gone
	if changes == nil || len(changes) > mostChanges {
		s.answers.Purge(cache.Hard, indexTag)
		return
	}
	var keys []cache.Key
	for _, c := range changes {
		keys = append(keys, orderTag(c.Order), orderKey(subject, c.Order))
		remembered, _ := s.creations.of(c.Order) // of an order that the index has no creation of
		if tx := cmp.Or(c.Creation, remembered); !tx.IsAbsent() {
			keys = append(keys, txKey(subject, tx))
		}
		if !c.Taker.IsAbsent() {
			keys = append(keys, takerKey(subject, c.Taker))
		}
	}
	s.answers.Purge(cache.Hard, keys...)
}

// BranchChanged drops what is kept about a chain and is not settled (index.Observer).
func (s *Server) BranchChanged(id chain.ID) {
	s.answers.Purge(cache.Hard, branchTag(id), branchesTag)
}
