package proxy

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
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
}

// mount makes engine serve r, and keyRouter find its cache keys. It returns the paths of r.
func mount[Q any](s *Server, engine, keyRouter *gin.Engine, r route[Q]) []string {
	handler := r.handler(s)
	methods := r.methods
	if methods == nil {
		methods = []string{http.MethodGet, http.MethodHead}
	}
	for _, path := range r.paths {
		for _, method := range methods {
			engine.Handle(method, path, handler)
		}
		engine.OPTIONS(path, preflight(methods))
		if !slices.Contains(methods, http.MethodGet) {
			s.refuseOthers(engine, path, methods)
		}
		if slices.Contains(methods, http.MethodGet) {
			keyRouter.GET(path, r.probeKey)
		}
		s.costs[path] = pathCost{max(r.cost, cheapCost), r.dialect}
	}
	return r.paths
}

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
			r.stream(c, s, question)
			return
		}
		chosen, from, err := r.ask(c.Request.Context(), s, question)
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
	if !hit {
		if s.options.Tracing.Share < 1 {
			ctx = untraced(ctx)
		}
		var err error
		if found, err = r.miss(ctx, s, key, question); err != nil {
			return nil, cache.Result[answer]{}, err
		}
	}
	if found.Value.problem != nil {
		return nil, found, found.Value.problem
	}
	if r.choose == nil {
		return &found.Value.bodies[0], found, nil
	}
	chosen, err := r.choose(question, found.Value.bodies)
	return chosen, found, err
}

// miss gets the answer that is not there as it should be.
func (r route[Q]) miss(ctx context.Context, s *Server, key cache.Key, question Q) (cache.Result[answer], error) {
	get := s.answers.Get
	if r.shared {
		get = s.answers.GetShared
	}
	ctx, span := s.startLookup(ctx)
	found, err := get(ctx, key, func(ctx context.Context) (answer, cache.Life, error) {
		return r.answer(ctx, s, question)
	})
	endLookup(span, found, err)
	if found.Remote && r.learn != nil {
		r.learn(question, found.Value.bodies)
	}
	return found, err
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

// preflight answers what pages of other origins may ask with (CORS).
func preflight(methods []string) gin.HandlerFunc {
	allowed := allow(methods)
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header.Set("Access-Control-Allow-Methods", allowed)
		header.Set("Access-Control-Allow-Headers", "*, Authorization")
		header.Set("Access-Control-Max-Age", "86400")
		header.Set("Allow", allowed)
		c.Status(http.StatusNoContent)
	}
}

// refuseOthers keeps a GET of a path that takes none from a pattern that fits it: of a list, from the order with an id.
func (s *Server) refuseOthers(engine *gin.Engine, path string, methods []string) {
	allowed := allow(methods)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if slices.Contains(methods, method) {
			continue
		}
		engine.Handle(method, path, func(c *gin.Context) {
			c.Writer.Header().Set("Allow", allowed)
			s.methodNotAllowed(c)
		})
	}
}

// allow is the Allow header of a path that takes these methods.
func allow(methods []string) string { return strings.Join(methods, ", ") + ", OPTIONS" }
