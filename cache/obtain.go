package cache

import (
	"context"
	"time"
)

// obtain makes the result of a fill from what the shared level has, or by a load for all replicas. When that goes
// wrong, an old value of another replica is better than none.
func (c *Cache[V]) obtain(ctx context.Context, f *fill[V]) {
	shared, key := c.options.Shared, f.key
	// What is left of the time is enough for a load of its own.
	found, held := shared.claim(ctx, key, f.want, c.options.LoadLimit/2)
	if found != nil {
		if c.accept(f, found, f.want) {
			return
		}
		_, held, _ = shared.take(ctx, key, wantNone)
	}
	if f.held = held; held != nil {
		stop := shared.hold(ctx, held)
		defer stop()
	}
	c.load(ctx, f)
	if f.err == nil || f.want == wantFresh {
		return
	}
	// The caller's time may be over.
	if found, _, _ := shared.take(context.WithoutCancel(ctx), key, wantSpare); found != nil {
		failure := f.err
		if c.accept(f, found, wantSpare) && f.outcome != Hit {
			f.failure, f.entry.failed = failure, time.Now()
			c.counts.failed.Add(1)
			c.counts.staleIfErrors.Add(1)
		}
	}
}

// accept makes a value of the shared level the result of a fill, unless it is none or something is known against it
// that the shared level has not been told of.
func (c *Cache[V]) accept(f *fill[V], found *offer, want wanted) bool {
	e := entry[V]{key: f.key, number: f.number}
	life, body, err := cutLife(found.body)
	if err != nil {
		return false
	}
	e.value, err = c.options.Codec.Decode(body, life, found.age)
	if err != nil {
		return false
	}
	e.life, e.loaded, e.ended = life, time.Now().Add(-found.age), found.ended
	if c.options.Tags != nil {
		e.tags = c.options.Tags(e.value)
	}
	if how, purged := c.options.Shared.outbox.of(e.key, e.tags); purged {
		if how == Hard {
			return false
		}
		e.ended = true
	}
	_, outcome := e.at(time.Now())
	if outcome == Miss || outcome == StaleIfError && want != wantSpare || outcome == Stale && want == wantFresh || !c.holds(e.value) {
		return false
	}
	f.entry, f.outcome, f.remote, f.err = e, outcome, true, nil
	c.counts.remotes.Add(1)
	return true
}

// share gives back the lease of a fill, with the value unless it was purged meanwhile or is not for others.
func (c *Cache[V]) share(ctx context.Context, f *fill[V]) {
	if f.held == nil {
		return
	}
	e := &f.entry
	how, purged, _ := c.purges.of(e.number, e.key, e.tags)
	if f.err != nil || f.remote || purged && how == Hard || e.life.whole() <= 0 {
		c.options.Shared.release(ctx, f.held)
		return
	}
	body := c.options.Codec.Encode(e.value)
	if len(body) > 0 {
		body = append(appendLife(nil, e.life), body...)
	}
	c.options.Shared.hand(ctx, f.held, e.tags, e.life, time.Since(e.loaded), body)
}
