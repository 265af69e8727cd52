package config

import (
	"strings"
	"time"
)

// Cache bounds the memory that ready answers take, and says what replicas have in common.
type Cache struct {
	MaxBytes Bytes `yaml:"maxBytes"`
	// Shared is a Valkey or Redis that several gateways have behind their caches: redis://user:password@host:6379/0, with
	// TLS rediss://, for a socket unix:///path
	Shared Secret `yaml:"shared"`
	// SharedCAFile is the file, in PEM, of the authority that signed the certificate of a rediss:// server; without it those
	// that the system knows count. It is read anew for each connection
	SharedCAFile string `yaml:"sharedCAFile"`
	// SharedCertFile is the certificate, in PEM, that the gateway shows where the server wants one
	SharedCertFile string `yaml:"sharedCertFile"`
	// SharedKeyFile is the key of sharedCertFile
	SharedKeyFile string `yaml:"sharedKeyFile"`
	// SharedTimeout is for how long one call to it may delay an answer
	SharedTimeout time.Duration `yaml:"sharedTimeout"`
}

// smallestCache holds some hundred orders; below it the cache costs more than it saves.
const smallestCache = 1 << 20

func defaultCache() Cache { return Cache{MaxBytes: 256 << 20, SharedTimeout: 20 * time.Millisecond} }

func (c Cache) check(at place) {
	if c.MaxBytes < smallestCache {
		at.key("maxBytes").mistake("want 1MiB at least")
	}
	address := c.Shared.Reveal()
	isKnown := strings.HasPrefix(address, "redis://") || strings.HasPrefix(address, "rediss://") || strings.HasPrefix(address, "unix://")
	if address != "" && !isKnown {
		at.key("shared").mistake("want an address that begins with redis://, rediss:// or unix://")
	}
	for key, file := range map[string]string{"sharedCAFile": c.SharedCAFile, "sharedCertFile": c.SharedCertFile, "sharedKeyFile": c.SharedKeyFile} {
		if file != "" && !strings.HasPrefix(address, "rediss://") {
			at.key(key).mistake("is for TLS: want it with an address in shared that begins with rediss://")
		}
	}
	if (c.SharedCertFile == "") != (c.SharedKeyFile == "") {
		at.key("sharedCertFile").mistake("want a certificate and its key together, or neither")
	}
	if c.SharedTimeout < time.Millisecond || c.SharedTimeout > time.Second {
		at.key("sharedTimeout").mistake("want 1ms to 1s")
	}
}
