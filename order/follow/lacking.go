package follow

import (
	"maps"
	"sync"

	"crossgate/order"
)

// lacking holds orders that the chain has more events about than the store, to be compared out of turn. The zero value
// is empty; it is safe for concurrent use.
type lacking struct {
	mu  sync.Mutex
	ids map[order.ID]bool
}

// Lacks adds an order, unless there are too many.
func (l *lacking) Lacks(id order.ID) {
	const most = 1000
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids = make(map[order.ID]bool)
	}
	if len(l.ids) < most {
		l.ids[id] = true
	}
}

// Take moves the orders to others.
func (l *lacking) Take(others map[order.ID]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(others, l.ids)
	l.ids = nil
}
