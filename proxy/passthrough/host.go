package passthrough

import (
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
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

// hosts are those of a configuration.
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

// actionOf is what becomes of a path. An origin may read a path in another way than we do: the strictest of what holds
// for its readings counts and, where it may be read as any path, the strictest of all rules.
func (h *Host) actionOf(asked string) Action {
	if len(h.Rules) == 0 {
		return Cache
	}
	strictest := Cache
	all, isClear := readings(asked)
	for _, reading := range all {
		strictest = max(strictest, h.ruleOf(reading))
	}
	if !isClear {
		for _, rule := range h.Rules {
			strictest = max(strictest, rule.Do)
		}
	}
	return strictest
}

// readings are the ways to read a decoded path: as it is, or decoded again; with dots, empty segments, backslashes and
// parameters of segments, or without. It is not clear where it has control characters, encodings that are longer than
// those of UTF-8, or too many layers.
func readings(asked string) (all []string, isClear bool) {
	const mostLayers = 4
	for range mostLayers {
		if strings.ContainsFunc(asked, unicode.IsControl) || isOverlong(asked) {
			return all, false
		}
		all = append(all, asked, clean(asked), clean(parameters.ReplaceAllString(strings.ReplaceAll(asked, `\`, "/"), "")))
		decoded := escape.ReplaceAllStringFunc(asked, func(each string) string {
			decoded, _ := url.PathUnescape(each) // which is well-formed
			return decoded
		})
		if decoded == asked {
			return all, true
		}
		asked = decoded
	}
	return all, false
}

var (
	escape     = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	parameters = regexp.MustCompile(`;[^/]*`)
)

// isOverlong reports whether a character is encoded in more bytes than UTF-8 has for it.
func isOverlong(text string) bool {
	for i := 1; i < len(text); i++ {
		lead, next := text[i-1], text[i]
		if next&0xC0 == 0x80 && (lead == 0xC0 || lead == 0xC1 || lead == 0xE0 && next < 0xA0 || lead == 0xF0 && next < 0x90) {
			return true
		}
	}
	return false
}

// clean is a path without dots and empty segments. It ends with a slash where it did.
func clean(asked string) string {
	cleaned := path.Clean(asked)
	if cleaned != "/" && (strings.HasSuffix(asked, "/") || strings.HasSuffix(asked, "/.") || strings.HasSuffix(asked, "/..")) {
		cleaned += "/"
	}
	return cleaned
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
