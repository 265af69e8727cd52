package cache

import (
	"context"
	"time"

	"crossgate/cache/shared"
)

// Codec encodes values for the shared cache.
type Codec[V any] struct {
	// Encode encodes a value. It returns nothing for a value that is not for other replicas.
	Encode func(V) []byte
	// Decode decodes a value of a life and age. Any client of the server may have written the bytes.
	Decode func([]byte, Life, time.Duration) (V, error)
}

// obtain gets the result of a fill from the shared cache, or loads it for all replicas. If that fails, another
// replica's stale value is better than none.
func (c *Cache[V]) obtain(ctx context.Context, f *fill[V]) {
	behind, key := c.options.Shared, f.key
	// The other half of the time is left for a load here.
	found, lock := behind.Claim(ctx, key, f.want, c.options.LoadLimit/2)
	if found != nil {
		if c.accept(f, found, f.want) {
			return
		}
		_, lock = behind.TryClaim(ctx, key, shared.LockOnly)
	}
	if f.lock = lock; lock != nil {
		stop := lock.KeepAlive(ctx)
		defer stop()
	}
	c.load(ctx, f)
	if f.err == nil || f.want == shared.Fresh {
		return
	}
	// The caller's time may have run out.
	if found, _ := behind.TryClaim(context.WithoutCancel(ctx), key, shared.Any); found != nil {
		failure := f.err
		if c.accept(f, found, shared.Any) && f.outcome != Hit {
			f.failure, f.entry.failed = failure, time.Now()
			c.counts.failed.Add(1)
			c.counts.staleIfErrors.Add(1)
		}
	}
}

// accept takes a value from the shared cache unless it is malformed, too old, or already purged here.
func (c *Cache[V]) accept(f *fill[V], found *shared.Value, want shared.Want) bool {
	life := Life{Fresh: found.Fresh, Stale: found.Stale, IfError: found.Total - found.Fresh - found.Stale}
	if life.at(found.Age) == Miss {
		return false
	}
	value, err := c.options.Codec.Decode(found.Body, life, found.Age)
	if err != nil {
		return false
	}
	e := entry[V]{key: f.key, value: value, life: life, number: f.number, loaded: time.Now().Add(-found.Age), ended: found.IsPurged}
	if c.options.Tags != nil {
		e.tags = c.options.Tags(e.value)
	}
	if how, purged := c.options.Shared.Unpublished(e.key, e.tags); purged {
		if how == Hard {
			return false
		}
		e.ended = true
	}
	_, outcome := e.at(time.Now())
	tooOld := outcome == Miss || outcome == StaleIfError && want != shared.Any || outcome == Stale && want == shared.Fresh
	if tooOld || !c.holds(e.value) {
		return false
	}
	f.entry, f.outcome, f.remote, f.err = e, outcome, true, nil
	c.counts.remotes.Add(1)
	return true
}

// share releases a fill's lock, with the value unless it was purged meanwhile or is not for other replicas.
func (c *Cache[V]) share(ctx context.Context, f *fill[V]) {
	if f.lock == nil {
		return
	}
	e := &f.entry
	how, purged := c.purges.of(e.number, e.key, e.tags)
	if f.err != nil || f.remote || purged && how == Hard || e.life.whole() <= 0 {
		f.lock.Release(ctx)
		return
	}
	f.lock.Put(ctx, shared.Value{
		Age: time.Since(e.loaded), Fresh: e.life.Fresh, Stale: e.life.Stale, Total: e.life.whole(), Body: c.options.Codec.Encode(e.value),
	}, e.tags)
}
