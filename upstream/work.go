package upstream

import (
	"context"
	"time"
)

// Work is the purpose of a call. It decides which share of an endpoint's rate the call may take, and whether it waits
// for it.
type Work uint8

// The kinds of work.
const (
	// Answering is for a caller who waits for something that is known to exist.
	Answering Work = iota
	// Following reads how far a chain has come: answers depend on it.
	Following
	// Background work is waited for by no caller. It leaves half of the burst to the others, and gives way to them.
	Background
	// Searching looks for something that may exist nowhere. It has a small share of the rate, and is refused at once
	// when that is spent.
	Searching
)

// Shares of an endpoint's rate: what following and background work have to themselves once it is followed, and what
// searches may take.
const (
	followedShare  = 0.25
	searchingShare = 0.1
)

type workKey struct{}

// For marks calls by what they are made for; Answering unless they are marked.
func (w Work) For(ctx context.Context) context.Context { return context.WithValue(ctx, workKey{}, w) }

// WorkOf returns the purpose of a call with ctx.
func WorkOf(ctx context.Context) Work {
	w, _ := ctx.Value(workKey{}).(Work)
	return w
}

// Lookup is the work for one question of a client. Its parts, which ask a chain within moments of each other, may share
// requests: a failure of those meets no other lookup.
type Lookup struct{ _ byte } // so that each has an address of its own

type lookupKey struct{}

// WithLookup marks calls as those of a new Lookup.
func WithLookup(ctx context.Context) context.Context {
	return context.WithValue(ctx, lookupKey{}, new(Lookup))
}

// LookupOf returns the lookup that a call with ctx belongs to, if any.
func LookupOf(ctx context.Context) *Lookup {
	l, _ := ctx.Value(lookupKey{}).(*Lookup)
	return l
}

// untilHalfFree returns how long it takes, without other calls, until cost units leave half of the burst; a call larger
// than the other half waits for the whole of it.
func (b *Budget) untilHalfFree(cost int) time.Duration {
	if b.limiter == nil {
		return 0
	}
	burst := float64(b.limiter.Burst())
	missing := min(float64(cost)+burst/2, burst) - b.limiter.Tokens()
	if missing <= 0 {
		return 0
	}
	return max(time.Duration(missing/float64(b.limiter.Limit())*float64(time.Second)), time.Millisecond)
}
