package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
)

// route is a documented path as data: how a request becomes a question of type Q, what tells questions
// apart, and who answers one that has no answer in the cache.
type route[Q any] struct {
	paths   []string // the documented one first
	methods []string // of requests; GET and HEAD when nil
	dialect dialect
	cost    int           // in units of a client's quota; 1 when zero
	limit   time.Duration // of load, and so of everybody who waits for it
	parse   func(*gin.Context) (Q, error)
	key     func(path string, question Q) cache.Key // questions of one key differ only in which body they mean
	load    func(context.Context, Q) (bodies []jsonBody, life cache.Life, err error)
	choose  func(Q, []jsonBody) (*jsonBody, error) // nil: load makes one body
	indexed bool                                   // the order index answers
	streams string                                 // name of the events by which the answer can be followed; empty: it cannot
	shared  bool                                   // replicas may have answers from each other
	learn   func(Q, []jsonBody)                    // remembers what another replica found; nil: nothing
	sought  func(Q) chain.TxHash                   // that chains may be searched for; nil: none
}

// patience is how long a client waits for what the index or the chains have. The load goes on, so that a later request
// finds its result. Balancers wait a little longer: docs/operations.md says 1.7 s.
const patience = 1500 * time.Millisecond

var errImpatient = errors.New("not read in time; the load goes on")

// handler is the walk of every request.
func (r route[Q]) handler(s *Server) gin.HandlerFunc {
	vary := varyCoding
	if r.streams != "" {
		vary = varyStreams
	}
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header["Vary"] = vary
		taken := r.takeShadow(s, c)
		question, err := r.parse(c)
		if err != nil {
			p := problemOf(err)
			s.fail(c, r.dialect, p)
			taken.failed(p)
			return
		}
		if r.streams != "" && wantsStream(c.Request) {
			s.serveStream(c, r.dialect, func(ctx context.Context, c *gin.Context) { r.stream(ctx, c, s, question) })
			return
		}
		key := r.key(r.paths[0], question)
		found, hit := s.answers.Hit(key)
		if !hit {
			found, err = r.miss(s.withPayer(c, searchCost), s, key, question)
		}
		chosen, from, err := r.pick(question, found, err)
		if !from.Value.isEmpty() {
			s.measures.lookup(r.paths[0], &from)
			header["Cache-Status"] = cacheStatus(&from)
			from.Value.freshness.write(header)
		}
		if err != nil {
			p := problemOf(err)
			s.fail(c, r.dialect, p)
			taken.failed(p)
			return
		}
		if from.Failure != nil {
			_ = c.Error(from.Failure) // for the log: the client got an older answer instead
		}
		chosen.write(c, from.Age)
		taken.answered(chosen)
	}
}

// ask returns the body that answers a question, and how the cache came by it.
func (r route[Q]) ask(ctx context.Context, s *Server, question Q) (*jsonBody, cache.Result[answer], error) {
	key := r.key(r.paths[0], question)
	found, hit := s.answers.Hit(key)
	var err error
	if !hit {
		found, err = r.miss(ctx, s, key, question)
	}
	return r.pick(question, found, err)
}

// pick returns the body of an answer that a question means.
func (r route[Q]) pick(question Q, found cache.Result[answer], err error) (*jsonBody, cache.Result[answer], error) {
	switch {
	case err != nil:
		return nil, cache.Result[answer]{}, err
	case found.Value.problem != nil:
		return nil, found, found.Value.problem
	case r.choose == nil:
		return &found.Value.bodies[0], found, nil
	}
	chosen, err := r.choose(question, found.Value.bodies)
	return chosen, found, err
}

// miss gets the answer that is not there as it should be.
func (r route[Q]) miss(ctx context.Context, s *Server, key cache.Key, question Q) (cache.Result[answer], error) {
	if s.options.Tracing.Share < 1 {
		ctx = untraced(ctx)
	}
	get := s.answers.Get
	if r.shared {
		get = s.answers.GetShared
	}
	ctx, span := s.startLookup(ctx)
	waiting := ctx
	if r.indexed {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, s.patience, errImpatient)
		defer cancel()
	}
	load := func(ctx context.Context) (answer, cache.Life, error) { return r.answer(ctx, s, question) }
	found, err := get(waiting, key, load)
	if isKind(err, quotaExceeded) && found.Shared { // of another client, who asked for the same
		found, err = get(waiting, key, load)
	}
	if errors.Is(err, errImpatient) {
		found, err = r.late(s, question), nil
	}
	endLookup(span, found, err)
	if found.Remote && r.learn != nil {
		r.learn(question, found.Value.bodies)
	}
	return found, err
}

// late is what a client gets who has waited long enough: which chains have not answered yet, and what was read of them.
func (r route[Q]) late(s *Server, question Q) cache.Result[answer] {
	p := chainUnreachable.from(errImpatient)
	p.message = fmt.Sprintf("reading the answer takes longer than %s and goes on; retry later", s.patience)
	if r.sought != nil {
		p.unheard = s.options.Index.Unheard(r.sought(question))
	}
	if len(p.unheard) > 0 {
		p.message = fmt.Sprintf("no answer from %s within %s; the search goes on, retry later", named(p.unheard), s.patience)
	}
	searched := s.options.Index.Basis()
	return cache.Result[answer]{Value: answer{problem: p, searched: searched, freshness: freshnessOf(searched, time.Now())}}
}

// answer loads. A problem that may be remembered for a moment is an answer like any other.
func (r route[Q]) answer(ctx context.Context, s *Server, question Q) (answer, cache.Life, error) {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	bodies, life, err := r.load(ctx, question)
	made := newAnswer(bodies, life, time.Now())
	if r.indexed {
		made.subject = r.key(subject, question)
	}
	if err == nil {
		return made, life, nil
	}
	if made.problem = problemOf(err); made.problem.remembered() <= 0 {
		return answer{}, cache.Life{}, err
	}
	var search *searchError
	if errors.As(err, &search) {
		made.searched, made.freshness = search.basis, freshnessOf(search.basis, made.made)
	}
	return made, cache.Life{Fresh: made.problem.remembered()}, nil
}
