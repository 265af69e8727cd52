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
	Proxies []netip.Prefix `yaml:"proxies"` // whose X-Forwarded-For and traceparent headers are trusted
}

// Quota is a token bucket: it holds that many units and refills within the window. Most requests cost 1 unit, an
// estimation 5, a transaction 10; a search of the chains for a transaction that is not indexed 4 more.
type Quota struct {
	Units  int           `yaml:"units" range:"10..1000000000; a swap costs 10"` // that the bucket holds, at least 10
	Window time.Duration `yaml:"window" range:"1s.."`                           // in which an empty one is full again
}

// Key is a client that identifies itself by a key, as a bearer token or as accesstoken in the query.
type Key struct {
	Name  string `yaml:"name"` // shown in RateLimit headers
	Key   Secret `yaml:"key"`
	Quota Quota  `yaml:"quota"`
}

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

func parsePrefix(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Prefix(address.BitLen())
	}
	return netip.ParsePrefix(text)
}

// Connections bounds what clients may keep open on the public listener.
type Connections struct {
	// Total of open connections, and of requests under way over HTTP/2. Beyond it the connection that has been idle
	// longest is closed for a new one; when none is idle, new ones get 503, as requests do. 0: no bound
	Total int `yaml:"total" range:"0..; 0 means no bound"`
	// PerAddress is how many of either one IPv4 address or IPv6 /64 network may have; beyond it the same, with 429.
	// Those of limits.proxies are not counted. 0: no bound
	PerAddress int `yaml:"perAddress" range:"0..; 0 means no bound"`
}

// TLS secures a listener. Files that change are read again.
type TLS struct {
	// CertFile is a PEM file with the listener's certificate and those that lead to its authority; empty: no TLS
	CertFile string `yaml:"certFile"`
	KeyFile  string `yaml:"keyFile"` // PEM file with the private key of certFile
	// ClientCAFile is a PEM file with the authorities that clients' certificates must come from; empty: clients need
	// none
	ClientCAFile string `yaml:"clientCAFile"`
}

func (t TLS) check(at place) {
	at.key("certFile").mistakeIf((t.CertFile == "") != (t.KeyFile == ""),
		"want a certificate and its key together, or neither")
	at.key("clientCAFile").mistakeIf(t.ClientCAFile != "" && t.CertFile == "",
		"applies to TLS only: set certFile and keyFile as well")
}
