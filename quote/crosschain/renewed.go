package crosschain

import (
	"sync"

	"crossgate/quote"
)

// renewed keeps a value per key. The zero value has none.
type renewed[K comparable, T any] struct{ values sync.Map }

func (r *renewed[K, T]) of(key K) *quote.Renewed[T] {
	value, _ := r.values.LoadOrStore(key, new(quote.Renewed[T]))
	return value.(*quote.Renewed[T])
}
