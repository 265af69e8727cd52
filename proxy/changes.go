package proxy

import (
	"encoding/json"
	"slices"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// Tags of all answers from the index, and of those that any chain's reorg can make wrong.
var (
	IndexTag    = cache.KeyOf("index")
	BranchesTag = cache.KeyOf("branches")
)

func OrderTag(id order.ID) cache.Key { return cache.KeyOf("order", id[:]) }

func chainTag(id chain.ID) cache.Key { return cache.KeyOf("chain", []byte(id.String())) }

// BranchTag is that of answers which a chain's reorg can make wrong.
func BranchTag(id chain.ID) cache.Key { return cache.KeyOf("branch", []byte(id.String())) }

// KeyOf is a key of every exported member of a question.
func KeyOf(path string, members ...any) cache.Key {
	text, err := json.Marshal(members)
	if err != nil {
		panic("proxy: a question that JSON cannot hold: " + err.Error())
	}
	return cache.KeyOf(path, text)
}

// Subject stands for the path in keys that tag an answer with its question, whatever path asked it.
const Subject = "subject"

// tags are what an answer of the index can be purged by: its question, every order and every chain that it is about,
// and the branches that its basis stands on unless nothing can make it wrong.
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

// Drop ends kept answers by their tags.
func (s *Server) Drop(tags ...cache.Key) { s.answers.Purge(cache.Hard, tags...) }
