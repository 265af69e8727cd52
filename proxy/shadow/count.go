package shadow

import (
	"cmp"
	"slices"
	"sync"
)

// disposition is what became of a request that was taken: the class of its answer, or one of the two below.
type disposition uint8

const (
	failed  = disposition(classes)     // the origin did not answer, or nothing that can be compared
	dropped = disposition(classes) + 1 // there was no room for it
)

func (o disposition) String() string {
	switch o {
	case failed:
		return "failed"
	case dropped:
		return "dropped"
	}
	return Class(o).String()
}

// tally counts outcomes of requests, and classes of members, by route.
type tally struct {
	mu      sync.Mutex
	answers map[counted]uint64
	members map[counted]uint64
}

type counted struct {
	route   string
	outcome disposition
}

func (t *tally) add(route string, o disposition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers == nil {
		t.answers = make(map[counted]uint64)
	}
	t.answers[counted{route, o}]++
}

func (t *tally) addMember(route string, c Class) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.members == nil {
		t.members = make(map[counted]uint64)
	}
	t.members[counted{route, disposition(c)}]++
}

// Count is how often something happened to answers of a route.
type Count struct {
	Route   string
	Outcome string // name of a class, failed or dropped
	Times   uint64
}

// Answers counts requests that were taken, by the class of the answer, failed, or dropped.
func (s *Shadow) Answers() []Count { return s.tally.counts(&s.tally.answers) }

// Members counts members that differed, by class.
func (s *Shadow) Members() []Count { return s.tally.counts(&s.tally.members) }

// Examples are the members that differed, the gravest first.
func (s *Shadow) Examples() []Example { return s.table.all() }

func (t *tally) counts(of *map[counted]uint64) []Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Count, 0, len(*of))
	for key, times := range *of {
		all = append(all, Count{key.route, key.outcome.String(), times})
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Route, b.Route), cmp.Compare(a.Outcome, b.Outcome))
	})
	return all
}
