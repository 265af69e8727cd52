package config

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mistake is one error in a configuration. It never quotes a value, which may be a key.
type Mistake struct {
	Path    string // chains[2].endpoints[0].url; empty for the file as a whole
	Line    int    // zero if the configuration is not from a file
	Message string
}

func (m Mistake) String() string {
	var parts []string
	if m.Path != "" {
		parts = append(parts, m.Path)
	}
	if m.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", m.Line))
	}
	return strings.Join(append(parts, m.Message), ": ")
}

// Mistakes are all errors of a configuration, in the order of its lines.
type Mistakes []Mistake

// Error formats a single mistake as one line, several as their count and a line each.
func (m Mistakes) Error() string {
	if len(m) == 1 {
		return m[0].String()
	}
	lines := []string{fmt.Sprintf("%d mistakes", len(m))}
	for _, mistake := range m {
		lines = append(lines, "  "+mistake.String())
	}
	return strings.Join(lines, "\n")
}

// With merges m and further, in the order of the file. A mistake of m hides those of further at the same path or its
// parent mapping: a venue seems to lack a key if the key was unreadable.
func (m Mistakes) With(further Mistakes) Mistakes {
	all := slices.Clone(m)
	for _, mistake := range further {
		if !slices.ContainsFunc(m, func(known Mistake) bool { return known.covers(mistake.Path) }) {
			all = append(all, mistake)
		}
	}
	all.sort()
	return all
}

// covers reports whether m is at path or at one of its direct members.
func (m Mistake) covers(path string) bool {
	rest, within := strings.CutPrefix(m.Path, path)
	return within && (rest == "" || rest[0] == '.' && !strings.ContainsAny(rest[1:], ".["))
}

func (m Mistakes) sort() {
	slices.SortFunc(m, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path))
	})
}

// report collects the mistakes of one file, with the line of each path.
type report struct {
	lines    map[string]int
	mistakes Mistakes
	reads    bytes.Buffer // all that was read, for the revision
}

// line returns the line of path, or of the nearest enclosing path in the file.
func (r *report) line(path string) int {
	for path != "" {
		if line, given := r.lines[path]; given {
			return line
		}
		path = path[:max(strings.LastIndexByte(path, '.'), strings.LastIndexByte(path, '['), 0)]
	}
	return r.lines[""]
}

// place is a path within a configuration at which mistakes are reported.
type place struct {
	path string
	in   *report
}

func (p place) key(name string) place {
	if p.path == "" {
		return place{name, p.in}
	}
	return place{p.path + "." + name, p.in}
}

func (p place) item(i int) place { return place{p.path + "[" + strconv.Itoa(i) + "]", p.in} }

func (p place) mistakeIf(isWrong bool, format string, arguments ...any) {
	if isWrong {
		p.mistake(format, arguments...)
	}
}

// checkUnique reports, at its own place, each item of a list whose key equals an earlier item's.
func checkUnique[T any, K comparable](items []T, key func(T) K, list string, at func(i int) place) {
	first := make(map[K]int)
	for i, each := range items {
		if earlier, taken := first[key(each)]; taken {
			at(i).mistake("duplicate of %s[%d]", list, earlier)
		} else {
			first[key(each)] = i
		}
	}
}

// mistake reports the first mistake at p and ignores further ones: an unreadable value is not also missing.
func (p place) mistake(format string, arguments ...any) {
	if !slices.ContainsFunc(p.in.mistakes, func(known Mistake) bool { return known.Path == p.path }) {
		p.in.mistakes = append(p.in.mistakes, Mistake{p.path, p.in.line(p.path), fmt.Sprintf(format, arguments...)})
	}
}
