package config

import (
	"net/netip"
	"time"
)

// Limits bound what clients may request, and how much is done for them at once.
type Limits struct {
	Loads   int            `yaml:"loads" range:"0..; 0 means no bound"` // answers loaded at once; 0: no bound. Cached answers are served beyond it
	Address Quota          `yaml:"address"`                             // of each IP address without a key; default: no limit
	Keys    []Key          `yaml:"keys"`
	Proxies []netip.Prefix `yaml:"proxies"` // whose X-Forwarded-For header is trusted
}

// Quota is a token bucket: it holds that many units and refills within the window. Most requests cost 1 unit, an
// estimation 5, a transaction 10; a search of the chains for a transaction that is not indexed 4 more.
type Quota struct {
	Units  int           `yaml:"units" range:"10..; that is what a swap costs"` // that the bucket holds, at least 10
	Window time.Duration `yaml:"window" range:"1s.."`                           // in which an empty one is full again
}

// Key is a client that identifies itself by a key, as a bearer token or as accesstoken in the query.
type Key struct {
	Name  string `yaml:"name"` // shown in RateLimit headers
	Key   Secret `yaml:"key"`
	Quota Quota  `yaml:"quota"`
}

func defaultLimits() Limits { return Limits{Loads: 1024} }

func (l Limits) check(at place) {
	names, keys := map[string]bool{"address": true}, map[string]bool{}
	for i, key := range l.Keys {
		here := at.key("keys").item(i)
		here.key("name").mistakeIf(names[key.Name] || !isToken(key.Name),
			"want a unique name of letters, digits and dashes, other than address")
		const shortest = 16
		here.key("key").mistakeIf(len(key.Key.Reveal()) < shortest || keys[key.Key.Reveal()],
			"want a unique key of at least %d characters", shortest)
		names[key.Name], keys[key.Key.Reveal()] = true, true
		here.key("quota").mistakeIf(key.Quota == (Quota{}), "want units and a window")
	}
}

// isToken reports whether text can be quoted in a header.
func isToken(text string) bool {
	for _, r := range text {
		if r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return text != ""
}

// parsePrefix parses an IP address or a CIDR range.
func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}
