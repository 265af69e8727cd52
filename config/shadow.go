package config

import (
	"slices"
	"strings"
)

// Shadow compares answers of the gateway with those of origins, after clients have got theirs: which of them would be
// others if the origin still answered. Off while share is 0.
type Shadow struct {
	Share float64 `yaml:"share" range:"0..1"` // of the requests for paths that the gateway answers itself, from 0 to 1
	// Paths are the names of passthrough.hosts by prefix of documented paths. The longest counts; a path without one
	// is not compared
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
