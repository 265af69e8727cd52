package proxy

import (
	"cmp"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order/index"
)

// mostChanges is how many changes are looked at one by one.
const mostChanges = 500

// OrdersChanged drops what is kept about orders about which something new is known, or whatever the index has answered
// when changes are nil (index.Observer).
func (s *Orders) OrdersChanged(changes []index.Change) {
	if s.watch != nil {
		defer s.watch(changes) // when what is out of date is gone
	}
	if changes == nil || len(changes) > mostChanges {
		s.server.drop(indexTag)
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
	s.server.drop(keys...)
}

// BranchChanged drops what is kept about a chain and is not settled (index.Observer).
func (s *Orders) BranchChanged(id chain.ID) {
	s.server.drop(branchTag(id), branchesTag)
}
