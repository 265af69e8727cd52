package upstream

import (
	"math"
	"sync"
	"time"
)

// Extra load that a pool may make: a tenth of what it is asked, and a little however little that is. What is not used is
// saved up to the tenth of a while: when an endpoint goes down, everything that was under way there is asked elsewhere. The
// last half is kept for retries, so that hedges cannot use them up.
const (
	extraShare     = 0.1
	extraPerSecond = 1.0
	extraWindow    = 10 * time.Second
	extraLeast     = 20.0 // saved, however little was asked lately
)

// spare is how many attempts a pool may make beyond one for each question.
type spare struct {
	mu    sync.Mutex
	asked float64 // questions of the latest extraWindow, older ones fading
	left  float64
	as    time.Time // when these were true; zero: nothing was asked so far
}

// earn takes note of a question.
func (s *spare) earn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age(time.Now())
	s.asked++
	s.left = min(s.left+extraShare, s.most())
}

// most is how many may be saved.
func (s *spare) most() float64 { return max(extraShare*s.asked, extraLeast) }

// retry reports whether one more attempt may follow a failed one, and counts it.
func (s *spare) retry() bool { return s.take(0) }

// hedge reports whether one more attempt may begin beside another, and counts it.
func (s *spare) hedge() bool { return s.take(0.5) }

// take spends one where at least a share of what may be saved is left after it.
func (s *spare) take(share float64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age(time.Now())
	if s.left-1 < share*s.most() {
		return false
	}
	s.left--
	return true
}

func (s *spare) age(now time.Time) {
	if s.as.IsZero() {
		s.as, s.left = now, extraLeast
	}
	passed := now.Sub(s.as).Seconds()
	s.asked *= math.Exp(-passed / extraWindow.Seconds())
	s.left = min(s.left+passed*extraPerSecond, s.most())
	s.as = now
}
