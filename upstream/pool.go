package upstream

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// How the preferred endpoint of a pool is chosen. One that works stays until another is clearly better.
const (
	usualQuantile = 0.9              // of how long calls take
	clearlyBetter = 0.7              // of the preferred one's burden, or less
	leastStay     = 10 * time.Second // between two changes for the better
	burdenBase    = 50 * time.Millisecond
	burdenPerFail = 10 // times the burden when every call fails
	overtakenMost = 3  // lost races in a row after which the winner is preferred
	exploreEvery  = 10 * time.Second
)

// Pool is several endpoints that can do the same job. Safe for concurrent use.
type Pool struct {
	name      string
	endpoints []*Endpoint
	heads     *heads // nil: nobody's head is compared
	spare     spare
	preferred atomic.Int64 // index of the endpoint that is asked first
	moved     atomic.Int64 // UNIX nanoseconds of the latest change of preferred
	overtaken atomic.Int64 // races that the preferred endpoint lost in a row
	explored  atomic.Int64 // UNIX nanoseconds at which an endpoint was last tried for knowledge alone
}

// NewPool returns a pool that prefers endpoints in the sequence given until another one proves better.
func NewPool(name string, endpoints ...*Endpoint) *Pool {
	return &Pool{name: name, endpoints: endpoints}
}

// Name returns the configured name.
func (p *Pool) Name() string { return p.name }

// Health tells how each endpoint does, in the sequence in which they were given.
func (p *Pool) Health() []Health {
	told := make([]Health, len(p.endpoints))
	for i, e := range p.endpoints {
		told[i] = e.Health()
		told[i].Preferred = int64(i) == p.preferred.Load()
	}
	return told
}

// Do asks the endpoints one after the other until one gives an answer that check accepts; nil accepts
// every Response. A plain error of check is a bad answer; an *Error keeps its class. When all fail the
// error is an *Error that classes the failures as a whole and says what each endpoint said. A GET may be
// asked of a second endpoint while the first is slow, and again after a failure; check sees one answer at
// a time, and none after the accepted one.
func (p *Pool) Do(ctx context.Context, r Request, check func(Response) error) (Response, error) {
	var accepted Response
	method := r.method()
	err := p.run(ctx, job{
		isRead: method == http.MethodGet || method == http.MethodHead,
		ask: func(ctx context.Context, e *Endpoint, turn *turn) error {
			_, err := e.attempt(ctx, r, turn, func(response Response) error {
				return turn.hear(func() error {
					if check != nil {
						if err := check(response); err != nil {
							return err
						}
					}
					accepted = response
					return nil
				})
			})
			return err
		},
	})
	return accepted, err
}

// job is a question to a pool.
type job struct {
	kind   string // calls of one kind take alike
	isRead bool   // asking twice does no harm
	ask    func(ctx context.Context, e *Endpoint, turn *turn) error
}

// run has endpoints tried until a try succeeds; see Do.
func (p *Pool) run(ctx context.Context, j job) error {
	p.spare.earn()
	r := &race{pool: p, job: j, order: p.order(j.kind), failures: make(map[int]error), results: make(chan result, 1)}
	return r.run(ctx)
}

// answered learns who gave the answer of a job, and whether another one failed before.
func (p *Pool) answered(index int, j job, failed, doubted bool) {
	switch {
	case int64(index) == p.preferred.Load():
		p.overtaken.Store(0)
	case doubted: // who confirmed another's answer did not do better
	case failed || p.overtaken.Add(1) >= overtakenMost:
		p.prefer(index)
	}
	if j.isRead {
		p.explore(index)
		p.askHeads()
	}
}

func (p *Pool) prefer(index int) {
	p.preferred.Store(int64(index))
	p.moved.Store(time.Now().UnixNano())
	p.overtaken.Store(0)
}

// order lists the endpoints by index: those that can answer at once first, the preferred one before its
// equals, then those with the least burden. Those that are not to be asked at all are left out while there are others.
func (p *Pool) order(kind string) []int {
	if len(p.endpoints) < 2 {
		return make([]int, len(p.endpoints))
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
		burdens[index], known[index] = p.endpoints[index].burden(kind)
	}
	slices.SortStableFunc(order[1:], func(a, b int) int { return cmp.Compare(burdens[a], burdens[b]) })
	slices.SortStableFunc(order, func(a, b int) int { return int(standings[a]) - int(standings[b]) })
	order = askable(order, standings)
	if len(order) < 2 || order[0] != preferred {
		return order
	}
	best := order[1]
	isBetter := float64(burdens[best]) < clearlyBetter*float64(burdens[preferred])
	if isBetter && known[best] && standings[preferred] == ready && standings[best] == ready && p.mayMove() {
		p.prefer(best)
		order[0], order[1] = best, preferred
	}
	return order
}

// askable leaves out those that are not to be asked at all, unless that is everybody: then they say why.
func askable(order []int, standings []standing) []int {
	for i, index := range order {
		if i > 0 && standings[index] >= aside {
			return order[:i]
		}
	}
	return order
}

func (p *Pool) mayMove() bool {
	return time.Since(time.Unix(0, p.moved.Load())) >= leastStay
}

// explore has, once in a while, the endpoint that was seen at work the longest ago asked what another just
// answered well: how fast it is, and whether it has recovered, is known before anybody depends on it.
func (p *Pool) explore(winner int) {
	if len(p.endpoints) < 2 {
		return
	}
	now := time.Now()
	last := p.explored.Load()
	if now.Sub(time.Unix(0, last)) < exploreEvery || !p.explored.CompareAndSwap(last, now.UnixNano()) || last == 0 {
		return
	}
	oldest := -1
	for i, e := range p.endpoints {
		if i != winner && e.withheld() == nil && (oldest < 0 || e.health.measured().Before(p.endpoints[oldest].health.measured())) {
			oldest = i
		}
	}
	if oldest < 0 {
		return
	}
	known, found := p.endpoints[winner].sound.latest()
	if found && now.Sub(p.endpoints[oldest].health.measured()) >= exploreEvery {
		p.endpoints[oldest].inquire(known)
	}
}
