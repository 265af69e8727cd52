// Package cache keeps values for as long as they may be served, and shares one load per key among all concurrent
// callers.
//
// Hit is the fast path: it looks a key up in ristretto and does not allocate. Get does the rest. A value has a Life of
// three parts, those of RFC 5861: fresh, then served while it is revalidated in the background, then served only if
// revalidating fails or takes more than 1.5 s. On a miss the call joins the fill of its key, or starts one
// (singleflight): a goroutine of its own, which outlives the calls that wait for it and has its own time limit. With a
// Shared level behind the cache, the fill first looks there, and holds a lock there while it loads, so that one replica
// loads for all.
//
// Three things end a value before its life is over. A purge of a key or a tag reaches every value loaded before it and
// every load in flight, on all replicas. Options.Holds is called before a value is served, since only the value knows
// whether its sources still hold. And a value may be evicted by others. After either of the first two, a call does not
// accept the result of a fill that began earlier.
//
// All methods are safe for concurrent use. Values are shared and must not be changed. Close waits for fills.
package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"crossgate/cache/shared"
)

// Errors of a cache that does not load.
var (
	ErrClosed = errors.New("cache is closed")
	ErrBusy   = errors.New("too many loads under way")

	errLate = errors.New("the load is late, so a stale value is served")
)

// Defaults of Options.
const (
	defaultMaxBytes  = 64 << 20
	defaultLoadLimit = 30 * time.Second
)

// Parameters of ristretto. It wants ten access counters for every entry that it can hold when full; values are several
// kilobytes, so one entry per two kilobytes is a pessimistic guess.
const (
	typicalCost      = 2 << 10
	countersPerEntry = 10
	leastCounters    = 10_000
	bufferItems      = 64
	entryOverhead    = 192 // bytes of an entry besides value and tags
)

// retryDelay is how long after a failed load a value that is no longer fresh is served without another attempt.
const retryDelay = time.Second

// lateAfter is how long a load may take before a stale-if-error value is served instead. The load goes on.
const lateAfter = 1500 * time.Millisecond

// Options configures a Cache.
type Options[V any] struct {
	MaxBytes  int64         // of values and their keys together; 0 means 64 MiB
	Cost      func(V) int64 // bytes of a value
	Tags      func(V) []Key // tags to purge a value by, besides its key; nil for none
	Holds     func(V) bool  // whether the sources of a value still hold; nil for always
	LoadLimit time.Duration // of one load; 0 means 30 s
	MaxLoads  int           // concurrent loads, beyond which calls get ErrBusy; 0: unbounded. See SetMaxLoads
	Shared    *shared.Cache // the level behind, which replicas share; nil for none
	Codec     Codec[V]      // for values in Shared
	// Purged is called for each purge by another replica; no keys mean a purge of everything. It must not block.
	Purged func(how Purge, keys ...Key)
}

// Cache holds values by key. Values are shared between callers and must not be changed.
type Cache[V any] struct {
	options Options[V]
	store   *ristretto.Cache[uint64, entry[V]] // by slot of the key
	counts  counters
	purges  purges
	keeping sync.Mutex // held while a value is stored

	mu       sync.Mutex
	maxLoads int
	fills    map[Key]*fill[V]
	closed   bool
	running  sync.WaitGroup // fills
}

type entry[V any] struct {
	key    Key
	value  V
	life   Life
	tags   []Key
	number uint64 // of the last purge before the load began
	loaded time.Time
	ended  bool      // purged softly before it came from the shared level
	failed time.Time // last failed revalidation; zero if none
}

// isOlder reports whether a value was loaded before another of its key, whose fill has replaced its own.
func (e *entry[V]) isOlder(than entry[V]) bool {
	return e.number < than.number || e.number == than.number && e.loaded.Before(than.loaded)
}

