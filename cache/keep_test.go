package cache

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestKeptValues(t *testing.T) {
	life := Life{Fresh: time.Minute, Stale: time.Minute}
	for name, c := range map[string]struct {
		between, after func(*Cache[string]) // the load and the keeping of a value; that
		found, purged  bool
	}{
		"kept":                       {found: true},
		"until the end of its life":  {after: func(*Cache[string]) { time.Sleep(2 * time.Minute) }},
		"not after a purge":          {after: func(c *Cache[string]) { c.Purge(Hard, named("key")) }},
		"nor of its tag":             {after: func(c *Cache[string]) { c.Purge(Hard, named("tag v")) }},
		"purged softly":              {after: func(c *Cache[string]) { c.Purge(Soft, named("tag v")) }, found: true, purged: true},
		"purged while it was loaded": {between: func(c *Cache[string]) { c.Purge(Hard, named("key")) }},
		"softly while it was loaded": {between: func(c *Cache[string]) { c.Purge(Soft, named("key")) }, found: true, purged: true},
		"another one was purged":     {after: func(c *Cache[string]) { c.Purge(Hard, named("other")) }, found: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := open(t, Options[string]{Tags: tagged})
				mark := cache.Mark()
				if c.between != nil {
					c.between(cache)
				}
				cache.Keep(mark, named("key"), "value", life)
				if c.after != nil {
					c.after(cache)
				}
				value, purged, found := cache.Find(named("key"))
				if found != c.found || purged != c.purged || found && value != "value" {
					t.Errorf("%q, purged %t, found %t", value, purged, found)
				}
			})
		})
	}
}

// TestWhatWasLoadedBeforeAPurgeDoesNotReplaceWhatWasLoadedAfter keeps two values in the wrong order.
func TestWhatWasLoadedBeforeAPurgeDoesNotReplaceWhatWasLoadedAfter(t *testing.T) {
	c := open(t, Options[string]{Tags: tagged})
	early := c.Mark()
	c.Purge(Hard, named("key"))
	c.Keep(c.Mark(), named("key"), "value after", Life{Fresh: time.Hour})
	c.Keep(early, named("key"), "value before", Life{Fresh: time.Hour})
	if value, _, found := c.Find(named("key")); !found || value != "value after" {
		t.Errorf("%q, %t", value, found)
	}
}
