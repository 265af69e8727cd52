package jsonrpc

import (
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// attestationsKept is for how many ranges it is remembered which endpoints attested to what they hold.
	attestationsKept = 4096
	// sourcesKept is for how many things it is remembered which endpoints reported them.
	sourcesKept = 8192
	// faultyFor is how long an endpoint counts as faulty that was found wrong.
	faultyFor = time.Hour
)

// Attestation is an endpoint's word on what blocks hold: by a list of it, or by a header that rules more out.
type Attestation struct {
	From, To uint64 // both included
	By       string
	IsList   bool
}

// Attestations remembers which endpoints attested to what blocks hold, and which were wrong. The zero value is empty;
// safe for concurrent use.
type Attestations struct {
	mu         sync.Mutex
	ranges     []Attestation // the oldest first
	faulty     map[string]time.Time
	unreported []string // faulty ones
}

// Add remembers an attestation.
func (a *Attestations) Add(said Attestation) {
	if said.By == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.ranges) == attestationsKept {
		a.ranges = slices.Delete(a.ranges, 0, attestationsKept/4)
	}
	a.ranges = append(a.ranges, said)
}

// Of lists what endpoints attested to of blocks from to to, as far as that is remembered.
func (a *Attestations) Of(from, to uint64) (all []Attestation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, each := range a.ranges {
		if each.From <= to && each.To >= from {
			all = append(all, each)
		}
	}
	return all
}

// NamesOf lists the endpoints of attestations, each once.
func NamesOf(all []Attestation) (names []string) {
	for _, each := range all {
		if each.By != "" && !slices.Contains(names, each.By) {
			names = append(names, each.By)
		}
	}
	return names
}

// HadEvidence reports whether each block was attested to by itself, as those at the tip are.
func (a *Attestations) HadEvidence(from, to uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	alone := make(map[uint64]bool)
	for _, each := range a.ranges {
		if each.From == each.To && each.From >= from && each.From <= to {
			alone[each.From] = true
		}
	}
	return uint64(len(alone)) == to-from+1
}

// LatestOf returns who attested to a block last, by a list or, where there was none, by its header; absent when
// unknown.
func LatestOf(all []Attestation, block uint64) string {
	var last Attestation
	for _, each := range all {
		if each.From <= block && each.To >= block && (each.IsList || !last.IsList) {
			last = each
		}
	}
	return last.By
}

// MarkFaultyAt marks the endpoint as faulty that attested to a block last.
func (a *Attestations) MarkFaultyAt(block uint64) {
	a.mu.Lock()
	name := LatestOf(a.ranges, block)
	a.mu.Unlock()
	a.MarkFaulty(name)
}

// MarkFaulty marks an endpoint as faulty.
func (a *Attestations) MarkFaulty(name string) {
	if name == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.faulty == nil {
		a.faulty = make(map[string]time.Time)
	}
	a.faulty[name] = time.Now().Add(faultyFor)
	a.unreported = append(a.unreported, name)
}

// Unreported returns the endpoints that were marked as faulty since the last call.
func (a *Attestations) Unreported() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	names := a.unreported
	a.unreported = nil
	return names
}

// Faulty lists the endpoints that were wrong lately.
func (a *Attestations) Faulty() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.faulty, func(_ string, until time.Time) bool { return time.Now().After(until) })
	return slices.Collect(maps.Keys(a.faulty))
}

// Sources remembers which endpoints reported what, by keys of the caller's making. The zero value is empty; safe for
// concurrent use.
type Sources struct {
	mu         sync.Mutex
	new, older map[string][]string // by key; the older ones are forgotten when there are enough new ones
}

// Add remembers that an endpoint reported something.
func (s *Sources) Add(key, by string) {
	if by == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.new == nil || len(s.new) == sourcesKept/2 {
		s.new, s.older = make(map[string][]string), s.new
	}
	if !slices.Contains(s.new[key], by) {
		s.new[key] = append(s.new[key], by)
	}
}

// Of lists who reported something, each once, as far as that is remembered.
func (s *Sources) Of(key string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Concat(s.older[key], s.new[key])
	slices.Sort(names)
	return slices.Compact(names)
}
