package store

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// stuckAfter is how long a change may take until it counts as stuck. A batch takes a second.
const stuckAfter = 30 * time.Second

// writeState is what became of changes: reads may go on while a disk is full.
type writeState struct {
	mu      sync.Mutex
	failed  error // the last change, by the database's own word
	since   time.Time
	begun   map[uint64]time.Time // those under way
	counted uint64
}

func newWriteState() *writeState { return &writeState{begun: make(map[uint64]time.Time)} }

// begin takes note of a change until end, which gets its error.
func (s *writeState) begin() (end func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counted++
	number := s.counted
	s.begun[number] = time.Now()
	return func(err error) {
		s.note(err)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.begun, number)
	}
}

// note takes note of how a change ended, unless that says nothing of the database.
func (s *writeState) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.failed = nil
	case codeOf(err) == "" || errors.Is(err, ErrUnavailable):
	default:
		s.fail(err)
	}
}

func (s *writeState) fail(err error) {
	if s.failed == nil {
		s.since = time.Now()
	}
	s.failed = err
}

// err returns why changes fail, or that one is stuck; nil when neither is known.
func (s *writeState) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return fmt.Errorf("writes have failed since %s: %w", s.since.UTC().Format(time.RFC3339), s.failed)
	}
	for _, begun := range s.begun {
		if waited := time.Since(begun); waited > stuckAfter {
			return fmt.Errorf("a write has been waiting for %s: look for locks and for a disk that stalls", waited.Round(time.Second))
		}
	}
	return nil
}

// Writable returns nil, or why the database takes no changes as far as is known. It asks nothing.
func (db *DB) Writable() error { return db.writes.err() }
