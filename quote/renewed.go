package quote

import (
	"context"
	"sync/atomic"
	"time"
)

// Renewed is a value that is read from outside and kept between requests, which renew it beside their work. The zero
// value holds none. Safe for concurrent use.
type Renewed[T any] struct {
	known    atomic.Pointer[renewedValue[T]]
	renewing atomic.Bool
}

type renewedValue[T any] struct {
	value      T
	due, until time.Time // when it is renewed; when it ends
}

// Read reads a value, which is current for some time and usable for as long again.
type Read[T any] func(context.Context) (value T, current time.Duration, err error)

// Get returns the value. It reads it only if none is usable.
func (r *Renewed[T]) Get(ctx context.Context, read Read[T]) (T, error) {
	if known := r.known.Load(); known != nil && time.Now().Before(known.until) {
		return known.value, nil
	}
	return r.read(ctx, read)
}

// Renew reads a value that is no longer current, for one caller at a time. An error leaves the known one.
func (r *Renewed[T]) Renew(ctx context.Context, read Read[T]) {
	known := r.known.Load()
	if known == nil || time.Now().Before(known.due) || !r.renewing.CompareAndSwap(false, true) {
		return
	}
	defer r.renewing.Store(false)
	_, _ = r.read(ctx, read) // Get returns the error of the next read
}

func (r *Renewed[T]) read(ctx context.Context, read Read[T]) (T, error) {
	value, current, err := read(ctx)
	if err == nil {
		due := time.Now().Add(current)
		r.known.Store(&renewedValue[T]{value, due, due.Add(current)})
	}
	return value, err
}
