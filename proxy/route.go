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

// Route is a documented path as data: how a request becomes a question of type Q, how questions differ, and how to load
// an answer that is not cached.
type Route[Q any] struct {
	Paths   []string // the documented one first
	Methods []string // GET and HEAD if nil
	Dialect Dialect
	Cost    int           // in units of a client's quota; 0 means 1
	Limit   time.Duration // of Load; 0 means Limits.OrderLimit
	Parse   func(*gin.Context) (Q, error)
	Key     func(path string, question Q) cache.Key // questions with one key differ only in which body they choose
	Load    func(context.Context, Q) (bodies []Body, life cache.Life, err error)
	Choose  func(Q, []Body) (*Body, error) // nil if Load returns one body
	Indexed bool                           // the order index answers; replicas share answers
	Stored  bool                           // answered without asking a chain, except for a sought transaction
	Shared  bool                           // replicas share answers, though they are not from the index
	Learn   func(Q, []Body)                // remembers another replica's answer; nil if there is nothing to remember
	Sought  func(Q) chain.TxHash           // transaction that chains may be searched for; nil if none

	// Follow begins a stream for a client, starting after the last event that it received; nil if unsupported.
	Follow func(ctx context.Context, question Q, last string) (Follower, error)

	isForPage bool // keep the bodies' values
}

// patience is how long a client waits for the index or the chains. The load goes on, so that a later request finds its
// result. Load balancers should wait a little longer: docs/operations.md says 1.7 s.
const patience = 1500 * time.Millisecond

var ErrImpatient = errors.New("not read in time; loading continues")

// handler returns the handler that every request to the route passes through.
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

// reply answers a question from the cache, or by a load. As a function, it keeps its large frame off streams' stacks.
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
		_ = c.Error(from.Failure) // for the log; the client got an older answer
	}
	chosen.write(c, from.Age)
	taken.compare(http.StatusOK, chosen.Text)
}

// Ask returns the body that answers a question for a page, including its Value, and the cache's result. These answers
// are cached apart from those for clients and not shared with replicas: the shared cache holds only texts.
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

// Answer returns the body that answers a question as clients get it.
func (r Route[Q]) Answer(ctx context.Context, s *Server, question Q) (*Body, error) {
	found, _, err := r.ask(ctx, s, question)
	return found, err
}

// ask returns the body that answers a question, and the cache's result.
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
	if IsKind(err, quotaExceeded) && found.Shared { // the quota of another client, who asked for the same
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

// late returns the answer once patience has run out: the index or some chains have not replied yet.
func (r Route[Q]) late(s *Server, question Q) cache.Result[answer] {
	var sought chain.TxHash
	if r.Sought != nil {
		sought = r.Sought(question)
	}
	why := s.Options.Index().Late(sought)
	p := chainUnreachable.From(errors.Join(ErrImpatient, why))
	p.message = fmt.Sprintf("no answer within %s; loading continues, retry later", s.patience)
	if unheard, is := errors.AsType[*query.UnheardError](why); is {
		p.Unheard = unheard.Chains
		p.message = fmt.Sprintf("no answer from %s within %s; the search continues, retry later", named(p.Unheard), s.patience)
	}
	if r.Stored && len(p.Unheard) == 0 || errors.Is(why, query.ErrUnavailable) {
		p = indexUnavailable.From(p.cause)
	}
	searched := s.Options.Index().Basis()
	return cache.Result[answer]{Value: answer{problem: p, Searched: searched, freshness: freshnessOf(searched, time.Now())}}
}

// answer loads an answer. A problem that may be cached for a moment is an answer like any other.
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
