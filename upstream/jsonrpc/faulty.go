package jsonrpc

import (
	"maps"
	"slices"
	"sync"
	"time"

	"crossgate/cache/recent"
)

// faultyFor is how long an endpoint that was found wrong counts as faulty.
const faultyFor = time.Hour

// Faulty remembers which endpoints were recently found wrong. The zero value is empty; safe for concurrent use.
type Faulty struct {
	mu         sync.Mutex
	until      map[string]time.Time
	unreported []string
}

// Mark marks endpoints as faulty; empty names are ignored.
func (f *Faulty) Mark(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.until == nil {
		f.until = make(map[string]time.Time)
	}
	for _, name := range names {
		if name != "" {
			f.until[name] = time.Now().Add(faultyFor)
			f.unreported = append(f.unreported, name)
		}
	}
}

// Judge marks the endpoints that said something else than what a hash proves of calls, or two others say.
func (f *Faulty) Judge(calls ...*Call) {
	for _, call := range calls {
		if !call.IsSingle() {
			f.Mark(call.Contradicting()...)
		}
	}
}

// Unreported returns the endpoints that were marked since the last call.
func (f *Faulty) Unreported() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := f.unreported
	f.unreported = nil
	slices.Sort(names)
	return slices.Compact(names)
}

// Names returns the endpoints that were recently found wrong.
func (f *Faulty) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.until, func(_ string, until time.Time) bool { return time.Now().After(until) })
	return slices.Collect(maps.Keys(f.until))
}

// Sources remembers which endpoints reported what lately, by keys that the caller chooses. The zero value is empty;
// safe for concurrent use.
type Sources struct{ known recent.Map[string, []string] }

// Add remembers that an endpoint reported something.
func (s *Sources) Add(key, by string) {
	if by == "" {
		return
	}
	s.known.Update(key, func(names []string) []string {
		if slices.Contains(names, by) {
			return names
		}
		return append(slices.Clip(names), by)
	})
}

// Of returns the endpoints that reported something, each once, as far as they are remembered.
func (s *Sources) Of(key string) []string {
	names, _ := s.known.Get(key)
	return slices.Sorted(slices.Values(names))
}
