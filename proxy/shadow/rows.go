package shadow

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// lists compares the rows of two lists, in sequence or by key.
func (c *comparison) lists(at place, isBehind bool, r rule, our, their any) {
	a, isOurs := our.([]any)
	b, isTheirs := their.([]any)
	if !isOurs || !isTheirs {
		c.inside(at, isBehind, our, their)
		return
	}
	if r.kind != exact {
		c.matched(at, isBehind, r, a, b)
		return
	}
	for i := range max(len(a), len(b)) {
		here := at.below(strconv.Itoa(i), "*")
		switch {
		case i >= len(a):
			c.note(here, Different, "", shortened(b[i]))
		case i >= len(b):
			c.note(here, Different, shortened(a[i]), "")
		default:
			c.walk(here, isBehind, a[i], b[i])
		}
	}
}

// indexed returns rows by key, and the keys in sequence. A key is the members at some paths, separated by spaces, and
// the ordinal of the row among rows equal in these.
func indexed(list []any, paths string) (byKey map[string]any, keys []string) {
	byKey, seen := make(map[string]any, len(list)), map[string]int{}
	for _, row := range list {
		var text strings.Builder
		for path := range strings.SplitSeq(paths, " ") {
			text.WriteString(textOf(memberAt(row, path)) + " ")
		}
		seen[text.String()]++
		key := text.String() + strconv.Itoa(seen[text.String()])
		byKey[key], keys = row, append(keys, key)
	}
	return byKey, keys
}

func (c *comparison) matched(at place, isBehind bool, r rule, our, their []any) {
	byOurs, ourKeys := indexed(our, r.key)
	byTheirs, theirKeys := indexed(their, r.key)
	newOurs, newTheirs := leading(ourKeys, byTheirs), leading(theirKeys, byOurs)
	if newOurs > 0 && newTheirs > 0 { // each has rows before all common ones: they are not parts of the same list
		newOurs, newTheirs = 0, 0
	}
	for i, key := range ourKeys {
		here := at.below(strconv.Itoa(i), "*")
		if row, isBoth := byTheirs[key]; isBoth {
			before := len(c.found)
			c.walk(here, isBehind, byOurs[key], row)
			if r.kind == moving {
				c.excuseSums(c.found[before:])
			}
		} else if c.rules[here.pattern].kind != ownMember {
			c.note(here, r.ofLone(i, newOurs, len(ourKeys)-newTheirs), shortened(byOurs[key]), "")
		}
	}
	for i, key := range theirKeys {
		if _, isBoth := byOurs[key]; !isBoth {
			c.note(at.below(strconv.Itoa(i), "*"), r.ofLone(i, newTheirs, len(theirKeys)-newOurs), "", shortened(byTheirs[key]))
		}
	}
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
		if c.rules[found[i].pattern].kind == quantity {
			found[i].Class = Expected
		}
	}
}

// selections compares the keys that both servers chose.
func (c *comparison) selections(at place, our, their any) {
	a, isOurs := our.(map[string]any)
	b, isTheirs := their.(map[string]any)
	if !isOurs || !isTheirs {
		c.inside(at, false, our, their)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if value, isBoth := a[key]; isBoth {
			c.walk(at.below(key, "*"), false, value, b[key])
		}
	}
}
