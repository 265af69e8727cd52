package cache

import "time"

// Mark is a moment after all purges so far. Values loaded after it are out of the reach of those.
type Mark struct{ number uint64 }

// Mark returns that of now: for Keep, before the load of a value begins.
func (c *Cache[V]) Mark() Mark { return Mark{c.purges.newest.Load()} }

// Keep keeps a value that was loaded elsewhere since a mark. It is for values that no single load makes, such as
// those that take part after part; Get and GetShared do not mix with it under one key.
func (c *Cache[V]) Keep(since Mark, key Key, value V, life Life) {
	e := entry[V]{key: key, value: value, life: life, number: since.number, loaded: time.Now()}
	if c.options.Tags != nil {
		e.tags = c.options.Tags(value)
	}
	c.keep(e)
}

// Find returns the value of key that Keep has kept, and whether it was purged softly since. It counts nothing.
func (c *Cache[V]) Find(key Key) (value V, purged, found bool) {
	e, found := c.store.Get(slotOf(key))
	if !found || e.key != key || time.Since(e.loaded) >= e.life.whole() {
		return value, false, false
	}
	how, purged := c.purges.of(e.number, key, e.tags)
	if purged && how == Hard || !c.holds(e.value) {
		return value, false, false
	}
	return e.value, purged, true
}
