package config

import (
	"slices"
	"strings"
)

// Cache bounds the memory of cached answers and configures the cache that replicas share.
type Cache struct {
	MaxBytes Bytes `yaml:"maxBytes" range:"1MiB..; a smaller cache costs more than it saves"` // of cached answers with their keys, compressed forms included
	// Shared is the URL of a Valkey or Redis that several gateways share: redis://user:password@host:6379/0,
	// rediss:// for TLS, unix:///path for a socket
	Shared Secret `yaml:"shared"`
	// SharedCAFile is a PEM file with the certificate authority of a rediss:// server, reread for each connection;
	// empty: the system's authorities are trusted
	SharedCAFile string `yaml:"sharedCAFile"`
}

func (c Cache) check(at place) {
	address := c.Shared.Reveal()
	scheme, _, _ := strings.Cut(address, "://")
	at.key("shared").mistakeIf(address != "" && (scheme == address || !slices.Contains([]string{"redis", "rediss", "unix"}, scheme)),
		"want a URL that begins with redis://, rediss:// or unix://")
	at.key("sharedCAFile").mistakeIf(c.SharedCAFile != "" && scheme != "rediss",
		"applies to TLS only: use it with a rediss:// URL in shared")
}
