package token

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// memory remembers one value per token, at most a bounded number of them, and loads what it lacks in
// batches. A token that is being loaded is not loaded a second time: whoever needs it waits.
type memory[V any] struct {
	limit    int           // values per generation; two are kept
	patience time.Duration // how long a load may take, whoever waits for it
	fresh    func(V) bool  // whether a value may be used without loading it again
	// after, when not nil, sees what a load brought; nobody waits for it.
	after func(context.Context, map[Key]V)

	mu sync.Mutex
	// Values live in two generations: when the young one is full it becomes the old one, whose values
	// survive only if they are used again. It forgets the least used without a list to maintain.
	young, old map[Key]V
	loading    map[Key]*batch[V]
}

// batch is one load under way.
type batch[V any] struct {
	done   chan struct{} // closed when values and err are set
	values map[Key]V
	err    error
}

// loader gets the values of keys. What it leaves out stays unknown.
type loader[V any] func(ctx context.Context, keys []Key) (map[Key]V, error)

func newMemory[V any](limit int, patience time.Duration, fresh func(V) bool) *memory[V] {
	return &memory[V]{
		limit: limit, patience: patience, fresh: fresh,
		young: map[Key]V{}, loading: map[Key]*batch[V]{},
	}
}

// get returns the values of keys, loading in one batch those that are neither fresh nor being loaded
// already. An error of a load that one of keys needed is returned with whatever else is known.
func (m *memory[V]) get(ctx context.Context, keys []Key, load loader[V]) (map[Key]V, error) {
	values, awaited := m.claim(ctx, keys, load)
	for _, b := range awaited {
		select {
		case <-b.done:
		case <-ctx.Done():
			return values, ctx.Err()
		}
		if b.err != nil {
			return values, b.err
		}
		for _, key := range keys {
			if value, loaded := b.values[key]; loaded {
				values[key] = value
			}
		}
	}
	return values, nil
}

// claim splits keys into those whose values are fresh and the batches that bring the others, one of
// which it starts when some are in none.
func (m *memory[V]) claim(ctx context.Context, keys []Key, load loader[V]) (values map[Key]V, awaited []*batch[V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	values = make(map[Key]V, len(keys))
	own := &batch[V]{done: make(chan struct{})}
	var mine []Key
	seen := map[*batch[V]]bool{}
	for _, key := range keys {
		if value, known := m.recall(key); known && m.fresh(value) {
			values[key] = value
			continue
		}
		b := m.loading[key]
		if b == nil {
			b = own
			mine = append(mine, key)
			m.loading[key] = own
		}
		if !seen[b] {
			seen[b] = true
			awaited = append(awaited, b)
		}
	}
	if len(mine) > 0 {
		// The load serves everyone who joins it, so it must not end with the caller who began it.
		go m.run(context.WithoutCancel(ctx), own, mine, load)
	}
	return values, awaited
}

// run loads keys for everyone who waits for b.
func (m *memory[V]) run(ctx context.Context, b *batch[V], keys []Key, load loader[V]) {
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	m.load(ctx, b, keys, load)
	if m.after != nil && b.err == nil {
		m.after(ctx, b.values)
	}
}

func (m *memory[V]) load(ctx context.Context, b *batch[V], keys []Key, load loader[V]) {
	defer func() {
		if cause := recover(); cause != nil {
			b.values, b.err = nil, fmt.Errorf("token load panicked: %v", cause)
		}
		m.settle(b, keys)
	}()
	b.values, b.err = load(ctx, keys)
}

// settle remembers what b brought and lets its keys be loaded again.
func (m *memory[V]) settle(b *batch[V], keys []Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		delete(m.loading, key)
		if value, loaded := b.values[key]; loaded && b.err == nil {
			m.remember(key, value)
		}
	}
	close(b.done)
}

// last returns the value of key even when it is no longer fresh.
func (m *memory[V]) last(key Key) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recall(key)
}

// recall needs m.mu.
func (m *memory[V]) recall(key Key) (value V, known bool) {
	if value, known = m.young[key]; known {
		return value, true
	}
	if value, known = m.old[key]; known {
		m.remember(key, value)
	}
	return value, known
}

// remember needs m.mu.
func (m *memory[V]) remember(key Key, value V) {
	if _, known := m.young[key]; !known && len(m.young) >= m.limit {
		m.old, m.young = m.young, make(map[Key]V, m.limit)
	}
	m.young[key] = value
}
