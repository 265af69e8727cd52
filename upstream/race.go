package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// When a second endpoint is asked beside a slow first one: after the time within which nearly all recent calls
// of the kind were answered, within bounds; while that is known of no endpoint after coldHedge.
const (
	hedgeQuantile = 0.95
	leastHedge    = 20 * time.Millisecond
	mostHedge     = 2 * time.Second
	coldHedge     = 500 * time.Millisecond
	backoff       = 50 * time.Millisecond // before the same endpoint is asked again, and up to twice more
)

// verdict admits one answer of a race. What comes after it has lost, and must not be looked at.
type verdict struct {
	mu     sync.Mutex
	passed bool
}

var errOvertaken = errors.New("another endpoint was faster")

// hear has an answer judged, unless another one has passed.
func (v *verdict) hear(judge func() error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.passed {
		return &Error{Class: Canceled, Err: errOvertaken}
	}
	err := judge()
	v.passed = err == nil
	return err
}

// turn is one endpoint's part in a race.
type turn struct {
	number  int      // from one on
	isHedge bool     // begun because the one before was slow
	verdict *verdict // of the whole race
	won     bool     // its answer passed
}

func (t *turn) hear(judge func() error) error {
	err := t.verdict.hear(judge)
	t.won = err == nil
	return err
}

// hedge tells what became of a hedge; nothing of other turns, nor of a request that only prepares an answer.
func (t *turn) hedge(err error) string {
	switch {
	case t.isHedge && t.won:
		return "won"
	case t.isHedge && err != nil:
		return "lost"
	}
	return ""
}

// race is one job on its way through a pool.
type race struct {
	pool    *Pool
	job     job
	order   []int // endpoints by index
	next    int   // in order
	running int
	hedged  bool
	retried bool
	verdict verdict
	results chan result // with room for one: who tries need not wait for the caller, who may be the same

	failures map[int]error // by endpoint, the latest of each
}

// result is how one try ended.
type result struct {
	index    int
	err      error
	panicked any
}

func (r *race) run(caller context.Context) error {
	if len(r.order) == 0 {
		return attempts{errors.New("no endpoint is configured")}.summary(r.pool.name)
	}
	ctx := caller
	if len(r.order) > 1 {
		racing, lose := context.WithCancel(caller)
		defer r.join()
		defer lose()
		ctx = racing
	}
	r.start(ctx, false)
	for r.running > 0 {
		got, slow := r.await(ctx)
		if slow {
			r.hedged = true
			if r.pool.spare.hedge() {
				r.start(ctx, true)
			}
			continue
		}
		r.running--
		if got.panicked != nil {
			panic(got.panicked)
		}
		if got.err == nil {
			r.putLiarsAside(caller)
			r.pool.answered(got.index, r.job, r.failed(), r.doubted())
			return nil
		}
		if errors.Is(got.err, errOvertaken) {
			continue // the winner's result is on its way
		}
		r.failures[got.index] = got.err
		if caller.Err() != nil {
			break
		}
		switch {
		case r.running == 0 && r.mayGoOn(ctx, got):
			r.start(ctx, false)
		case r.running > 0 && r.isLatest(got) && r.next < len(r.order) && r.mayGoOn(ctx, got):
			r.start(ctx, true) // the one before it is slow still
		}
	}
	return r.summary(caller)
}

// await returns the next result, or that it is time for a hedge.
func (r *race) await(ctx context.Context) (got result, slow bool) {
	delay, may := r.hedgeDelay(ctx)
	if !may {
		return <-r.results, false
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case got = <-r.results:
		return got, false
	case <-timer.C:
		return result{}, true
	}
}

// hedgeDelay returns after what time the next endpoint is asked as well, where that may be: once, for reads that
// somebody waits for, at an endpoint that can answer at once.
func (r *race) hedgeDelay(ctx context.Context) (time.Duration, bool) {
	if !r.job.isRead || r.hedged || r.next >= len(r.order) || isBackground(ctx) {
		return 0, false
	}
	if r.pool.endpoints[r.order[r.next]].standing() != ready {
		return 0, false
	}
	usual, known := r.usual()
	if !known {
		return coldHedge, true
	}
	return min(max(usual, leastHedge), mostHedge), true
}

