package cache

import "time"

// Life is for how long a value may be served. The zero life is of a value that is not kept.
type Life struct {
	Fresh   time.Duration // served as it is
	Stale   time.Duration // after Fresh: served while it is loaded again
	IfError time.Duration // after Stale: served when loading it again fails, or takes long
}

// whole is the time after which a value is gone.
func (l Life) whole() time.Duration { return l.Fresh + l.Stale + l.IfError }

// at is how a value of this age is served.
func (l Life) at(age time.Duration) Outcome {
	switch {
	case age < l.Fresh:
		return Hit
	case age < l.Fresh+l.Stale:
		return Stale
	case age < l.whole():
		return StaleIfError
	}
	return Miss
}

// ended is how a value is served that was purged softly, whatever its age.
func (l Life) ended() Outcome {
	switch {
	case l.Stale > 0:
		return Stale
	case l.IfError > 0:
		return StaleIfError
	}
	return Miss
}

// Outcome is where a value came from.
type Outcome uint8

// The outcomes of a lookup.
const (
	Miss         Outcome = iota // loaded for this call, or for one that asked at the same time
	Hit                         // kept and fresh
	Stale                       // kept, past its freshness, being loaded again
	StaleIfError                // kept, past that too, and loading it again failed or takes long
)

// outcomeNames are published: labels of measurements and spans.
var outcomeNames = [...]string{"miss", "hit", "stale", "spare"}

func (o Outcome) String() string { return outcomeNames[o] }