// at returns the age of an entry and how it is served, apart from later purges.
func (e *entry[V]) at(now time.Time) (age time.Duration, outcome Outcome) {
	age = now.Sub(e.loaded)
	outcome = e.life.at(age)
	if outcome == Hit && e.ended {
		outcome = e.life.ended()
	}
	return age, outcome
}

// New returns an empty cache. Close it after use.
func New[V any](o Options[V]) (*Cache[V], error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.LoadLimit <= 0 {
		o.LoadLimit = defaultLoadLimit
	}
	c := &Cache[V]{options: o, maxLoads: o.MaxLoads, fills: map[Key]*fill[V]{}}
	store, err := ristretto.NewCache(&ristretto.Config[uint64, entry[V]]{
		NumCounters:        max(countersPerEntry*o.MaxBytes/typicalCost, leastCounters),
		MaxCost:            o.MaxBytes,
		BufferItems:        bufferItems,
		IgnoreInternalCost: true, // replaced by entryOverhead
		ShouldUpdate:       func(next, held entry[V]) bool { return next.key != held.key || !next.isOlder(held) },
		OnReject:           func(*ristretto.Item[entry[V]]) { c.counts.dropped.Add(1) },
	})
	if err != nil {
		return nil, fmt.Errorf("cache of %d bytes: %w", o.MaxBytes, err)
	}
	c.store = store
	if o.Shared != nil {
		o.Shared.OnPurge(c.purged)
	}
	return c, nil
}

// SetMaxLoads changes Options.MaxLoads. Loads in flight are unaffected.
func (c *Cache[V]) SetMaxLoads(most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.maxLoads = most
}

// Result is a value and where it came from.
type Result[V any] struct {
	Value   V
	Life    Life
	Outcome Outcome
	Age     time.Duration // since it was loaded; zero on a miss
	Shared  bool          // a miss that joined another call's load
	Remote  bool          // from the shared level
	Failure error         // of StaleIfError: why the load failed that this call waited for; nil if the load goes on
}

// Load fetches the value of a key. Its error goes to all waiters and is not cached: a result to remember for a moment,
// like "not found", is a value.
type Load[V any] func(context.Context) (V, Life, error)

// Hit returns the value of key if it is cached and fresh. It does not allocate.
func (c *Cache[V]) Hit(key Key) (kept Result[V], found bool) {
	kept, _ = c.lookup(key)
	if kept.Outcome != Hit {
		return Result[V]{}, false
	}
	c.counts.hits.Add(1)
	return kept, true
}

// Get returns the value of key from the store or by load. A load runs once for all concurrent callers and goes on if
// they leave: its context has the values of the first caller's and its own time limit. ctx bounds only this call's
// wait. The shared level is not involved.
func (c *Cache[V]) Get(ctx context.Context, key Key, load Load[V]) (Result[V], error) {
	return c.get(ctx, key, fillOptions[V]{load: load})
}

// GetShared is like Get for values that replicas may take from each other: through the shared level, a load runs once
// for all concurrent callers on any replica.
func (c *Cache[V]) GetShared(ctx context.Context, key Key, load Load[V]) (Result[V], error) {
	return c.get(ctx, key, fillOptions[V]{load: load, isShared: c.options.Shared != nil})
}

func (c *Cache[V]) get(ctx context.Context, key Key, how fillOptions[V]) (Result[V], error) {
	kept, failed := c.lookup(key)
	switch {
	case kept.Outcome == Hit:
		c.counts.hits.Add(1)
		return kept, nil
	case kept.Outcome == Stale || kept.Outcome == StaleIfError && failed:
		if !failed {
			how.want = shared.Fresh
			c.join(ctx, key, how)
		}
		c.counts.stales.Add(1)
		return kept, nil
	}
	c.counts.misses.Add(1)
	how.want = shared.Stale
	f, joined := c.join(ctx, key, how)
	result, err := f.waitBeside(ctx, kept)
	if joined && err == nil && !c.holds(result.Value) { // its load began before this call; the next one's will not have
		c.forget(f)
		f, joined = c.join(ctx, key, how)
		result, err = f.waitBeside(ctx, kept)
	}
	if err != nil && kept.Outcome == StaleIfError {
		c.counts.staleIfErrors.Add(1)
		if !errors.Is(err, errLate) {
			kept.Failure = err
		}
		return kept, nil
	}
	result.Shared = joined
	return result, err
}