// usual returns within what time nearly all recent calls of the kind ended at the endpoint that was asked last; where
// that is unknown, at the quickest of those of which it is known.
func (r *race) usual() (usual time.Duration, known bool) {
	usual, known = r.pool.endpoints[r.order[r.next-1]].health.usual(r.job.kind, hedgeQuantile)
	if known {
		return usual, true
	}
	for _, e := range r.pool.endpoints {
		if took, is := e.health.usual(r.job.kind, hedgeQuantile); is && (!known || took < usual) {
			usual, known = took, true
		}
	}
	return usual, known
}

// isLatest reports whether a result is of the endpoint that was asked last.
func (r *race) isLatest(got result) bool { return got.index == r.order[r.next-1] }

// start has the next endpoint tried. While others can follow it may use half of the time that is left, so that a
// silent endpoint does not take the whole of it. Where nobody can be asked beside it the try is over when start
// returns: a goroutine of its own would have to grow a stack for every call.
func (r *race) start(ctx context.Context, isHedge bool) {
	index := r.order[r.next]
	r.next++
	turn := &turn{number: r.next, isHedge: isHedge, verdict: &r.verdict}
	r.running++
	cancel := context.CancelFunc(func() {})
	if deadline, limited := ctx.Deadline(); limited && r.othersFollow() {
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	try := func() {
		got := result{index: index, err: errPanicked}
		defer func() {
			cancel()
			got.panicked = recover()
			r.results <- got
		}()
		got.err = r.job.ask(ctx, r.pool.endpoints[index], turn)
	}
	if _, mayHedge := r.hedgeDelay(ctx); !mayHedge && r.running == 1 {
		try()
		return
	}
	go try()
}

// othersFollow reports whether any endpoint that is left can be asked at all.
func (r *race) othersFollow() bool {
	for _, index := range r.order[r.next:] {
		if r.pool.endpoints[index].standing() != away {
			return true
		}
	}
	return false
}

// join waits for the tries that lost.
func (r *race) join() {
	for ; r.running > 0; r.running-- {
		<-r.results
	}
}

// mayGoOn reports whether another try follows a failed one. To ask elsewhere what an endpoint cannot know, or when it
// cannot be reached, is no extra load; to repeat what one failed at is.
func (r *race) mayGoOn(ctx context.Context, after result) bool {
	class := classOf(after.err)
	isRetry := countsAgainst(after.err) && class != Unreachable || statusOf(after.err) != 0 && class == RateLimited
	if r.next < len(r.order) {
		return !isRetry || r.pool.spare.retry()
	}
	return r.again(ctx)
}

// again puts an endpoint whose connection broke, or that failed inside, at the end of the order, once, and lets
// a moment pass.
func (r *race) again(ctx context.Context) bool {
	if !r.job.isRead || r.retried || isBackground(ctx) {
		return false
	}
	r.retried = true
	for _, index := range r.order {
		class := classOf(r.failures[index])
		if class != Unreachable && class != ServerError || retryAfterOf(r.failures[index]) > 0 {
			continue
		}
		wait := backoff + rand.N(2*backoff)
		if deadline, limited := ctx.Deadline(); limited && time.Until(deadline) < 2*wait || !r.pool.spare.retry() {
			return false
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			r.order = append(r.order, index)
			return true
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// putLiarsAside has those endpoints put aside whose answers another one has just contradicted.
func (r *race) putLiarsAside(ctx context.Context) {
	for index, err := range r.failures {
		if isLie(err) {
			r.pool.endpoints[index].putAside(ctx, err)
		}
	}
}

// failed reports whether an endpoint has failed in this race.
func (r *race) failed() bool { return len(r.failures) > 0 }

// doubted reports whether each failure is an answer that wanted to be confirmed.
func (r *race) doubted() bool { return r.said().onlyDoubt() }

// said are the failures in the sequence in which the endpoints were asked.
func (r *race) said() attempts {
	var said attempts
	told := make(map[int]bool)
	for _, index := range r.order[:r.next] {
		if err := r.failures[index]; err != nil && !told[index] {
			told[index] = true
			said = append(said, err)
		}
	}
	return said
}

func (r *race) summary(caller context.Context) error {
	whole := r.said().summary(r.pool.name)
	if err := endOf(caller); err != nil {
		whole.Class = leftAs(err)
	}
	return whole
}
