package passthrough

import (
	"cmp"
	"net"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Action is what becomes of a request.
type Action uint8

// The actions, the stricter the greater.
const (
	Cache  Action = iota // answered from the cache as the standard allows
	Pass                 // goes on to the origin
	Refuse               // is answered with an error
)

// Rule says what becomes of requests whose path begins with a prefix.
type Rule struct {
	Prefix string
	Do     Action
}

// Host is an origin and the requests forwarded to it.
type Host struct {
	Name  string   // in logs and measurements; and that of its Origins
	Hosts []string // values of Host, without ports; none: any that no other has
	Rules []Rule   // the longest prefix counts; Cache where there is none

	KeepHost bool  // the origin is asked for the Host, with its port, that the client asked for; the key has it
	MaxBody  int64 // bytes of a response that is stored
	// SetCookie has responses that set cookies stored like others.
	SetCookie bool

	tally *tally
}

type hosts struct {
	all    []Host
	byName map[string]*Host
	other  *Host // nil: there is none
}

// newHosts are hosts that go on counting where those of the same name were.
func newHosts(all []Host, before *hosts) *hosts {
	h := &hosts{all: slices.Clone(all), byName: map[string]*Host{}}
	all = h.all
	for i := range all {
		all[i].tally = new(tally)
		for _, was := range before.all {
			if was.Name == all[i].Name {
				all[i].tally = was.tally
			}
		}
		if len(all[i].Hosts) == 0 {
			h.other = &all[i]
		}
		for _, name := range all[i].Hosts {
			h.byName[hostname(name)] = &all[i]
		}
	}
	return h
}

// find returns the host that a value of Host belongs to; nil: none.
func (h *hosts) find(value string) *Host {
	if len(h.byName) > 0 {
		if found := h.byName[hostname(value)]; found != nil {
			return found
		}
	}
	return h.other
}

// hostname is a value of Host without its port, in lower case.
func hostname(value string) string {
	if name, _, err := net.SplitHostPort(value); err == nil {
		value = name
	}
	return strings.TrimSuffix(strings.ToLower(value), ".")
}

// actionOf is what becomes of a path. Where an origin may read it in another way than we do, the strictest rule holds.
func (h *Host) actionOf(asked string) Action {
	strictest := h.ruleOf(asked)
	if !isPlain(asked) {
		for _, rule := range h.Rules {
			strictest = max(strictest, rule.Do)
		}
	}
	return strictest
}

// isPlain reports whether a decoded path is read alike everywhere: it has no dots, empty segments, backslashes,
// parameters of segments and control characters, nothing is encoded twice, and all of it is UTF-8.
func isPlain(asked string) bool {
	return path.Clean(asked) == cmp.Or(strings.TrimSuffix(asked, "/"), "/") &&
		!strings.ContainsAny(asked, `%\;`) && !strings.ContainsFunc(asked, unicode.IsControl) && utf8.ValidString(asked)
}

// ruleOf is the action of the longest prefix of a path. Case does not count, since it does not at some origins.
func (h *Host) ruleOf(asked string) Action {
	longest, action := -1, Cache
	for _, rule := range h.Rules {
		if len(rule.Prefix) > longest && len(asked) >= len(rule.Prefix) && strings.EqualFold(asked[:len(rule.Prefix)], rule.Prefix) {
			longest, action = len(rule.Prefix), rule.Do
		}
	}
	return action
}

// DefaultMaxBody is the usual Host.MaxBody.
const DefaultMaxBody = 8 << 20
