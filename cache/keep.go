package cache

import "time"

// Mark is a moment after all purges so far, which do not affect values loaded after it.
type Mark struct{ number uint64 }

// Mark returns the current mark, for Keep. Call it before the load of a value begins.
func (c *Cache[V]) Mark() Mark { return Mark{c.purges.newest.Load()} }

// Keep stores a value that was loaded elsewhere since a mark. It is for values that no single load produces, such as
// those that arrive in parts. Do not use it with Get or GetShared for the same key.
func (c *Cache[V]) Keep(since Mark, key Key, value V, life Life) {
	e := entry[V]{key: key, value: value, life: life, number: since.number, loaded: time.Now()}
	if c.options.Tags != nil {
		e.tags = c.options.Tags(value)
	}
	c.keep(e)
}

// Find returns the value that Keep stored for key, and whether it was purged softly since. It is not counted.
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
