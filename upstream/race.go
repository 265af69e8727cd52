package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

// A second endpoint is asked beside a slow first one after the time within which nearly all recent calls of the kind
// were answered, within these bounds, or after coldHedge while that is unknown for every endpoint.
const (
	hedgeQuantile = 0.95
	leastHedge    = 20 * time.Millisecond
	mostHedge     = 2 * time.Second
	coldHedge     = 500 * time.Millisecond
	backoff       = 50 * time.Millisecond // least wait before the same endpoint is asked again; up to three times that
)

var errOvertaken = errors.New("another endpoint was faster")

// race takes one job through a pool. Attempts deliver answers, and the loop in run judges them.
type race struct {
	pool    *Pool
	job     Job
	order   []int // indexes of endpoints
	suited  int   // how many at the beginning of order are expected to answer
	next    int   // index in order of the next endpoint to ask
	running int
	hedged  bool
	retried bool
	results chan result // of attempts at several endpoints; buffers one
	own     result      // of an attempt at the only one, in the race's own goroutine

	failures map[int]error // the latest failure of each endpoint, by index
}

type result struct {
	index    int
	answer   Reply // nil after a panic
	panicked any
}

func (r *race) run(caller context.Context) (Reply, error) {
	if len(r.order) == 0 {
		return nil, attempts{errors.New("no endpoint is configured")}.summary(r.pool.name)
	}
	defer r.join(caller)
	ctx := caller
	if len(r.order) > 1 {
		var lose context.CancelFunc
		ctx, lose = context.WithCancel(caller)
		defer lose()
		r.results = make(chan result, 1)
	}
	r.start(ctx)
	for r.running > 0 {
		got, came := r.await(ctx)
		if !came {
			continue
		}
		r.running--
		if got.panicked != nil {
			panic(got.panicked)
		}
		err := r.judge(caller, got.answer)
		if err == nil {
			for index, err := range r.failures {
				if Contradicts(err) {
					r.pool.endpoints[index].Quarantine(caller, err)
				}
			}
			// Otherwise the order was not the pool's, or an endpoint was left out because searches spent their share.
			if len(r.job.Avoid) == 0 && WorkOf(caller) != Searching {
				if r.job.IsRead {
					r.pool.explore(got.index, r.job, &got.answer.attempt().request)
				}
				r.pool.answered(got.index, len(r.failures) > 0, r.suited < len(r.order))
			}
			return got.answer, nil
		}
		if r.failures == nil {
			r.failures = make(map[int]error)
		}
		r.failures[got.index] = err
		if caller.Err() != nil {
			break
		}
		switch {
		case r.running == 0 && r.mayGoOn(ctx, err):
			r.start(ctx)
		case r.running > 0 && got.index == r.order[r.next-1] && r.next < len(r.order) && r.mayGoOn(ctx, err):
			r.start(ctx) // an earlier endpoint is still slow
		}
	}
	return nil, r.summary(caller)
}

// judge judges an answer and settles its attempt; nil means that the answer is accepted.
func (r *race) judge(ctx context.Context, answer Reply) (err error) {
	a, wrong := answer.attempt(), errPanicked
	defer func() { err = a.Settle(ctx, wrong) }()
	if a.Err == nil {
		wrong = answer.Judge(ctx)
	}
	return nil
}

// await returns the next result. It reports false if the time for a hedge came first.
func (r *race) await(ctx context.Context) (got result, came bool) {
	if r.results == nil {
		return r.own, true
	}
	hedge, mayHedge := r.hedgeDelay(ctx)
	if !mayHedge {
		return <-r.results, true
	}
	timer := time.NewTimer(hedge)
	defer timer.Stop()
	select {
	case got = <-r.results:
		return got, true
	case <-timer.C:
	}
	r.hedged = true
	if r.pool.retries.take(hedgeCost, 0.5) {
		r.start(ctx)
	}
	return result{}, false
}

