package follow

import (
	"maps"
	"sync"

	"crossgate/order"
)

// lacking are orders that the chain was seen to have more of than the store, to be compared out of turn. The zero value
// is none; safe for concurrent use.
type lacking struct {
	mu  sync.Mutex
	ids map[order.ID]bool
}

// Lacks adds an order, unless there are many.
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

// Take moves them to others.
func (l *lacking) Take(others map[order.ID]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(others, l.ids)
	l.ids = nil
}
