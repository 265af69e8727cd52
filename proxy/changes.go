package proxy

import (
	"encoding/json"
	"slices"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// IndexTag tags every answer from the index, BranchesTag those that a reorg of any chain can invalidate.
var (
	IndexTag    = cache.KeyOf("index")
	BranchesTag = cache.KeyOf("branches")
)

func OrderTag(id order.ID) cache.Key { return cache.KeyOf("order", id[:]) }

func chainTag(id chain.ID) cache.Key { return cache.KeyOf("chain", []byte(id.String())) }

// BranchTag tags answers that a reorg of a chain can invalidate.
func BranchTag(id chain.ID) cache.Key { return cache.KeyOf("branch", []byte(id.String())) }

// KeyOf returns the key of a question on a path, made from all of the question's exported members.
func KeyOf(path string, members ...any) cache.Key {
	text, err := json.Marshal(members)
	if err != nil {
		panic("proxy: a question that JSON cannot hold: " + err.Error())
	}
	return cache.KeyOf(path, text)
}

// Subject replaces the path in keys that tag an answer with its question, whichever path it came by.
const Subject = "subject"

// tags returns the keys to purge an answer of the index by: its question, every order and chain that it is about and,
// unless it is settled, the branches that its basis rests on.
func (a answer) tags() []cache.Key {
	if a.subject == (cache.Key{}) {
		return nil
	}
	tags, isSettled := []cache.Key{IndexTag, a.subject}, a.isSettled()
	add := func(tag cache.Key) {
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	for _, b := range a.Bodies {
		for _, id := range b.Orders {
			add(OrderTag(id))
		}
		if b.Basis.All {
			add(BranchesTag)
			continue
		}
		for _, c := range b.Basis.Chains {
			add(chainTag(c.Chain))
			if !isSettled {
				add(BranchTag(c.Chain))
			}
		}
	}
	return tags
}

// Drop purges cached answers by their tags.
func (s *Server) Drop(tags ...cache.Key) { s.answers.Purge(cache.Hard, tags...) }

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