// lookup returns what may be served of key, a miss if nothing, and whether revalidating it failed a moment ago.
func (c *Cache[V]) lookup(key Key) (kept Result[V], failed bool) {
	e, found := c.store.Get(slotOf(key))
	if !found || e.key != key {
		return Result[V]{}, false
	}
	now := time.Now()
	age, outcome := e.at(now)
	if how, purged := c.purges.of(e.number, key, e.tags); purged {
		if how == Hard {
			return Result[V]{}, false
		}
		if outcome == Hit {
			outcome = e.life.ended()
		}
	}
	if outcome == Miss || !c.holds(e.value) {
		return Result[V]{}, false
	}
	return Result[V]{Value: e.value, Life: e.life, Outcome: outcome, Age: age}, now.Sub(e.failed) < retryDelay
}

func (c *Cache[V]) holds(value V) bool { return c.options.Holds == nil || c.options.Holds(value) }

// keep stores a value, and returns once it can be found. Ristretto rejects new keys that would displace more popular
// ones; then the next call loads again. Values are stored one at a time, since ristretto drops those beyond its queue,
// and all but the first of one key.
func (c *Cache[V]) keep(e entry[V]) {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	rest := e.life.whole() - time.Since(e.loaded)
	if rest <= 0 {
		return
	}
	cost := int64(entryOverhead + len(e.tags)*len(Key{}))
	if c.options.Cost != nil {
		cost += c.options.Cost(e.value)
	}
	if !c.store.SetWithTTL(slotOf(e.key), e, cost, rest) {
		c.counts.dropped.Add(1)
		return
	}
	c.store.Wait()
}

// postpone delays the next revalidation of the value of key, if it is cached.
func (c *Cache[V]) postpone(key Key) {
	if e, found := c.store.Get(slotOf(key)); found && e.key == key {
		e.failed = time.Now()
		c.keep(e)
	}
}

// Close waits for loads in flight and frees the store. Later calls get ErrClosed.
func (c *Cache[V]) Close() {
	c.mu.Lock()
	already := c.closed
	c.closed = true
	c.mu.Unlock()
	c.running.Wait()
	if !already {
		c.store.Close()
	}
}

// Stats counts the outcomes of calls since the start, and the loads in flight.
type Stats struct {
	Hits, Stales, Misses uint64
	Loads                uint64 // fewer than Stales plus Misses, because calls share loads
	Failed               uint64 // loads that ended in an error
	StaleIfErrors        uint64 // misses that got a stale value because a load failed or was late
	Remotes              uint64 // loads that the shared level saved
	Shed                 uint64 // loads rejected with ErrBusy
	Dropped              uint64 // values that the store rejected
	Loading              uint64 // loads in flight
}

// Stats returns the current counts.
func (c *Cache[V]) Stats() Stats {
	c.mu.Lock()
	loading := len(c.fills)
	c.mu.Unlock()
	return Stats{
		Hits: c.counts.hits.Load(), Stales: c.counts.stales.Load(), Misses: c.counts.misses.Load(),
		Loads: c.counts.loads.Load(), Failed: c.counts.failed.Load(), StaleIfErrors: c.counts.staleIfErrors.Load(),
		Remotes: c.counts.remotes.Load(), Shed: c.counts.shed.Load(), Dropped: c.counts.dropped.Load(), Loading: uint64(loading),
	}
}

type counters struct {
	hits, stales, misses, loads, failed, staleIfErrors, remotes, shed, dropped atomic.Uint64
}
