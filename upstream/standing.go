package upstream

import (
	"fmt"
	"time"
)

// standing ranks how likely an endpoint is to answer immediately and correctly.
type standing uint8

const (
	ready       standing = iota
	short                // would wait for our own rate
	lagging              // does not know the newest blocks, or claims to know more than all others
	unsure               // fails so often that its breaker is about to open
	away                 // asked us to pause, or its breaker is open
	closed               // denies us access
	quarantined          // was proven wrong
	cordoned             // by an operator
)

var standingNames = [...]string{
	"ready", "rate limited (local)", "away from the others' head", "suspected",
	"away", "access denied", "quarantined", "cordoned",
}

func (e *Endpoint) standing() standing {
	distance := e.distance.Load()
	switch is, _, _ := e.usability.now(); {
	case is != ready:
		return is
	case !e.breaker.isClosed() || e.budget.isPaused():
		return away
	case e.breaker.isSuspecting():
		return unsure
	case distance != nil && distance.isOff:
		return lagging
	case e.budget.IsSpent():
		return short
	}
	return ready
}

// IsReady reports whether the endpoint can be expected to answer immediately.
func (e *Endpoint) IsReady() bool { return e.standing() == ready }

// Health is how an endpoint does, for operators.
type Health struct {
	Endpoint   string
	Standing   string // ready, or why not
	Preferred  bool
	IsClosed   bool          // its breaker admits all calls
	Left       float64       // requests that its budget allows immediately; below zero, as many wait
	IsLimited  bool          // it has a rate or a monthly plan
	Failing    float64       // share of recent calls that failed
	Rate       float64       // recent calls per second
	Usual      time.Duration // within which nine of ten recent calls of the slowest kind ended; zero: unknown
	RetryAfter time.Duration // until it wants to be asked again; zero: now, or unknown
	Reason     string        // of its latest failure; empty if there was none
	Failed     time.Time     // when that was
	Head       string        // its distance from the others' head; empty if none is known
	CanBeAsked bool          // no pause, breaker, quarantine or operator prevents it
}

// Health returns the endpoint's current state.
func (e *Endpoint) Health() Health {
	now := time.Now()
	health := Health{Endpoint: e.name, Standing: standingNames[e.standing()]}
	_, health.Failing = e.health.failing()
	health.Rate = e.health.rate()
	health.Usual = e.health.slowest(usualQuantile)
	health.IsClosed = e.breaker.isClosed()
	health.Left, health.IsLimited = e.budget.left()
	health.Reason, health.Failed = e.health.lastFailure()
	if e.breaker.opened.Load() {
		health.RetryAfter = e.breaker.untilProbe()
	}
	_, left, cause := e.usability.now()
	if left > 0 {
		health.Reason = cause.Error()
	}
	health.RetryAfter = max(health.RetryAfter, left, e.budget.pauseLeft(now))
	health.CanBeAsked = e.standing() < away
	if off, known := e.Distance(); known {
		health.Head = fmt.Sprintf("%+d", off)
	}
	return health
}
