package cache

import "time"

// Life is how long a value may be served. A value with the zero Life is not cached.
type Life struct {
	Fresh   time.Duration // served as is
	Stale   time.Duration // after Fresh: served while being reloaded
	IfError time.Duration // after Stale: served if reloading fails or takes long
}

func (l Life) whole() time.Duration { return l.Fresh + l.Stale + l.IfError }

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

// ended returns how a softly purged value is served, whatever its age.
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
	Miss         Outcome = iota // loaded for this call or a concurrent one
	Hit                         // cached and fresh
	Stale                       // cached but no longer fresh, being reloaded
	StaleIfError                // cached but no longer usable as stale, and reloading failed or takes long
)

// outcomeNames are published as labels of metrics and spans.
var outcomeNames = [...]string{"miss", "hit", "stale", "stale-if-error"}

func (o Outcome) String() string { return outcomeNames[o] }
