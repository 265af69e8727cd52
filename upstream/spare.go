package upstream

import (
	"sync"
	"time"
)

// Extra load that a pool may make: a tenth of what it is asked, and a little however little that is. The
// last half is kept for retries, so that hedges cannot use them up.
const (
	extraShare     = 0.1
	extraPerSecond = 1.0
	extraMost      = 20.0
)

// spare is how many attempts a pool may make beyond one for each question.
type spare struct {
	mu    sync.Mutex
	spent float64 // zero: all of extraMost are left
	as    time.Time
}

// earn takes note of a question.
func (s *spare) earn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent = max(s.spent-extraShare, 0)
}

// retry reports whether one more attempt may follow a failed one, and counts it.
func (s *spare) retry() bool { return s.take(0) }

// hedge reports whether one more attempt may begin beside another, and counts it.
func (s *spare) hedge() bool { return s.take(extraMost / 2) }

func (s *spare) take(leave float64) bool {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.as.IsZero() {
		s.spent = max(s.spent-now.Sub(s.as).Seconds()*extraPerSecond, 0)
	}
	s.as = now
	if extraMost-s.spent-1 < leave {
		return false
	}
	s.spent++
	return true
}
