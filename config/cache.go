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
	if c.SharedTimeout < time.Millisecond || c.SharedTimeout > time.Second {
		at.key("sharedTimeout").mistake("want 1ms to 1s")
	}
}
