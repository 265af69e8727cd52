package config

import (
	"net/netip"
	"time"
)

// Limits is how much clients may ask for, and how much is done for them at a time.
type Limits struct {
	Loads   int            `yaml:"loads"`   // answers made at a time; zero: no bound. What is kept is served all the same
	Address Quota          `yaml:"address"` // of each client without a key; absent: no limit
	Keys    []Key          `yaml:"keys"`
	Proxies []netip.Prefix `yaml:"proxies"` // whose X-Forwarded-For is believed
}

// Quota is so many units at once, and as many again in every window. Most requests cost one, an estimation 5, a
// transaction 10.
type Quota struct {
	Units  int           `yaml:"units"`
	Window time.Duration `yaml:"window"`
}

// Key is a client that gives a key, as a bearer or in the query as accesstoken.
type Key struct {
	Name  string `yaml:"name"` // as answers tell it
	Key   Secret `yaml:"key"`
	Quota Quota  `yaml:"quota"`
}

func defaultLimits() Limits { return Limits{Loads: 1024} }

func (l Limits) check(at place) {
	if l.Loads < 0 {
		at.key("loads").mistake("want a number from 1 on, or 0 for no bound")
	}
	if l.Address != (Quota{}) {
		l.Address.check(at.key("address"))
	}
	names, keys := map[string]bool{"address": true}, map[string]bool{}
	for i, key := range l.Keys {
		here := at.key("keys").item(i)
		if names[key.Name] || !isToken(key.Name) {
			here.key("name").mistake("want a name of letters, digits and dashes that no other key has, and not address")
		}
		const shortest = 16
		if len(key.Key.Reveal()) < shortest || keys[key.Key.Reveal()] {
			here.key("key").mistake("want %d characters at least, and not those of another key", shortest)
		}
		names[key.Name], keys[key.Key.Reveal()] = true, true
		key.Quota.check(here.key("quota"))
	}
}

func (q Quota) check(at place) {
	if q.Units < 10 {
		at.key("units").mistake("want 10 at least, which is what a swap costs")
	}
	if q.Window < time.Second {
		at.key("window").mistake("want 1s at least")
	}
}

// isToken tells whether text can stand between quotes in a header.
func isToken(text string) bool {
	for _, r := range text {
		if r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return text != ""
}

// parsePrefix reads a range of addresses, or one of them.
func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}
