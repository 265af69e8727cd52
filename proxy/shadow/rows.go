package shadow

import (
	"slices"
	"strconv"
	"strings"
)

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
