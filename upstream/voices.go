package upstream

import (
	"slices"
	"sync"
	"time"
)

const (
	// voicesKept is of how many ranges it is remembered who told what they hold.
	voicesKept = 4096
	// liarTerm is how long the word of an endpoint that was found wrong is worth less.
	liarTerm = time.Hour
)

// Voices remembers which endpoints told what blocks hold, and which were wrong. The zero value is empty; safe for
// concurrent use.
type Voices struct {
	mu     sync.Mutex
	ranges []Voice // the oldest first
	wrong  map[string]time.Time
	untold []string // were found wrong, and nobody has heard of it
}

// Voice is an endpoint's word on what blocks hold: by a list of it, or by a header that rules more out.
type Voice struct {
	From, To uint64 // both included
	By       string
	IsList   bool
}

// Heard takes note of what an endpoint told.
func (v *Voices) Heard(said Voice) {
	if said.By == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.ranges) == voicesKept {
		v.ranges = slices.Delete(v.ranges, 0, voicesKept/4)
	}
	v.ranges = append(v.ranges, said)
}

// Of lists who told of blocks from to to, as far as that is remembered.
func (v *Voices) Of(from, to uint64) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var names []string
	for _, each := range v.ranges {
		if each.From <= to && each.To >= from && !slices.Contains(names, each.By) {
			names = append(names, each.By)
		}
	}
	return names
}

// HadEvidence reports whether each block was told of by itself, as those at the tip are.
func (v *Voices) HadEvidence(from, to uint64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	alone := make(map[uint64]bool)
	for _, each := range v.ranges {
		if each.From == each.To && each.From >= from && each.From <= to {
			alone[each.From] = true
		}
	}
	return uint64(len(alone)) == to-from+1
}

// Blame learns that what was told of a block last was wrong. It falls back on the latest list of the block, on its
// header where there was none.
func (v *Voices) Blame(block uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.convictLocked(TellerOf(v.ranges, block))
}

// TellerOf returns who told of a block last, absent when nobody is known.
func TellerOf(voices []Voice, block uint64) string {
	var last Voice
	for _, each := range voices {
		if each.From <= block && each.To >= block && (each.IsList || !last.IsList) {
			last = each
		}
	}
	return last.By
}

// convictLocked learns that an endpoint was wrong. The mutex is held.
func (v *Voices) convictLocked(name string) {
	if name == "" {
		return
	}
	if v.wrong == nil {
		v.wrong = make(map[string]time.Time)
	}
	v.wrong[name] = time.Now().Add(liarTerm)
	v.untold = append(v.untold, name)
}

// Convict learns that an endpoint was wrong.
func (v *Voices) Convict(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.convictLocked(name)
}

// Tell returns who was found wrong since the last time.
func (v *Voices) Tell() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	names := v.untold
	v.untold = nil
	return names
}

// Liars lists the endpoints that were wrong lately.
func (v *Voices) Liars() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var names []string
	for name, until := range v.wrong {
		if time.Now().Before(until) {
			names = append(names, name)
		}
	}
	return names
}
