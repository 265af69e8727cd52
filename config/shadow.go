package config

import (
	"slices"
	"strings"
)

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
