// Package cache keeps values for as long as they may be served, and has one load per key answer all who ask
// meanwhile.
//
// Hit is the fast path: it looks a key up in ristretto and allocates nothing. Get takes the rest. A value has a Life
// of three parts, those of RFC 5861: fresh, then served while it is revalidated in the background, then served only if
// revalidating it fails or takes more than 1.5 s. On a miss the call joins the fill of its key, or starts one
// (singleflight): a goroutine of its own, which outlives the calls that wait for it and has a limit of its own. With a
// Shared level behind, the fill first looks there, and holds a lock there while it loads, so that one replica loads
// for all.
//
// Three things end a value before its life does. A purge names a key or a tag and reaches every value loaded before it
// and every load in progress; it goes to all replicas. Options.Holds is asked before a value is served, since only the
// value knows whether its sources still hold. And a value may lose its place to others. After either of the first two,
// a call does not take the result of a fill that began before.
//
// All methods may be called from any goroutine. Values are shared and must not be changed. Close waits for fills.
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

	errLate = errors.New("the load takes longer than an old value is held back for it")
)

// Defaults of Options.
const (
	defaultMaxBytes  = 64 << 20
	defaultLoadLimit = 30 * time.Second
)

// Figures for ristretto. It wants ten access counters for every entry it can hold when full; values are
// several kilobytes, so one entry per two kilobytes is the pessimistic guess.
const (
	typicalCost      = 2 << 10
	countersPerEntry = 10
	leastCounters    = 10_000
	bufferItems      = 64
	entryOverhead    = 192 // bytes that an entry takes beside value and tags
)

// retryDelay is how long after a failed load a value past its freshness is served without another attempt.
const retryDelay = time.Second

// lateAfter is how long a load may take before a value that is kept for the case of an error is served. It goes on.
const lateAfter = 1500 * time.Millisecond

// Options configure a Cache.
type Options[V any] struct {
	MaxBytes  int64         // of values and their keys together; 64 MiB when zero
	Cost      func(V) int64 // bytes of a value
	Tags      func(V) []Key // by which a value can be purged beside its own key; nil: none
	Holds     func(V) bool  // whether the sources of a value still hold; nil: always
	LoadLimit time.Duration // longest that one load may take; 30 s when zero
	MaxLoads  int           // under way at once; more are declined with ErrBusy. No bound when zero. See SetMaxLoads
	Shared    *shared.Cache // the level behind, which replicas have in common; nil: none
	Codec     Codec[V]      // of values for Shared
	// Purged is called with each purge by another replica, without keys for one of everything. It must not block.
	Purged func(how Purge, keys ...Key)
}

// Cache holds values by key. Values are shared between callers and must not be changed.
type Cache[V any] struct {
	options Options[V]
	store   *ristretto.Cache[uint64, entry[V]] // by the slots of keys
	counts  counters
	purges  purges
	keeping sync.Mutex // held while a value goes into the store

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
	number uint64 // of the last purge before its load began
	loaded time.Time
	ended  bool      // purged softly before it came here
	failed time.Time // last failed attempt to revalidate it; zero: none
}

// isOlder reports whether a value was loaded before another of its key, whose fill has replaced its own.
func (e *entry[V]) isOlder(than entry[V]) bool {
	return e.number < than.number || e.number == than.number && e.loaded.Before(than.loaded)
}

// at is the age of an entry and how it is served, later purges aside.
func (e *entry[V]) at(now time.Time) (age time.Duration, outcome Outcome) {
	age = now.Sub(e.loaded)
	outcome = e.life.at(age)
	if outcome == Hit && e.ended {
		outcome = e.life.ended()
	}
	return age, outcome
}

// New returns an empty cache. Close it when it is no longer used.
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
		IgnoreInternalCost: true, // entryOverhead stands for it
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

// SetMaxLoads changes Options.MaxLoads. Loads under way are not disturbed.
func (c *Cache[V]) SetMaxLoads(most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.maxLoads = most
}

// Result is a value with where it came from.
type Result[V any] struct {
	Value   V
	Life    Life
	Outcome Outcome
	Age     time.Duration // since it was loaded; zero on a miss
	Shared  bool          // a miss whose load another call had started
	Remote  bool          // from the shared level
	Failure error         // of StaleIfError: why the load failed that this call waited for; nil when it goes on
}

// Load fetches the value of a key. Its error goes to all waiters and is not kept: a result that should be
// remembered for a moment, like "not found", is a value.
type Load[V any] func(context.Context) (V, Life, error)

// Hit returns the value of key when it is kept and fresh. It allocates nothing.
func (c *Cache[V]) Hit(key Key) (kept Result[V], found bool) {
	kept, _ = c.lookup(key)
	if kept.Outcome != Hit {
		return Result[V]{}, false
	}
	c.counts.hits.Add(1)
	return kept, true
}

// Get returns the value of key, from the store or by load. A load runs once for all who ask meanwhile and goes on when
// they leave: its context keeps the values of the first caller's and has a limit of its own. ctx bounds only this
// call's wait. The shared level is not involved.
func (c *Cache[V]) Get(ctx context.Context, key Key, load Load[V]) (Result[V], error) {
	return c.get(ctx, key, fillOptions[V]{load: load})
}

// GetShared is Get for values that replicas may take from each other: by way of the shared level a load runs once for
// all who ask meanwhile, whichever replica they ask.
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
	f, shared := c.join(ctx, key, how)
	result, err := f.waitBeside(ctx, kept)
	if shared && err == nil && !c.holds(result.Value) { // its load began before this call; the next one will not have
		c.forget(f)
		f, shared = c.join(ctx, key, how)
		result, err = f.waitBeside(ctx, kept)
	}
	if err != nil && kept.Outcome == StaleIfError {
		c.counts.staleIfErrors.Add(1)
		if !errors.Is(err, errLate) {
			kept.Failure = err
		}
		return kept, nil
	}
	result.Shared = shared
	return result, err
}

// lookup returns what may be served of key, a miss when that is nothing, and whether revalidating it failed a moment
// ago.
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

// keep stores a value, and returns when it can be found. Ristretto declines new keys that would displace more popular
// ones; then the next call loads again. One value at a time, since ristretto drops those beyond the room of its queue,
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

// postpone puts off the next attempt to revalidate the value of key, if one is kept.
func (c *Cache[V]) postpone(key Key) {
	if e, found := c.store.Get(slotOf(key)); found && e.key == key {
		e.failed = time.Now()
		c.keep(e)
	}
}

// Close waits for loads under way and frees the store. Later calls get ErrClosed.
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

// Stats counts the outcomes of calls since the start, and the loads in progress.
type Stats struct {
	Hits, Stales, Misses uint64
	Loads                uint64 // fewer than Stales and Misses together, by those who shared one
	Failed               uint64 // loads that ended in an error
	StaleIfErrors        uint64 // misses that got an old value for that reason
	Remotes              uint64 // loads that the shared level saved
	Shed                 uint64 // loads that were declined
	Dropped              uint64 // values that the store declined
	Loading              uint64 // loads under way
}

// Stats returns the counts of now.
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
