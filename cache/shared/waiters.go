package shared

import "sync"

// waiters are the calls waiting for another replica to release a fill lock.
type waiters struct {
	mu   sync.Mutex
	keys map[Key]*waiter
}

type waiter struct {
	released chan struct{} // closed when the lock is released
	calls    int
}

func (w *waiters) join(key Key) (released <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	joined := w.keys[key]
	if joined == nil {
		joined = &waiter{released: make(chan struct{})}
		if w.keys == nil {
			w.keys = make(map[Key]*waiter)
		}
		w.keys[key] = joined
	}
	joined.calls++
	return joined.released, func() { w.leave(key, joined) }
}

func (w *waiters) leave(key Key, joined *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	joined.calls--
	if joined.calls == 0 && w.keys[key] == joined {
		delete(w.keys, key)
	}
}

func (w *waiters) wake(key Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if joined := w.keys[key]; joined != nil {
		close(joined.released)
		delete(w.keys, key)
	}
}
