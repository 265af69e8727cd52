package shadow

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// tally counts outcomes of requests, and keeps an example of each difference.
type tally struct {
	mu       sync.Mutex
	answers  map[counted]uint64
	examples map[exampleKey]*Example
}

type counted struct{ route, outcome string }

type exampleKey struct {
	route, member string
	class         Class
}

// Outcomes of requests besides the classes of their answers. They are published as metric labels.
const (
	failed  = "failed"  // the origin did not answer, or not in a comparable form
	dropped = "dropped" // too many comparisons were in flight
)

func (t *tally) add(route, outcome string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers[counted{route, outcome}]++
}

// mostExamples limits the examples. When they are full, the one last seen longest ago is evicted.
const mostExamples = 256

// longestTarget is how much of a request's path and query is kept, in bytes.
const longestTarget = 300

// addMember records a difference as the latest example of its kind.
func (t *tally) addMember(route, target string, d Difference, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := exampleKey{route, d.Member, d.Class}
	example := t.examples[key]
	if example == nil {
		if len(t.examples) >= mostExamples {
			t.makeRoom()
		}
		example = &Example{Route: route}
		t.examples[key] = example
	}
	example.Times++
	example.Difference, example.Last, example.Target = d, now, cutText(target, longestTarget)
}

func (t *tally) makeRoom() {
	var oldest exampleKey
	for key, example := range t.examples {
		if known := t.examples[oldest]; known == nil || example.Last.Before(known.Last) {
			oldest = key
		}
	}
	delete(t.examples, oldest)
}

// EachCount calls do with how often sampled requests of each route had an outcome, sorted by route: the answer's class,
// failed, or dropped.
func (s *Shadow) EachCount(do func(route, outcome string, times uint64)) {
	s.tally.mu.Lock()
	answers := maps.Clone(s.tally.answers)
	s.tally.mu.Unlock()
	for _, of := range slices.SortedFunc(maps.Keys(answers), func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.outcome, b.outcome))
	}) {
		do(of.route, of.outcome, answers[of])
	}
}

// Example is a member in which a route's answers differed, with the latest occurrence.
type Example struct {
	Difference
	Route  string
	Times  uint64
	Last   time.Time
	Target string // path and query of the latest request
}

// Examples returns the members that differed, gravest and most frequent first.
func (s *Shadow) Examples() []Example {
	t := &s.tally
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

// lists compares the rows of two lists, by their keys.
func (c *comparison) lists(at string, isBehind bool, r rule, our, their []any) {
	byOurs, ourKeys := r.indexed(our)
	byTheirs, theirKeys := r.indexed(their)
	newOurs, newTheirs := leading(ourKeys, byTheirs), leading(theirKeys, byOurs)
	if newOurs > 0 && newTheirs > 0 { // each has rows before all common ones: they are not parts of the same list
		newOurs, newTheirs = 0, 0
	}
	here := below(at, "*")
	for i, key := range ourKeys {
		if row, isBoth := byTheirs[key]; isBoth {
			before := len(c.found)
			c.walk(here, isBehind, byOurs[key], row)
			if r.kind == moving {
				c.excuseSums(c.found[before:])
			}
		} else if c.rules[here].kind != ownMember {
			c.note(here, r.ofLone(i, newOurs, len(ourKeys)-newTheirs), byOurs[key], absent{})
		}
	}
	for i, key := range theirKeys {
		if _, isBoth := byOurs[key]; !isBoth {
			c.note(here, r.ofLone(i, newTheirs, len(theirKeys)-newOurs), absent{}, byTheirs[key])
		}
	}
}

// indexed returns rows by key, and the keys in sequence. A key is the members at some paths, separated by spaces, and
// the ordinal of the row among rows equal in these; without a rule for rows it is the ordinal alone.
func (r rule) indexed(list []any) (byKey map[string]any, keys []string) {
	byKey, seen := make(map[string]any, len(list)), map[string]int{}
	for _, row := range list {
		var text strings.Builder
		if r.kind == rows || r.kind == newest || r.kind == moving {
			for path := range strings.SplitSeq(r.key, " ") {
				text.WriteString(textOf(memberAt(row, path)) + " ")
			}
		}
		seen[text.String()]++
		key := text.String() + strconv.Itoa(seen[text.String()])
		byKey[key], keys = row, append(keys, key)
	}
	return byKey, keys
}

// ofLone returns the class of the row at i that only one list has. In lists that grow at the front, rows before recent
// are new, and push as many rows of the other list out at its end, from pushed on.
func (r rule) ofLone(i, recent, pushed int) Class {
	if r.kind == moving || r.kind == newest && (i < recent || i >= pushed) {
		return Expected
	}
	return Different
}

// leading counts the rows before the first that the other list also has.
func leading(keys []string, other map[string]any) int {
	for i, key := range keys {
		if _, isBoth := other[key]; isBoth {
			return i
		}
	}
	return len(keys)
}

// excuseSums makes differences of amounts expected if rows of their row have come or gone: the amounts are their sums.
func (c *comparison) excuseSums(found []Difference) {
	if !slices.ContainsFunc(found, func(d Difference) bool { return d.Class == Expected }) {
		return
	}
	for i := range found {
		if c.rules[found[i].Member].kind == quantity {
			found[i].Class = Expected
		}
	}
}
