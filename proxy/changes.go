package proxy

import (
	"slices"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
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

// drop ends kept answers by their tags.
func (s *Server) drop(tags ...cache.Key) { s.answers.Purge(cache.Hard, tags...) }
