// Package recent remembers values that were put or used lately, in bounded memory and without a list: when the young
// generation is full it becomes the old one, whose values survive only if they are used again.
package recent

import (
	"cmp"
	"sync"
)

const usualLimit = 1 << 12

// Map holds at least the Limit values used last, and at most twice as many. The zero value is empty. Safe for
// concurrent use.
type Map[K comparable, V any] struct {
	Limit int // values of a generation; 0 means 4096

	mu         sync.Mutex
	young, old map[K]V
}

// Get returns the value of a key.
func (m *Map[K, V]) Get(key K) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(key)
}

// Put sets the value of a key.
func (m *Map[K, V]) Put(key K, value V) {
	m.Update(key, func(V) V { return value })
}

// Update changes the value of a key, zero if there is none.
func (m *Map[K, V]) Update(key K, change func(V) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, _ := m.get(key)
	m.put(key, change(before))
}

// get and put must be called with the mutex held.
func (m *Map[K, V]) get(key K) (value V, known bool) {
	if value, known = m.young[key]; known {
		return value, true
	}
	if value, known = m.old[key]; known {
		m.put(key, value)
	}
	return value, known
}

func (m *Map[K, V]) put(key K, value V) {
	if _, known := m.young[key]; !known && (m.young == nil || len(m.young) >= cmp.Or(m.Limit, usualLimit)) {
		m.old, m.young = m.young, make(map[K]V)
	}
	m.young[key] = value
}
