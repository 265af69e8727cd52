package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order/query"
	"crossgate/upstream"
)

// Route is a documented path as data: how a request becomes a question of type Q, what distinguishes
// questions, and how one without an answer in the cache is loaded.
type Route[Q any] struct {
	Paths   []string // the documented one first
	Methods []string // of requests; GET and HEAD when nil
	Dialect Dialect
	Cost    int           // in units of a client's quota; 1 when zero
	Limit   time.Duration // of Load; Limits.OrderLimit when zero
	Parse   func(*gin.Context) (Q, error)
	Key     func(path string, question Q) cache.Key // questions of one key differ only in which body they mean
	Load    func(context.Context, Q) (bodies []Body, life cache.Life, err error)
	Choose  func(Q, []Body) (*Body, error) // nil: load makes one body
	Indexed bool                           // the order index answers; replicas may have answers from each other
	Stored  bool                           // it asks no chain for that, unless for a transaction that is sought
	Shared  bool                           // the same of an answer that is not the index's
	Learn   func(Q, []Body)                // remembers what another replica found; nil: nothing
	Sought  func(Q) chain.TxHash           // that chains may be searched for; nil: none

	// Follow makes what answers those who want a stream, after the event that a client had last; nil: there is none.
	Follow func(ctx context.Context, question Q, last string) (Follower, error)

	isForPage bool // the values of bodies are kept
}

// patience is how long a client waits for what the index or the chains have. The load goes on, so that a later request
// finds its result. Balancers wait a little longer: docs/operations.md says 1.7 s.
const patience = 1500 * time.Millisecond

var ErrImpatient = errors.New("not read in time; the load goes on")

// handler is the walk of every request.
func (r Route[Q]) handler(s *Server) gin.HandlerFunc {
	vary := varyCoding
	if r.Follow != nil {
		vary = varyStreams
	}
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header["Vary"] = vary
		taken := r.takeShadow(s, c)
		question, err := r.Parse(c)
		if err != nil {
			p := ProblemOf(err)
			s.fail(c, r.Dialect, p)
			taken.failed(p)
			return
		}
		if r.Follow != nil && WantsStream(c.Request) {
			last := c.GetHeader("Last-Event-ID")
			s.follow(c, r.Dialect, func(ctx context.Context) (Follower, error) { return r.Follow(ctx, question, last) })
			return
		}
		r.reply(s, c, question, taken)
	}
}

// reply answers a question from the cache, or loads what it lacks. Its large frame is not below streams, which last.
func (r *Route[Q]) reply(s *Server, c *gin.Context, question Q, taken *shadowed) {
	key, header := r.Key(r.Paths[0], question), c.Writer.Header()
	found, hit := s.answers.Hit(key)
	var err error
	if !hit {
		found, err = r.miss(s.WithPayer(c, SearchCost), s, key, question)
	}
	chosen, from, err := r.pick(question, found, err)
	if from.Value.Bodies != nil || from.Value.problem != nil {
		s.measures.lookup(r.Paths[0], &from)
		header["Cache-Status"] = cacheStatus(&from)
		from.Value.freshness.write(header)
	}
	if err != nil {
		p := ProblemOf(err)
		s.fail(c, r.Dialect, p)
		taken.failed(p)
		return
	}
	if from.Failure != nil {
		_ = c.Error(from.Failure) // for the log: the client got an older answer instead
	}
	chosen.write(c, from.Age)
	taken.compare(http.StatusOK, chosen.Text)
}

// Ask returns the body that answers a question for a page, with its value, and how the cache came by it. Such answers
// are kept apart from those for clients, and replicas do not share them: the shared cache holds texts alone.
func (r Route[Q]) Ask(ctx context.Context, s *Server, question Q) (*Body, cache.Result[answer], error) {
	key := r.Key
	r.Key = func(path string, question Q) cache.Key {
		if path == Subject {
			return key(path, question)
		}
		return key("page "+path, question)
	}
	r.isForPage = true
	return r.ask(ctx, s, question)
}

// Answer returns the body that answers a question, as clients get it.
func (r Route[Q]) Answer(ctx context.Context, s *Server, question Q) (*Body, error) {
	found, _, err := r.ask(ctx, s, question)
	return found, err
}

