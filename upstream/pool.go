package upstream

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// How the preferred endpoint of a pool is chosen. One that works stays until another is clearly better.
const (
	usualQuantile = 0.9              // of call durations
	clearlyBetter = 0.7              // at most this share of the preferred endpoint's burden
	leastStay     = 10 * time.Second // between two moves to a better endpoint
	burdenBase    = 50 * time.Millisecond
	burdenPerFail = 10 // added multiples of the burden if every call fails
	overtakenMost = 3  // lost races in a row after which the winner is preferred
	exploreEvery  = 10 * time.Second
)

// Pool is a set of endpoints that can do the same job. Safe for concurrent use.
type Pool struct {
	name      string
	endpoints []*Endpoint
	retries   retryBudget
	preferred atomic.Int64 // index of the endpoint that is asked first
	moved     atomic.Int64 // when preferred last changed, UNIX nanoseconds
	overtaken atomic.Int64 // races that the preferred endpoint lost in a row
	explored  atomic.Int64 // when an endpoint was last probed by explore, UNIX nanoseconds
}

// NewPool returns a pool that prefers endpoints in the given order until another one proves better.
func NewPool(name string, endpoints ...*Endpoint) *Pool {
	return &Pool{name: name, endpoints: endpoints}
}

// Name returns the configured name.
func (p *Pool) Name() string { return p.name }

// Endpoints returns the endpoints in the order in which they were given.
func (p *Pool) Endpoints() []*Endpoint { return p.endpoints }

// Attributes returns the attributes of the pool's spans and measurements: the chain or venue that its endpoints serve.
func (p *Pool) Attributes() []attribute.KeyValue {
	if len(p.endpoints) == 0 {
		return nil
	}
	return p.endpoints[0].tracing.attributes
}

// Health returns the state of each endpoint, in the order in which they were given.
func (p *Pool) Health() []Health {
	all := make([]Health, len(p.endpoints))
	for i, e := range p.endpoints {
		all[i] = e.Health()
		all[i].Preferred = int64(i) == p.preferred.Load()
	}
	return all
}

// Do asks one endpoint after another until check accepts an answer; nil accepts every Response, and ErrDeclined counts
// as an answer, too. A plain error from check is a bad answer; an *Error keeps its class. If all fail, the *Error
// contains each endpoint's failure. A GET or HEAD may be sent to a second endpoint while the first is slow.
func (p *Pool) Do(ctx context.Context, r Request, check func(Response) error) (Response, error) {
	method := r.method()
	winner, err := p.Run(ctx, Job{
		IsRead: method == http.MethodGet || method == http.MethodHead,
		Try: func(ctx context.Context, e *Endpoint, turn int) Reply {
			return plainReply{e.Attempt(ctx, r, turn), check}
		},
	})
	if err != nil {
		return Response{}, err
	}
	return winner.attempt().Response, nil
}

// plainReply is an answer to a request of Do.
type plainReply struct {
	*Attempt
	check func(Response) error // nil accepts all
}

// Judge implements Reply.
func (a plainReply) Judge(context.Context) error {
	if a.check == nil {
		return nil
	}
	return a.check(a.Response)
}

// Job is a task for one of a pool's endpoints.
type Job struct {
	Kind    string   // requests of one kind take about equally long
	Callers int      // how many callers share the job, each with a claim to retries; 0: one
	IsRead  bool     // trying it twice is harmless
	Avoid   []string // names of endpoints to ask after all others
	// Suits selects endpoints expected to answer, judging by past behaviour; the others are asked last. Nil: all.
	Suits func(*Endpoint) bool
	// Try makes an attempt at an endpoint. It may be called concurrently.
	Try func(ctx context.Context, e *Endpoint, turn int) Reply
}

// Run tries endpoints until an answer is accepted, and returns that answer; see Do. Answers are judged one at a time,
// in the caller's goroutine, and none after the accepted one. All attempts are over when it returns.
func (p *Pool) Run(ctx context.Context, j Job) (Reply, error) {
	for range max(j.Callers, 1) {
		p.retries.earn()
	}
	order, suited := p.first(j.Kind, j.Avoid, j.Suits)
	r := &race{pool: p, job: j, order: order, suited: suited}
	return r.run(ctx)
}

// Next returns the endpoint that a job would try first; nil in an empty pool.
func (p *Pool) Next(kind string, avoid []string, suits func(*Endpoint) bool) *Endpoint {
	order, _ := p.first(kind, avoid, suits)
	if len(order) == 0 {
		return nil
	}
	return p.endpoints[order[0]]
}

