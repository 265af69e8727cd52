package config

// Cache bounds the memory that ready answers take.
type Cache struct {
	MaxBytes Bytes `yaml:"maxBytes"`
}

// smallestCache holds some hundred orders; below it the cache costs more than it saves.
const smallestCache = 1 << 20

func defaultCache() Cache { return Cache{MaxBytes: 256 << 20} }

func (c Cache) check(at place) {
	if c.MaxBytes < smallestCache {
		at.key("maxBytes").mistake("want 1MiB at least")
	}
}
