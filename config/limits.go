package config

import (
	"net/netip"
	"time"
)

// Limits bound clients' requests and concurrent work for them.
type Limits struct {
	Loads   int            `yaml:"loads" range:"0..; 0 means no bound"` // answers loaded concurrently; 0: no bound. Beyond it, only cached answers are served
	Address Quota          `yaml:"address"`                             // of each IP address without a key; default: no limit
	Keys    []Key          `yaml:"keys"`
	Proxies []netip.Prefix `yaml:"proxies"` // whose X-Forwarded-For and traceparent headers are trusted
}

// Quota is a token bucket that refills within the window. Most requests cost 1 unit, an estimation 5, a transaction 10;
// searching the chains for a transaction that is not indexed costs 4 more.
type Quota struct {
	Units  int           `yaml:"units" range:"10..1000000000; a swap costs 10"` // the bucket's capacity, at least 10
	Window time.Duration `yaml:"window" range:"1s.."`                           // in which an empty bucket refills
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
	// Total limits open connections, and requests in flight over HTTP/2. Beyond it, a new connection replaces the one
	// idle longest; if none is idle, new connections and requests get 503. 0: no bound
	Total int `yaml:"total" range:"0..; 0 means no bound"`
	// PerAddress limits both per IPv4 address or IPv6 /64 network in the same way, with 429. Addresses in
	// limits.proxies are exempt. 0: no bound
	PerAddress int `yaml:"perAddress" range:"0..; 0 means no bound"`
}

// TLS secures a listener. Changed files are reread.
type TLS struct {
	// CertFile is a PEM file with the listener's certificate chain; empty: no TLS
	CertFile string `yaml:"certFile"`
	KeyFile  string `yaml:"keyFile"` // PEM file with the private key of certFile
	// ClientCAFile is a PEM file with the authorities that must have issued clients' certificates; empty: clients need
	// none
	ClientCAFile string `yaml:"clientCAFile"`
}

func (t TLS) check(at place) {
	at.key("certFile").mistakeIf((t.CertFile == "") != (t.KeyFile == ""),
		"want a certificate and its key together, or neither")
	at.key("clientCAFile").mistakeIf(t.ClientCAFile != "" && t.CertFile == "",
		"applies to TLS only: set certFile and keyFile as well")
}
