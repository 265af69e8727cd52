package shadow

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Example is a member of a route's answers that differed, with the latest example.
type Example struct {
	Route  string
	Member string // with * for rows
	Class  Class
	Times  uint64
	Last   time.Time
	Target string // path and query of the latest request
	Ours   string // JSON, shortened; empty: absent
	Theirs string
}

// mostExamples bounds the table.
const mostExamples = 256

// table holds examples by what differs. When it is full, the one that was not seen for longest makes room.
type table struct {
	mu       sync.Mutex
	examples map[exampleKey]*Example
}

type exampleKey struct {
	route, member string
	class         Class
}

// longestTarget is how much of a request's path and query is kept, bytes.
const longestTarget = 300

func (t *table) add(route, target string, d Difference, now time.Time) {
	key := exampleKey{route, d.pattern, d.Class}
	if len(target) > longestTarget {
		target = strings.ToValidUTF8(target[:longestTarget], "") + "…"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	example := t.examples[key]
	if example == nil {
		if t.examples == nil {
			t.examples = make(map[exampleKey]*Example)
		}
		if len(t.examples) >= mostExamples {
			t.makeRoom()
		}
		example = &Example{Route: route, Member: d.pattern, Class: d.Class}
		t.examples[key] = example
	}
	example.Times++
	example.Last, example.Target, example.Ours, example.Theirs = now, target, d.Ours, d.Theirs
}

func (t *table) makeRoom() {
	var oldest exampleKey
	var since time.Time
	for key, example := range t.examples {
		if since.IsZero() || example.Last.Before(since) {
			oldest, since = key, example.Last
		}
	}
	delete(t.examples, oldest)
}

// all are the examples, the gravest and most frequent first.
func (t *table) all() []Example {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Example, 0, len(t.examples))
	for _, example := range t.examples {
		all = append(all, *example)
	}
	slices.SortFunc(all, func(a, b Example) int {
		return cmp.Or(cmp.Compare(b.Class, a.Class), cmp.Compare(b.Times, a.Times),
			cmp.Compare(a.Route, b.Route), cmp.Compare(a.Member, b.Member))
	})
	return all
}
