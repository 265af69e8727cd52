package orders

import (
	"cmp"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order/index"
	"crossgate/proxy"
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
		s.server.Drop(proxy.IndexTag)
		return
	}
	var keys []cache.Key
	for _, c := range changes {
		keys = append(keys, proxy.OrderTag(c.Order), orderKey(proxy.Subject, c.Order))
		remembered, _ := s.creations.of(c.Order) // of an order that the index has no creation of
		if tx := cmp.Or(c.Creation, remembered); !tx.IsAbsent() {
			keys = append(keys, txKey(proxy.Subject, tx))
		}
		if !c.Taker.IsAbsent() {
			keys = append(keys, takerKey(proxy.Subject, c.Taker))
		}
	}
	s.server.Drop(keys...)
}

// BranchChanged drops what is kept about a chain and is not settled (index.Observer).
func (s *Orders) BranchChanged(id chain.ID) {
	s.server.Drop(proxy.BranchTag(id), proxy.BranchesTag)
}
