package config

import "strings"

// Shadow compares answers of the gateway with those of origins, after clients have got theirs: which of them would be
// others if the origin still answered. Off while share is 0.
type Shadow struct {
	Share float64      `yaml:"share" range:"0..1"` // of the requests for paths that the gateway answers itself, from 0 to 1
	Paths []ShadowPath `yaml:"paths"`              // the longest prefix counts; a path without one is not compared
}

// ShadowPath says which origin answers for paths of the gateway.
type ShadowPath struct {
	Prefix string `yaml:"prefix"` // of documented paths
	Host   string `yaml:"host"`   // name of one of passthrough.hosts
}

func (s Shadow) check(hosts []Host, at place) {
	at.key("paths").mistakeIf(s.Share > 0 && len(s.Paths) == 0, "want the paths that are compared, each with its host")
	for i, path := range s.Paths {
		here := at.key("paths").item(i)
		here.key("prefix").mistakeIf(!strings.HasPrefix(path.Prefix, "/"), "want a path that begins with /")
		isKnown := false
		for _, host := range hosts {
			isKnown = isKnown || host.Name == path.Host
		}
		here.key("host").mistakeIf(!isKnown, "want the name of one of passthrough.hosts")
	}
}
