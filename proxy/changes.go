package proxy

import (
	"cmp"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order/index"
)

// Tags of answers from the index beside the orders and chains that they are about.
var (
	// indexTag is what every such answer has.
	indexTag = cache.KeyOf("index")
	// branchesTag is what answers have that any chain's reorg can make wrong.
	branchesTag = cache.KeyOf("branches")
)

// branchTag is what answers have that a chain's reorg can make wrong: those that are not settled.
func branchTag(id chain.ID) cache.Key { return cache.KeyOf("branch", []byte(id.String())) }

// subject stands for the path in keys that tag an answer with what was asked about, whatever path that was.
const subject = "subject"

// mostChanges is how many changes are looked at one by one.
const mostChanges = 500

// Changed gives up what is kept about orders of which something new is known, or whatever the index has answered when
// changes are nil (order/index.Options.Changed).
func (s *Server) Changed(changes []index.Change) {
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

// Reorganised gives up what is kept about a chain and is not final (order/index.Options.Reorganised).
func (s *Server) Reorganised(id chain.ID) {
	s.answers.Purge(cache.Hard, branchTag(id), branchesTag)
}

// indexTags are what an answer from the index can be purged by, beside its orders and chains.
func (a answer) indexTags() []cache.Key {
	tags := []cache.Key{indexTag, a.subject}
	for _, p := range a.pages {
		if a.settled {
			break
		}
		if len(p.chains) == 0 {
			tags = append(tags, branchesTag)
		}
		for _, id := range p.chains {
			tags = append(tags, branchTag(id))
		}
	}
	return tags
}
