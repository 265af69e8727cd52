package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// stuckAfter is how long changes may run without any of them ending before they count as stuck. A batch takes a second.
const stuckAfter = 30 * time.Second

// writeState records the results of changes: a full disk fails them, but not reads.
type writeState struct {
	mu       sync.Mutex
	failed   error // the database's error for the last change
	since    time.Time
	underWay int
	ended    time.Time // when one last ended that its caller did not give up, or the first of those under way began
}

// begin records a change; call end with its error.
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
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			s.ended = time.Now()
		}
	}
}

// note records the result of a change, unless it says nothing about the database.
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

// err returns why changes fail or that they are stuck; nil if neither is known.
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

// Writable returns why the database accepts no changes, if that is known. It does not ask the database.
func (db *DB) Writable() error { return db.writes.err() }
