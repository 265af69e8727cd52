package shadow

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// lists compares the rows of two lists: in sequence, or by what tells them apart.
func (c *comparison) lists(at place, lead side, r rule, our, their any) {
	a, isOurs := our.([]any)
	b, isTheirs := their.([]any)
	if !isOurs || !isTheirs {
		c.inside(at, lead, our, their)
		return
	}
	switch r.kind {
	case newest:
		c.parts(at, r.key, a, b)
	case rows, appended, moving:
		c.matched(at, lead, r, a, b)
	default:
		for i := range max(len(a), len(b)) {
			here := at.below(strconv.Itoa(i), "*")
			switch {
			case i >= len(a):
				c.note(here, OursWrong, "", shortened(b[i]))
			case i >= len(b):
				c.note(here, OursWrong, shortened(a[i]), "")
			default:
				c.walk(here, lead, a[i], b[i])
			}
		}
	}
}

// keyOf is what tells a row apart, by the paths of its members, separated by spaces. Rows that are equal in it count.
func keyOf(row any, paths string, seen map[string]int) string {
	var key strings.Builder
	for path := range strings.SplitSeq(paths, " ") {
		key.WriteString(textOf(memberAt(row, path)) + " ")
	}
	text := key.String()
	seen[text]++
	return text + strconv.Itoa(seen[text])
}

// indexed returns rows by their keys, and the keys in sequence.
func indexed(list []any, paths string) (byKey map[string]any, keys []string) {
	byKey, seen := make(map[string]any, len(list)), map[string]int{}
	for _, row := range list {
		key := keyOf(row, paths, seen)
		byKey[key], keys = row, append(keys, key)
	}
	return byKey, keys
}

// matched compares rows in any sequence.
func (c *comparison) matched(at place, lead side, r rule, our, their []any) {
	byOurs, ourKeys := indexed(our, r.key)
	byTheirs, theirKeys := indexed(their, r.key)
	isMoving := c.holdsMoving(at)
	onlyOurs, onlyTheirs := OursWrong, OursWrong
	switch {
	case r.kind == appended:
		onlyOurs, onlyTheirs = TheirsLate, OursLate
	case r.kind == moving, isMoving: // it may be new to the one or over for the other
		onlyOurs, onlyTheirs = Unsettled, Unsettled
	}
	for i, key := range ourKeys {
		here := at.below(strconv.Itoa(i), "*")
		row, isTheirs := byTheirs[key]
		switch {
		case isTheirs:
			before := len(c.found)
			c.walk(here, lead, byOurs[key], row)
			if isMoving {
				c.unsettle(c.found[before:])
			}
		case c.rules[here.pattern].kind == ownMember:
		default:
			c.note(here, onlyOurs, shortened(byOurs[key]), "")
		}
	}
	for i, key := range theirKeys {
		if _, isOurs := byOurs[key]; !isOurs {
			c.note(at.below(strconv.Itoa(i), "*"), onlyTheirs, "", shortened(byTheirs[key]))
		}
	}
}

// unsettle changes what is said of amounts of a row whose moving rows differ: they are sums of these.
func (c *comparison) unsettle(found []Difference) {
	if !slices.ContainsFunc(found, func(d Difference) bool { return d.Class == Unsettled }) {
		return
	}
	for i := range found {
		if c.rules[found[i].pattern].kind == quantity {
			found[i].Class = Unsettled
		}
	}
}

// holdsMoving reports whether the rows of a list are there because of moving ones below them.
func (c *comparison) holdsMoving(at place) bool {
	prefix := strings.TrimPrefix(at.pattern+"/*/", "/")
	for pattern, r := range c.rules {
		if r.kind == moving && strings.HasPrefix(pattern, prefix) {
			return true
		}
	}
	return false
}

// parts compares parts of two lists that grow at their beginning: what one has before the first row that both have is
// new, and pushes as many rows of the other out at the end.
func (c *comparison) parts(at place, paths string, our, their []any) {
	byOurs, ourKeys := indexed(our, paths)
	byTheirs, theirKeys := indexed(their, paths)
	newOurs, newTheirs := leading(ourKeys, byTheirs), leading(theirKeys, byOurs)
	if newOurs > 0 && newTheirs > 0 { // each has rows before all others: they do not follow the same list
		newOurs, newTheirs = 0, 0
	}
	for i, key := range ourKeys {
		here := at.below(strconv.Itoa(i), "*")
		row, isBoth := byTheirs[key]
		switch {
		case isBoth:
			c.walk(here, neither, byOurs[key], row)
		case i < newOurs:
			c.note(here, TheirsLate, shortened(byOurs[key]), "")
		case i < len(ourKeys)-newTheirs: // it is not pushed out
			c.note(here, OursWrong, shortened(byOurs[key]), "")
		}
	}
	for i, key := range theirKeys {
		here := at.below(strconv.Itoa(i), "*")
		switch _, isBoth := byOurs[key]; {
		case isBoth:
		case i < newTheirs:
			c.note(here, OursLate, "", shortened(byTheirs[key]))
		case i < len(theirKeys)-newOurs:
			c.note(here, OursWrong, "", shortened(byTheirs[key]))
		}
	}
}

// leading counts the rows before the first that the other list has as well.
func leading(keys []string, other map[string]any) int {
	for i, key := range keys {
		if _, isBoth := other[key]; isBoth {
			return i
		}
	}
	return len(keys)
}

// keysTold is how many keys stand for all that only the origin has.
const keysTold = 3

// selections compares what both servers have chosen. What only the origin has is told at once, by some of its keys:
// it may be thousands, none of which contradicts this gateway.
func (c *comparison) selections(at place, our, their any) {
	a, isOurs := our.(map[string]any)
	b, isTheirs := their.(map[string]any)
	if !isOurs || !isTheirs {
		c.inside(at, neither, our, their)
		return
	}
	var more []string
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if value, isBoth := a[key]; isBoth {
			c.walk(at.below(key, "*"), neither, value, b[key])
		} else {
			more = append(more, printable(key))
		}
	}
	if len(more) > 0 {
		c.note(at, OursLate, "", fmt.Sprintf("%d more, such as %s", len(more), strings.Join(more[:min(len(more), keysTold)], ", ")))
	}
}
