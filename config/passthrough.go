package config

import (
	"slices"
	"strings"
)

// Passthrough forwards paths that the gateway does not serve itself to origins, through an HTTP cache by RFC 9111. Off
// without hosts.
type Passthrough struct {
	MaxBytes Bytes  `yaml:"maxBytes" range:"1MiB.."` // of cached responses in memory
	Hosts    []Host `yaml:"hosts"`
	Shadow   Shadow `yaml:"shadow"` // comparison of the gateway's own answers with those of hosts
}

// Host is an origin and the requests forwarded to it.
type Host struct {
	Name string `yaml:"name"` // in logs, metrics and purges, such as orders or swaps
	// Hosts are the Host header values to match, without ports; default: all that no other host matches
	Hosts     []string   `yaml:"hosts"`
	Endpoints []Endpoint `yaml:"endpoints"` // of the origin
	// Paths map path prefixes, in any letter case, to cache (the default), pass (always asks the origin) or refuse. The
	// longest prefix counts
	Paths map[string]string `yaml:"paths" oneof:"cache pass refuse"`
	// KeepHost sends the origin the client's Host header, with its port, instead of the URL's host. Each Host is cached
	// separately; list the origin's under hosts, or clients may send any
	KeepHost bool `yaml:"keepHost"`
	// SetCookie caches responses that set cookies like others. The next client gets the same cookies
	SetCookie bool `yaml:"setCookie"`
}

func (p Passthrough) check(at place) {
	names, hosts := map[string]bool{}, map[string]bool{}
	for i, host := range p.Hosts {
		here := at.key("hosts").item(i)
		here.key("name").mistakeIf(!isToken(host.Name) || names[host.Name], "want a unique name of letters, digits and dashes")
		names[host.Name] = true
		values := host.Hosts
		if len(values) == 0 {
			values = []string{""}
		}
		for _, value := range values {
			value = strings.TrimSuffix(strings.ToLower(value), ".")
			here.key("hosts").mistakeIf(hosts[value], "duplicate: each host, and all others, belong to one of passthrough.hosts")
			here.key("hosts").mistakeIf(strings.ContainsAny(value, "/ ") || strings.Count(value, ":") == 1, "want host names without scheme and port")
			hosts[value] = true
		}
		checkService(host.Endpoints, here.key("endpoints"))
		checkPrefixes(host.Paths, here.key("paths"))
	}
	p.Shadow.check(p.Hosts, at.key("shadow"))
}

// Shadow compares the gateway's answers with those of origins, after clients have received them. Off while share is 0.
type Shadow struct {
	Share float64 `yaml:"share" range:"0..1"` // of requests for the gateway's own paths, from 0 to 1
	// Paths map prefixes of documented paths to names of passthrough.hosts. The longest prefix counts; paths that match
	// none are not compared
	Paths map[string]string `yaml:"paths"`
}

func (s Shadow) check(hosts []Host, at place) {
	here := at.key("paths")
	here.mistakeIf(s.Share > 0 && len(s.Paths) == 0, "want the paths that are compared, each with its host")
	checkPrefixes(s.Paths, here)
	for prefix, name := range s.Paths {
		isKnown := slices.ContainsFunc(hosts, func(h Host) bool { return h.Name == name })
		here.key(prefix).mistakeIf(!isKnown, "want the name of one of passthrough.hosts")
	}
}

func checkPrefixes(of map[string]string, at place) {
	for prefix := range of {
		at.key(prefix).mistakeIf(!strings.HasPrefix(prefix, "/"), "want a path that begins with /")
	}
}
