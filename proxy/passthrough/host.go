package passthrough

import (
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"crossgate/cache/rfc9111"
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

// Host is an origin and what is forwarded to it.
type Host struct {
	Name  string   // in logs and measurements; and that of its Origins
	Hosts []string // values of Host, without ports; none: any that no other has
	Rules []Rule   // the longest prefix counts; Cache where there is none

	KeepHost    bool     // the origin is asked for the host that the client asked for
	Credentials []string // fields that say who asks, beside Authorization
	Options     rfc9111.Options
	MaxBody     int64 // bytes of a response that is stored
	MaxVariants int   // of one resource that are stored

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
			h.byName[strings.ToLower(name)] = &all[i]
		}
	}
	return h
}

// find returns whose a value of Host is; nil when it is nobody's.
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
// for it as it is, and without its dots, double slashes and escapes, counts.
func (h *Host) actionOf(asked string) Action {
	if len(h.Rules) == 0 {
		return Cache
	}
	strictest := h.ruleOf(asked)
	for _, other := range readings(asked) {
		strictest = max(strictest, h.ruleOf(other))
	}
	return strictest
}

// readings are other ways to read a decoded path.
func readings(asked string) []string {
	const deepest = 3 // times that an origin may decode
	all := []string{path.Clean(asked)}
	for range deepest {
		decoded, err := url.PathUnescape(asked)
		if err != nil || decoded == asked {
			break
		}
		asked = decoded
		all = append(all, asked, path.Clean(asked))
	}
	bare := strings.ReplaceAll(asked, `\`, "/")
	var segments []string
	for segment := range strings.SplitSeq(bare, "/") {
		plain, _, _ := strings.Cut(segment, ";") // parameters of a segment
		segments = append(segments, plain)
	}
	return append(all, path.Clean(strings.Join(segments, "/")))
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

// usual values of a Host.
const (
	DefaultMaxBody      = 8 << 20
	DefaultMaxVariants  = 16
	DefaultStaleIfError = time.Hour
	DefaultHeuristic    = 24 * time.Hour
)