// first orders endpoints for a job: those that the caller avoids come after the others, and those that are not expected
// to answer come last; suited counts the ones before them.
func (p *Pool) first(kind string, avoid []string, suits func(*Endpoint) bool) (order []int, suited int) {
	order = p.order(kind)
	if len(avoid) > 0 {
		order, _ = p.split(order, func(e *Endpoint) bool { return !slices.Contains(avoid, e.name) })
	}
	if suits == nil {
		return order, len(order)
	}
	return p.split(order, suits)
}

// split moves the endpoints that isFirst selects before the others, and counts them.
func (p *Pool) split(order []int, isFirst func(*Endpoint) bool) (reordered []int, count int) {
	var rest []int
	for _, index := range order {
		if isFirst(p.endpoints[index]) {
			reordered = append(reordered, index)
		} else {
			rest = append(rest, index)
		}
	}
	return append(reordered, rest...), len(reordered)
}

// answered records which endpoint answered a job, and whether another one had failed before. isOther means that it was
// chosen for other reasons than its performance.
func (p *Pool) answered(index int, failed, isOther bool) {
	switch {
	case int64(index) == p.preferred.Load():
		p.overtaken.Store(0)
	case isOther: // confirming an answer, or doing something that the other cannot, is not doing better
	case failed || p.overtaken.Add(1) >= overtakenMost:
		p.prefer(index)
	}
}

func (p *Pool) prefer(index int) {
	p.preferred.Store(int64(index))
	p.moved.Store(time.Now().UnixNano())
	p.overtaken.Store(0)
}

// onlyFirst is the order of a pool of one. It never changes.
var onlyFirst = []int{0}

// order lists the endpoints by index: those that can answer at once first, the preferred one before its
// equals, then those with the least burden: how long calls of the kind take, a guess where too few are known,
// multiplied by the share of failures. Unusable ones are left out while there are others.
func (p *Pool) order(kind string) []int {
	if count := len(p.endpoints); count < 2 {
		return onlyFirst[:count:count]
	}
	order := make([]int, 0, len(p.endpoints))
	standings := make([]standing, len(p.endpoints))
	burdens := make([]time.Duration, len(p.endpoints))
	known := make([]bool, len(p.endpoints))
	preferred := int(p.preferred.Load())
	for i := range p.endpoints {
		index := (preferred + i) % len(p.endpoints)
		order = append(order, index)
		standings[index] = p.endpoints[index].standing()
		var usual time.Duration
		usual, known[index] = p.endpoints[index].health.usual(kind, usualQuantile)
		_, failing := p.endpoints[index].health.failing()
		burdens[index] = time.Duration(float64(burdenBase+usual) * (1 + burdenPerFail*failing))
	}
	slices.SortStableFunc(order[1:], func(a, b int) int { return cmp.Compare(burdens[a], burdens[b]) })
	slices.SortStableFunc(order, func(a, b int) int { return int(standings[a]) - int(standings[b]) })
	if usable := slices.IndexFunc(order, func(index int) bool { return standings[index] >= closed }); usable > 0 {
		order = order[:usable] // if all are unusable, their errors say why
	}
	if len(order) < 2 || order[0] != preferred {
		return order
	}
	best := order[1]
	isBetter := known[best] && float64(burdens[best]) < clearlyBetter*float64(burdens[preferred])
	mayMove := time.Since(time.Unix(0, p.moved.Load())) >= leastStay
	if isBetter && mayMove && standings[preferred] == ready && standings[best] == ready {
		p.prefer(best)
		order[0], order[1] = best, preferred
	}
	return order
}

// explore repeats once in a while a request that one endpoint just answered at the endpoint measured least recently, so
// that its speed, and whether it has recovered, are known before callers depend on it.
func (p *Pool) explore(winner int, j Job, answered *Request) {
	now, last := time.Now(), p.explored.Load()
	if len(p.endpoints) < 2 || len(answered.Body) > largestProbe || now.Sub(time.Unix(0, last)) < exploreEvery ||
		!p.explored.CompareAndSwap(last, now.UnixNano()) || last == 0 {
		return
	}
	others := slices.DeleteFunc(slices.Clone(p.endpoints), func(e *Endpoint) bool {
		return e == p.endpoints[winner] || !e.MayBeProbed() || now.Sub(e.health.measured()) < exploreEvery
	})
	if len(others) == 0 {
		return
	}
	oldest := slices.MinFunc(others, func(a, b *Endpoint) int { return a.health.measured().Compare(b.health.measured()) })
	if j.Suits == nil || j.Suits(oldest) {
		oldest.InBackground(func(ctx context.Context) { _, _ = oldest.Probe(ctx, *answered) })
	}
}