// ask returns the body that answers a question, and how the cache came by it.
func (r Route[Q]) ask(ctx context.Context, s *Server, question Q) (*Body, cache.Result[answer], error) {
	key := r.Key(r.Paths[0], question)
	found, hit := s.answers.Hit(key)
	var err error
	if !hit {
		found, err = r.miss(ctx, s, key, question)
	}
	return r.pick(question, found, err)
}

func (r Route[Q]) pick(question Q, found cache.Result[answer], err error) (*Body, cache.Result[answer], error) {
	switch {
	case err != nil:
		return nil, cache.Result[answer]{}, err
	case found.Value.problem != nil:
		return nil, found, found.Value.problem
	case r.Choose == nil:
		return &found.Value.Bodies[0], found, nil
	}
	chosen, err := r.Choose(question, found.Value.Bodies)
	return chosen, found, err
}

func (r Route[Q]) miss(ctx context.Context, s *Server, key cache.Key, question Q) (cache.Result[answer], error) {
	if s.Options.Traced < 1 {
		ctx = untraced(ctx)
	}
	get := s.answers.Get
	if (r.Shared || r.Indexed) && !r.isForPage {
		get = s.answers.GetShared
	}
	waiting := ctx
	if r.Indexed {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, s.patience, ErrImpatient)
		defer cancel()
	}
	load := func(ctx context.Context) (answer, cache.Life, error) {
		return r.answer(upstream.WithLookup(ctx), s, question)
	}
	found, err := get(waiting, key, load)
	if IsKind(err, quotaExceeded) && found.Shared { // of another client, who asked for the same
		found, err = get(waiting, key, load)
	}
	if errors.Is(err, ErrImpatient) {
		found, err = r.late(s, question), nil
	}
	if found.Remote && r.Learn != nil {
		bodies := found.Value.Bodies
		if p := found.Value.problem; p != nil {
			bodies = []Body{{Orders: p.Orders}}
		}
		r.Learn(question, bodies)
	}
	return found, err
}

// late is the answer after patience has run out: the index or some chains have not replied yet.
func (r Route[Q]) late(s *Server, question Q) cache.Result[answer] {
	var sought chain.TxHash
	if r.Sought != nil {
		sought = r.Sought(question)
	}
	why := s.Options.Index().Late(sought)
	p := chainUnreachable.From(errors.Join(ErrImpatient, why))
	p.message = fmt.Sprintf("reading the answer takes longer than %s and goes on; retry later", s.patience)
	if unheard, is := errors.AsType[*query.UnheardError](why); is {
		p.Unheard = unheard.Chains
		p.message = fmt.Sprintf("no answer from %s within %s; the search goes on, retry later", named(p.Unheard), s.patience)
	}
	if r.Stored && len(p.Unheard) == 0 || errors.Is(why, query.ErrUnavailable) {
		p = indexUnavailable.From(p.cause)
	}
	searched := s.Options.Index().Basis()
	return cache.Result[answer]{Value: answer{problem: p, Searched: searched, freshness: freshnessOf(searched, time.Now())}}
}

// answer loads. A problem that may be remembered for a moment is an answer like any other.
func (r Route[Q]) answer(ctx context.Context, s *Server, question Q) (answer, cache.Life, error) {
	done, err := s.turn.take()
	defer done()
	if err != nil {
		return answer{}, cache.Life{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.Limit, s.Options.OrderLimit))
	defer cancel()
	bodies, life, err := r.Load(ctx, question)
	if !r.isForPage {
		for i := range bodies {
			bodies[i].Value = nil
		}
	}
	made := newAnswer(bodies, life, time.Now())
	if r.Indexed {
		made.subject = r.Key(Subject, question)
	}
	if err == nil {
		return made, life, nil
	}
	if made.problem = ProblemOf(err); made.problem.remembered() <= 0 {
		return answer{}, cache.Life{}, err
	}
	if search, is := errors.AsType[*SearchError](err); is {
		made.Searched, made.freshness = search.Basis, freshnessOf(search.Basis, made.Made)
	}
	return made, cache.Life{Fresh: made.problem.remembered()}, nil
}
