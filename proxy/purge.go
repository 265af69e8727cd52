package proxy

import (
	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// Purge purges the cached answers about any of the orders and chains.
func (s *Server) Purge(how cache.Purge, orders []order.ID, chains []chain.ID) {
	var keys []cache.Key
	for _, id := range orders {
		keys = append(keys, OrderTag(id))
	}
	for _, id := range chains {
		keys = append(keys, chainTag(id))
	}
	s.answers.Purge(how, keys...)
}
