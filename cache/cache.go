// Package cache keeps answers for as long as they are worth something and lets one load per key answer
// everybody who asks meanwhile.
package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"
)

// ErrClosed is the answer of a closed cache.
var ErrClosed = errors.New("cache is closed")

// Defaults of Options.
const (
	defaultMaxBytes  = 64 << 20
	defaultLoadLimit = 30 * time.Second
)

// Figures for ristretto. It wants ten access counters for every entry it can hold when full; answers are
// several kilobytes, so one entry per two kilobytes is the pessimistic guess.
const (
	typicalCost      = 2 << 10
	countersPerEntry = 10
	leastCounters    = 10_000
	bufferItems      = 64
	entryOverhead    = 128 // bytes that an entry takes beside key and value
)

// Options configure a Cache.
type Options[V any] struct {
	MaxBytes  int64         // of keys and values together; 64 MiB when zero
	Cost      func(V) int64 // bytes of a value
	LoadLimit time.Duration // longest that one load may take; 30 s when zero
}

// Cache holds values by key. Values are shared between callers and must not be changed.
type Cache[V any] struct {
	store     *ristretto.Cache[string, entry[V]]
	cost      func(V) int64
	loadLimit time.Duration
	counts    counters

	mu      sync.Mutex
	flights map[string]*flight[V]
	closed  bool
	landed  sync.WaitGroup // of flights
}

// entry is a value as the store holds it. Ristretto compares only hashes of keys, so the key is held too.
type entry[V any] struct {
	key    string
	value  V
	life   Life
	loaded time.Time
}

// New returns an empty cache. Close it when it is no longer used.
func New[V any](o Options[V]) (*Cache[V], error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.LoadLimit <= 0 {
		o.LoadLimit = defaultLoadLimit
	}
	store, err := ristretto.NewCache(&ristretto.Config[string, entry[V]]{
		NumCounters:        max(countersPerEntry*o.MaxBytes/typicalCost, leastCounters),
		MaxCost:            o.MaxBytes,
		BufferItems:        bufferItems,
		IgnoreInternalCost: true, // entryOverhead stands for it
	})
	if err != nil {
		return nil, fmt.Errorf("cache of %d bytes: %w", o.MaxBytes, err)
	}
	return &Cache[V]{
		store:     store,
		cost:      o.Cost,
		loadLimit: o.LoadLimit,
		flights:   map[string]*flight[V]{},
	}, nil
}

// Result is a value with where it came from.
type Result[V any] struct {
	Value   V
	Life    Life
	Outcome Outcome
	Age     time.Duration // since it was loaded; zero on a miss
	Shared  bool          // a miss that another call had begun to load
}

// Load fetches the value of a key. Its error goes to everybody who waits and is not kept: an answer
// that should be remembered for a moment, like "not found", is a value.
type Load[V any] func(context.Context) (V, Life, error)

// Get returns the value of key, from the store or by load. A load runs once for all who ask meanwhile and
// goes on when they leave: its context keeps the values of the first caller's and has a limit of its own.
// ctx bounds only this call's wait.
func (c *Cache[V]) Get(ctx context.Context, key string, load Load[V]) (Result[V], error) {
	if kept := c.lookup(key); kept.Outcome != Miss {
		c.counts.of(kept.Outcome).Add(1)
		if kept.Outcome == Stale {
			c.join(ctx, key, load)
		}
		return kept, nil
	}
	c.counts.misses.Add(1)
	f, shared := c.join(ctx, key, load)
	result, err := f.wait(ctx)
	result.Shared = shared
	return result, err
}

// lookup returns what the store holds for key, a miss when that is nothing or too old.
func (c *Cache[V]) lookup(key string) Result[V] {
	kept, found := c.store.Get(key)
	if !found || kept.key != key {
		return Result[V]{}
	}
	age := time.Since(kept.loaded)
	return Result[V]{Value: kept.value, Life: kept.life, Outcome: kept.life.at(age), Age: age}
}

// keep stores a value. Ristretto may decline new keys under pressure; then the next call loads again.
func (c *Cache[V]) keep(key string, value V, life Life) {
	if life.whole() <= 0 {
		return
	}
	cost := int64(len(key)) + entryOverhead
	if c.cost != nil {
		cost += c.cost(value)
	}
	e := entry[V]{key: key, value: value, life: life, loaded: time.Now()}
	if !c.store.SetWithTTL(key, e, cost, life.whole()) {
		c.counts.dropped.Add(1)
		return
	}
	// New keys are stored by another goroutine: without this the call after the flight could miss.
	c.store.Wait()
}

// Close waits for loads under way and frees the store. Calls that come later get ErrClosed.
func (c *Cache[V]) Close() {
	c.mu.Lock()
	already := c.closed
	c.closed = true
	c.mu.Unlock()
	c.landed.Wait()
	if !already {
		c.store.Close()
	}
}

// Stats counts what calls found since the start.
type Stats struct {
	Hits, Stales, Misses uint64
	Loads                uint64 // less than Stales and Misses together, by those who shared one
	Failed               uint64 // loads that ended in an error
	Dropped              uint64 // values that the store declined at once
}

// Stats returns the counts of now.
func (c *Cache[V]) Stats() Stats {
	return Stats{
		Hits: c.counts.hits.Load(), Stales: c.counts.stales.Load(), Misses: c.counts.misses.Load(),
		Loads: c.counts.loads.Load(), Failed: c.counts.failed.Load(), Dropped: c.counts.dropped.Load(),
	}
}

type counters struct {
	hits, stales, misses, loads, failed, dropped atomic.Uint64
}

func (c *counters) of(o Outcome) *atomic.Uint64 {
	if o == Stale {
		return &c.stales
	}
	return &c.hits
}
