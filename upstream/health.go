package upstream

import (
	"math"
	"sync"
	"time"
)

const (
	// healthHalfLife is the age at which an observation counts half.
	healthHalfLife = 30 * time.Second
	// fewSamples is how many observations, weighted by age, are needed to rely on them.
	fewSamples = 3
)

// health is an endpoint's recent record. Requests that callers canceled or that lost a race do not count.
type health struct {
	mu     sync.Mutex
	asked  fading
	failed fading
	took   map[string]*spread // by kind of call: a search of logs takes longer than a block number
	newest time.Time          // when the newest observation was made
	reason string             // of the newest failure, without secrets
	broke  time.Time
}

// note records the outcome of one call; only the endpoint's own faults count as failures. A refusal shows that the
// endpoint is at work, but not how long an answer takes: searches that are too wide are refused immediately.
func (h *health) note(kind string, took time.Duration, err error) {
	failing := IsFault(err)
	if !failing && !answered(err) {
		return
	}
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newest = now
	h.asked.add(now, 1)
	if failing {
		h.failed.add(now, 1)
		h.reason, h.broke = err.Error(), now
		if ClassOf(err) != Timeout {
			return // a refused connection says nothing about how long an answer takes
		}
	}
	if ClassOf(err) == Rejected {
		return
	}
	if h.took == nil {
		h.took = make(map[string]*spread)
	}
	if h.took[kind] == nil {
		h.took[kind] = &spread{}
	}
	h.took[kind].add(now, took)
}

// failing returns how many recent calls there were, and the share of them that failed.
func (h *health) failing() (calls, share float64) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.asked.at(now)
	if asked < 1 {
		return asked, 0
	}
	return asked, min(h.failed.at(now)/asked, 1)
}

// rate returns the recent rate of finished calls per second.
func (h *health) rate() float64 {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked.at(now) * math.Ln2 / healthHalfLife.Seconds() // inverts the sum of a steady rate
}

// usual returns the time within which the share q of recent calls of a kind ended, if enough of them are known.
func (h *health) usual(kind string, q float64) (time.Duration, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.took[kind] == nil {
		return 0, false
	}
	return h.took[kind].quantile(time.Now(), q)
}

// slowest returns the quantile q of the kind of call that takes longest.
func (h *health) slowest(q float64) (slowest time.Duration) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, took := range h.took {
		usual, _ := took.quantile(now, q)
		slowest = max(slowest, usual)
	}
	return slowest
}

func (h *health) measured() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.newest
}

func (h *health) lastFailure() (string, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason, h.broke
}

// fading is a sum whose parts lose half of their weight each half-life.
type fading struct {
	sum float64
	as  time.Time
}

func (f *fading) at(now time.Time) float64 { return f.sum * weight(now.Sub(f.as)) }

func (f *fading) add(now time.Time, n float64) { f.sum, f.as = f.at(now)+n, now }

func weight(age time.Duration) float64 { return math.Exp2(-age.Seconds() / healthHalfLife.Seconds()) }

// A spread has four buckets for each doubling, from 1 ms to 65 s: a quantile is accurate to 19 %.
const (
	bucketsPerDoubling = 4
	spreadBuckets      = 16*bucketsPerDoubling + 1
)

// spread is a histogram of how long calls took; recent ones count more.
type spread struct {
	counts [spreadBuckets]float64
	total  float64
	as     time.Time
}

func (s *spread) add(now time.Time, took time.Duration) {
	factor := weight(now.Sub(s.as))
	s.total *= factor
	for i := range s.counts {
		s.counts[i] *= factor
	}
	s.as = now
	bucket := 0
	if took > time.Millisecond {
		bucket = min(int(math.Ceil(bucketsPerDoubling*math.Log2(took.Seconds()*1e3))), spreadBuckets-1)
	}
	s.counts[bucket]++
	s.total++
}

// quantile returns the upper end of the bucket that holds the quantile q, if there are enough observations.
func (s *spread) quantile(now time.Time, q float64) (time.Duration, bool) {
	if s.total*weight(now.Sub(s.as)) < fewSamples {
		return 0, false
	}
	rest := q * s.total
	for i, count := range s.counts {
		if rest -= count; rest <= 0 {
			return time.Duration(math.Exp2(float64(i)/bucketsPerDoubling) * float64(time.Millisecond)), true
		}
	}
	return time.Duration(math.Exp2(16)) * time.Millisecond, true
}
