package token

import (
	"context"
	"slices"
	"sync"
	"time"

	"crossgate/cache/flight"
	"crossgate/cache/recent"
)

// memory remembers a bounded number of values, one per token. Missing ones are loaded in batches, which callers share.
type memory[V any] struct {
	patience time.Duration // the limit of a load
	fresh    func(V) bool  // whether a value may be used without loading it again
	values   recent.Map[Key, V]
	loads    sync.WaitGroup

	mu      sync.Mutex
	loading map[Key]*flight.Call[map[Key]V] // the batch that loads each
}

// loader returns the values of keys. Those that it leaves out stay unknown.
type loader[V any] func(ctx context.Context, keys []Key) (map[Key]V, error)

func newMemory[V any](limit int, patience time.Duration, fresh func(V) bool) *memory[V] {
	return &memory[V]{
		patience: patience, fresh: fresh, values: recent.Map[Key, V]{Limit: limit}, loading: map[Key]*flight.Call[map[Key]V]{},
	}
}

// get returns the values of keys, loading in one batch those that are neither fresh nor being loaded already. If a load
// that keys depend on fails, its error comes with the values known so far.
func (m *memory[V]) get(ctx context.Context, keys []Key, load loader[V]) (map[Key]V, error) {
	values, batches := m.claim(ctx, keys, load)
	for _, batch := range batches {
		loaded, err := batch.Wait(ctx)
		if err != nil {
			return values, err
		}
		for _, key := range keys {
			if value, found := loaded[key]; found {
				values[key] = value
			}
		}
	}
	return values, nil
}

// claim returns the values that are fresh and the batches that load the others, starting one if needed.
func (m *memory[V]) claim(
	ctx context.Context, keys []Key, load loader[V],
) (values map[Key]V, batches []*flight.Call[map[Key]V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	values = make(map[Key]V, len(keys))
	var missing []Key
	for _, key := range keys {
		if value, known := m.values.Get(key); known && m.fresh(value) {
			values[key] = value
			continue
		}
		switch batch := m.loading[key]; {
		case batch == nil && !slices.Contains(missing, key):
			missing = append(missing, key)
		case batch != nil && !slices.Contains(batches, batch):
			batch.Join()
			batches = append(batches, batch)
		}
	}
	if len(missing) == 0 {
		return values, batches
	}
	m.loads.Add(1)
	own := flight.Start(ctx, func(ctx context.Context) (map[Key]V, error) { return m.load(ctx, missing, load) })
	own.Join() // for the memory: loads are remembered even if all callers have left
	for _, key := range missing {
		m.loading[key] = own
	}
	return values, append(batches, own)
}

func (m *memory[V]) load(ctx context.Context, keys []Key, load loader[V]) (values map[Key]V, err error) {
	defer m.loads.Done()
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, key := range keys {
			delete(m.loading, key) // it may be loaded again
			if value, loaded := values[key]; loaded {
				m.values.Put(key, value)
			}
		}
	}()
	if values, err = load(ctx, keys); err != nil {
		return nil, err
	}
	return values, nil
}
