package store

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// stuckAfter is for how long none of the changes under way may end until they count as stuck. A batch takes a second.
const stuckAfter = 30 * time.Second

// writeState is what became of changes: reads may go on while a disk is full.
type writeState struct {
	mu       sync.Mutex
	failed   error // the last change, by the database's own word
	since    time.Time
	underWay int
	ended    time.Time // the last of them, or the first began then
}

// begin takes note of a change until end, which gets its error.
func (s *writeState) begin() (end func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.underWay++; s.underWay == 1 {
		s.ended = time.Now()
	}
	return func(err error) {
		s.note(err)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.underWay--
		s.ended = time.Now()
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
		if s.failed == nil {
			s.since = time.Now()
		}
		s.failed = err
	}
}

// err returns why changes fail, or that they are stuck; nil when neither is known.
func (s *writeState) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	waited := time.Since(s.ended)
	switch {
	case s.failed != nil:
		return fmt.Errorf("writes have failed since %s: %w", s.since.UTC().Format(time.RFC3339), s.failed)
	case s.underWay > 0 && waited > stuckAfter:
		return fmt.Errorf("%d writes have been waiting for %s: look for locks and for a disk that stalls", s.underWay, waited.Round(time.Second))
	}
	return nil
}

// Writable returns nil, or why the database takes no changes as far as is known. It asks nothing.
func (db *DB) Writable() error { return db.writes.err() }
