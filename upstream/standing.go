package upstream

import "time"

// standing ranks how likely an endpoint is to answer at once.
type standing uint8

const (
	ready  standing = iota
	short           // would wait for our own rate
	unsure          // has to show that it has recovered
	away            // asked us to pause, or its breaker is open
)

var standingNames = [...]string{"ready", "short of its rate", "recovering", "away"}

func (s standing) String() string { return standingNames[s] }

func (e *Endpoint) standing() standing {
	switch {
	case e.breaker.isOpen() || e.budget.isPaused():
		return away
	case !e.breaker.isClosed():
		return unsure
	case e.budget.isSpent():
		return short
	}
	return ready
}

// burden is what asking an endpoint costs in waiting: how long its calls of a kind take, times more the more of
// its calls fail. Where too few are known it is a guess.
func (e *Endpoint) burden(kind string) (burden time.Duration, known bool) {
	usual, known := e.health.usual(kind, usualQuantile)
	return time.Duration(float64(burdenBase+usual) * (1 + burdenPerFail*e.health.failing())), known
}

// Health is how an endpoint does, for people to look at.
type Health struct {
	Endpoint   string
	Standing   string
	Preferred  bool
	IsClosed   bool          // its breaker lets all calls in
	Left       float64       // requests that may be made at once by our own rate; below zero as many wait
	IsLimited  bool          // it has such a rate
	Failing    float64       // share of recent calls that failed
	Usual      time.Duration // within which nine of ten recent calls ended; zero when too few are known
	RetryAfter time.Duration // until it may be asked again; zero when it may
	Reason     string        // of its latest failure; empty when there was none
	Failed     time.Time     // when that was
}

// Health tells how the endpoint does.
func (e *Endpoint) Health() Health {
	told := Health{Endpoint: e.name, Standing: e.standing().String(), Failing: e.health.failing()}
	told.Usual = e.health.slowest(usualQuantile)
	told.IsClosed = e.breaker.isClosed()
	told.Left, told.IsLimited = e.budget.left()
	told.Reason, told.Failed = e.health.complaint()
	if e.breaker.isOpen() {
		told.RetryAfter = e.breaker.untilProbe()
	}
	told.RetryAfter = max(told.RetryAfter, e.budget.pauseLeft(time.Now()))
	return told
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