// hedgeDelay returns the wait before the next endpoint is asked in addition, if that is allowed: once, for reads with a
// waiting caller, at an endpoint that can answer immediately.
func (r *race) hedgeDelay(ctx context.Context) (time.Duration, bool) {
	if !r.job.IsRead || r.hedged || r.next >= min(r.suited, len(r.order)) || WorkOf(ctx) == Background {
		return 0, false
	}
	if r.pool.endpoints[r.order[r.next]].standing() != ready {
		return 0, false
	}
	usual, known := r.pool.endpoints[r.order[r.next-1]].health.usual(r.job.Kind, hedgeQuantile)
	if !known { // for the endpoint asked last: then that of the quickest known one
		usual = coldHedge
		for _, e := range r.pool.endpoints {
			if took, is := e.health.usual(r.job.Kind, hedgeQuantile); is && (!known || took < usual) {
				usual, known = took, true
			}
		}
	}
	return min(max(usual, leastHedge), mostHedge), true
}

// start tries the next endpoint. While others can follow, it may use half of the remaining time, so that a silent
// endpoint does not use up all of it.
func (r *race) start(ctx context.Context) {
	index := r.order[r.next]
	r.next++
	turn := r.next
	r.running++
	cancel := context.CancelFunc(func() {})
	canBeAsked := func(index int) bool { return r.pool.endpoints[index].standing() != away }
	if deadline, limited := ctx.Deadline(); limited && slices.ContainsFunc(r.order[r.next:], canBeAsked) {
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	if r.results == nil { // there is nothing to do meanwhile
		defer cancel()
		r.own = r.attempt(ctx, index, turn)
		return
	}
	go func() {
		defer cancel()
		r.results <- r.attempt(ctx, index, turn)
	}()
}

func (r *race) attempt(ctx context.Context, index, turn int) (got result) {
	defer func() { got.panicked = recover() }()
	got.index = index
	got.answer = r.job.Try(ctx, r.pool.endpoints[index], turn)
	return got
}

// join waits for the attempts that lost; their answers are dropped.
func (r *race) join(ctx context.Context) {
	for ; r.running > 0; r.running-- {
		late := <-r.results
		if late.answer == nil {
			continue
		}
		_ = late.answer.attempt().Settle(ctx, &Error{Class: Canceled, Err: errOvertaken})
	}
}

// mayGoOn reports whether another attempt follows a failed one. Asking elsewhere because an endpoint cannot know the
// answer, has it wrong or is unreachable adds no load; repeating a failure does.
func (r *race) mayGoOn(ctx context.Context, after error) bool {
	class := ClassOf(after)
	isFault := IsFault(after) && class != Unreachable && class != BadAnswer
	isRetry := isFault || detailsOf(after).Status != 0 && class == RateLimited
	if r.next < len(r.order) {
		return !isRetry || r.pool.retries.retry()
	}
	return r.again(ctx)
}

// again appends to the order, once, an endpoint whose connection broke or that had a server error, and waits a moment.
func (r *race) again(ctx context.Context) bool {
	if !r.job.IsRead || r.retried || WorkOf(ctx) == Background {
		return false
	}
	r.retried = true
	for _, index := range r.order {
		class := ClassOf(r.failures[index])
		if class != Unreachable && class != ServerError || detailsOf(r.failures[index]).RetryAfter > 0 {
			continue
		}
		if !r.pool.Retry(ctx, 0) {
			return false
		}
		r.order = append(r.order, index)
		return true
	}
	return false
}

// summary combines the failures in the order in which the endpoints were asked.
func (r *race) summary(caller context.Context) error {
	var all attempts
	for i, index := range r.order[:r.next] {
		if err := r.failures[index]; err != nil && !slices.Contains(r.order[:i], index) {
			all = append(all, err)
		}
	}
	whole := all.summary(r.pool.name)
	if err := endOf(caller); err != nil {
		whole.Class = ClassOfContext(err)
	}
	return whole
}

// Retry waits a moment, longer with each round from 0 on, before something that failed is tried again. It returns false
// if the deadline of ctx or the retry budget does not allow that.
func (p *Pool) Retry(ctx context.Context, round int) bool {
	wait := (backoff + rand.N(2*backoff)) << round
	if deadline, limited := ctx.Deadline(); limited && time.Until(deadline) < 2*wait || !p.retries.retry() {
		return false
	}
	return sleep(ctx, wait) == nil
}
