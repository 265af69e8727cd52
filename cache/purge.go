package cache

import (
	"sync"
	"sync/atomic"

	"crossgate/cache/shared"
)

// purges are the numbered purges of keys and tags. Values are numbered, too, by the last purge before their load began:
// a purge reaches every value with a lower number than its own, including one being loaded meanwhile. This way the
// store need not find values by tag, which it cannot.
type purges struct {
	newest atomic.Uint64 // number of the last purge; most lookups read nothing else

	mu   sync.RWMutex
	last map[Key][2]uint64 // by key or tag: numbers of its last soft and hard purge
	all  [2]uint64         // numbers of the last soft and hard purge of everything
}

// mostPurges limits the memory. When it is reached, the purges are forgotten and everything cached so far is purged.
const mostPurges = shared.MaxPurges

// add purges the values that have one of the keys, as their own or as a tag.
func (p *purges) add(how Purge, keys ...Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	number := p.newest.Load() + 1
	if p.last == nil || len(p.last)+len(keys) > mostPurges {
		if p.last != nil {
			p.all[Hard] = number
		}
		p.last = make(map[Key][2]uint64)
	}
	for _, key := range keys {
		numbers := p.last[key]
		numbers[how] = number
		p.last[key] = numbers
	}
	// Last, so that readers of the number find the purge.
	p.newest.Store(number)
}

// of reports whether a value of this number was purged.
func (p *purges) of(number uint64, key Key, tags []Key) (how Purge, purged bool) {
	if number >= p.newest.Load() {
		return Soft, false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	last := p.last[key]
	for _, tag := range tags {
		of := p.last[tag]
		last[Soft], last[Hard] = max(last[Soft], of[Soft]), max(last[Hard], of[Hard])
	}
	if number < max(last[Hard], p.all[Hard]) {
		return Hard, true
	}
	return Soft, number < max(last[Soft], p.all[Soft])
}

// Purge invalidates all values, cached or being loaded, that have one of the keys as their own or as a tag: here
// immediately, in the shared level and on other replicas once they are reachable.
func (c *Cache[V]) Purge(how Purge, keys ...Key) {
	c.purges.add(how, keys...)
	if c.options.Shared != nil {
		c.options.Shared.Purge(how, keys...)
	}
}

// purged applies a purge by another replica; no keys mean everything.
func (c *Cache[V]) purged(how Purge, keys ...Key) {
	if len(keys) == 0 {
		c.PurgeAll(how)
	} else {
		c.purges.add(how, keys...)
	}
	if c.options.Purged != nil {
		c.options.Purged(how, keys...)
	}
}

// PurgeAll declares all that is kept or being loaded out of date, here alone.
func (c *Cache[V]) PurgeAll(how Purge) {
	p := &c.purges
	p.mu.Lock()
	defer p.mu.Unlock()
	number := p.newest.Load() + 1
	p.all[how] = number
	p.newest.Store(number)
}
