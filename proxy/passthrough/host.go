package passthrough

import (
	"cmp"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Action says how to handle a request.
type Action uint8

// The actions, in ascending strictness.
const (
	Cache  Action = iota // answer from the cache as the standard allows
	Pass                 // forward to the origin
	Refuse               // answer with an error
)

// Host is an origin and the requests forwarded to it.
type Host struct {
	Name  string            // for logs, metrics and Origins
	Hosts []string          // values of Host without ports; none means all that no other host has
	Rules map[string]Action // by prefix of the path; the longest counts, Cache if there is none

	KeepHost bool  // the origin gets the client's Host including its port, which is part of the key
	MaxBody  int64 // maximum bytes of a stored response
	// SetCookie allows storing responses that set cookies.
	SetCookie bool

	tally *tally
}

type hosts struct {
	all    []Host
	byName map[string]*Host
	other  *Host // nil if there is none
}

// newHosts returns hosts that continue the counts of previous hosts of the same name.
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

// find returns the host for a value of Host, nil if there is none.
func (h *hosts) find(value string) *Host {
	if len(h.byName) > 0 {
		if found := h.byName[hostname(value)]; found != nil {
			return found
		}
	}
	return h.other
}

func hostname(value string) string {
	if name, _, err := net.SplitHostPort(value); err == nil {
		value = name
	}
	return strings.TrimSuffix(strings.ToLower(value), ".")
}

// encodedSlash escapes encoded slashes once more, so that they stay encoded.
var encodedSlash = strings.NewReplacer("%2f", "%252f", "%2F", "%252F")

// actionOf returns the action for a path, decoded and escaped. If an origin may read the path differently, for instance
// an encoded slash as a part of a segment, the strictest rule applies.
func (h *Host) actionOf(asked, escaped string) Action {
	strictest := h.ruleOf(asked)
	if segments, err := url.PathUnescape(encodedSlash.Replace(escaped)); err == nil {
		strictest = max(strictest, h.ruleOf(segments))
	}
	if !isPlain(asked) {
		for _, do := range h.Rules {
			strictest = max(strictest, do)
		}
	}
	return strictest
}

// isPlain reports whether a decoded path is read alike everywhere: it has no dot segments, empty segments, backslashes,
// segment parameters, control characters or double encoding, and is valid UTF-8.
func isPlain(asked string) bool {
	return path.Clean(asked) == cmp.Or(strings.TrimSuffix(asked, "/"), "/") &&
		!strings.ContainsAny(asked, `%\;`) && !strings.ContainsFunc(asked, unicode.IsControl) && utf8.ValidString(asked)
}

// ruleOf returns the action of the longest matching prefix of a path. Case is ignored, as some origins do.
func (h *Host) ruleOf(asked string) Action {
	longest, action := -1, Cache
	for prefix, do := range h.Rules {
		switch fits := len(asked) >= len(prefix) && strings.EqualFold(asked[:len(prefix)], prefix); {
		case fits && len(prefix) > longest:
			longest, action = len(prefix), do
		case fits && len(prefix) == longest: // the same in another case
			action = max(action, do)
		}
	}
	return action
}

// DefaultMaxBody is the default of Host.MaxBody.
const DefaultMaxBody = 8 << 20
