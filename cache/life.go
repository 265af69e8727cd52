package cache

import "time"

// Life is for how long a value may be served. The zero life is of a value that is not kept.
type Life struct {
	Fresh time.Duration // served as it is
	Stale time.Duration // after Fresh: served while it is loaded again, and when that goes wrong
}

// whole is the time after which a value is gone.
func (l Life) whole() time.Duration { return l.Fresh + l.Stale }

// at tells how a value of this age is served.
func (l Life) at(age time.Duration) Outcome {
	switch {
	case age < l.Fresh:
		return Hit
	case age < l.whole():
		return Stale
	}
	return Miss
}

// Outcome tells where a value came from.
type Outcome uint8

// The outcomes of a lookup.
const (
	Miss  Outcome = iota // loaded for this call, or for one that asked at the same time
	Hit                  // kept and fresh
	Stale                // kept, past its freshness, being loaded again
)

var outcomeNames = [...]string{"miss", "hit", "stale"}

func (o Outcome) String() string { return outcomeNames[o] }
