// Package shadow compares answers of this gateway with those of the origin that it is to replace. A share of the
// requests for documented paths is also sent to the origin, after the client has its answer, and the two answers are
// compared member by member. What differs is classed (Class), counted, and kept as an example in a bounded table.
//
// Members are compared as what they are (members.go): the state of an order can be late and not wrong, what depends on
// prices is equal within a tolerance, and words for people are not compared. The class of an answer is that of its
// gravest difference.
//
// Nothing here can delay or change an answer: a request is taken when there is room for it, and dropped otherwise. Of a
// client's request the origin gets method, path, query without an access token, and body; nothing else that it sent.
package shadow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"crossgate/upstream"
)

// Origins are what answers are compared with. It fulfils upstream.Pool.Forward for the pool of a host.
type Origins interface {
	Forward(ctx context.Context, host string, f upstream.Forward) (*http.Response, error)
}

// Path says which origin answers for paths that begin with a prefix.
type Path struct {
	Prefix string
	Host   string
}

// Settings say what is compared.
type Settings struct {
	Share      float64 // of requests, from 0 to 1
	PerSecond  float64 // most requests to origins
	Concurrent int     // most of them under way at once
	Tolerance  float64 // by which quantities may differ, a share
	Paths      []Path  // the longest prefix counts; what has none is not compared
}

// active are settings in use.
type active struct {
	Settings
	budget *rate.Limiter
}

// Options configure a Shadow.
type Options struct {
	Origins Origins
	Logger  *slog.Logger
}

// Shadow compares. Close it when it is no longer used. A nil Shadow takes nothing.
type Shadow struct {
	options  Options
	settings atomic.Pointer[active]
	tally    tally
	table    table

	mu       sync.Mutex
	underway int
	isClosed bool
	works    sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc
}

// Limits of a request to an origin.
const (
	timeLimit  = 15 * time.Second
	longest    = 4 << 20 // bytes of an answer that is read
	userAgent  = "crossgate-shadow"
	onlyPlain  = "identity"
	jsonAccept = "application/json"
)

// New returns a shadow that takes nothing until it is configured.
func New(o Options) *Shadow {
	s := &Shadow{options: o}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.settings.Store(&active{})
	return s
}

// Configure replaces the settings. Comparisons under way go on by those that they began with.
func (s *Shadow) Configure(settings Settings) {
	burst := max(1, int(settings.PerSecond))
	s.settings.Store(&active{settings, rate.NewLimiter(rate.Limit(settings.PerSecond), burst)})
}

// Close ends comparisons under way and waits for them.
func (s *Shadow) Close() {
	s.mu.Lock()
	s.isClosed = true
	s.mu.Unlock()
	s.stop()
	s.works.Wait()
}

// Wait returns when no comparison is under way.
func (s *Shadow) Wait() { s.works.Wait() }

// Request is one that a client has sent.
type Request struct {
	Method   string
	Path     string // escaped
	RawQuery string
	Body     []byte
}

// Take decides by chance whether a request for a path, of a route, is to be compared. It allocates nothing.
func (s *Shadow) Take(route, path string) bool {
	if s == nil {
		return false
	}
	now := s.settings.Load()
	return now.Share > 0 && rand.Float64() < now.Share && compares(route) && now.hostOf(path) != ""
}

// hostOf is whose a path is; empty: nobody's.
func (a *active) hostOf(path string) string {
	longest, host := -1, ""
	for _, each := range a.Paths {
		if len(each.Prefix) > longest && strings.HasPrefix(path, each.Prefix) {
			longest, host = len(each.Prefix), each.Host
		}
	}
	return host
}

// Compare asks the origin what a client has asked, and compares its answer with the one that the client has got, in the
// background. Where there is no room for it now, the request is dropped.
func (s *Shadow) Compare(route string, r Request, answered Response) {
	now := s.settings.Load()
	if !s.enter(now) {
		s.tally.add(route, dropped)
		return
	}
	go func() {
		defer s.leave()
		defer func() {
			if panicked := recover(); panicked != nil {
				s.options.Logger.Error("comparison panicked", "route", route, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
				s.tally.add(route, failed)
			}
		}()
		s.compare(now, route, r, answered)
	}()
}

// enter takes one of the places, and of the budget.
func (s *Shadow) enter(now *active) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed || s.underway >= now.Concurrent || !now.budget.Allow() {
		return false
	}
	s.underway++
	s.works.Add(1)
	return true
}

func (s *Shadow) leave() {
	s.mu.Lock()
	s.underway--
	s.mu.Unlock()
	s.works.Done()
}

func (s *Shadow) compare(now *active, route string, r Request, our Response) {
	ctx, cancel := context.WithTimeout(s.ctx, timeLimit)
	defer cancel()
	r.RawQuery = withoutToken(r.RawQuery)
	found, err := s.ask(ctx, now.hostOf(r.Path), now.Tolerance, route, r, our)
	if err != nil {
		s.tally.add(route, failed)
		s.options.Logger.DebugContext(ctx, "answer of origin not compared", "route", route, "error", err)
		return
	}
	target, at := r.Path, time.Now()
	if r.RawQuery != "" {
		target += "?" + r.RawQuery
	}
	for _, d := range found {
		s.table.add(route, target, d, at)
		s.tally.addMember(route, d.Class)
	}
	s.tally.add(route, disposition(gravest(found)))
}

// Ask has an origin answer a request at once, and compares its answer with ours. It is not counted.
func (s *Shadow) Ask(ctx context.Context, host, route string, r Request, our Response) ([]Difference, error) {
	return s.ask(ctx, host, s.settings.Load().Tolerance, route, r, our)
}

func (s *Shadow) ask(
	ctx context.Context, host string, tolerance float64, route string, r Request, our Response,
) ([]Difference, error) {
	f := upstream.Forward{
		Method: r.Method, Path: r.Path, RawQuery: r.RawQuery,
		Header: http.Header{"Accept": {jsonAccept}, "Accept-Encoding": {onlyPlain}, "User-Agent": {userAgent}},
	}
	if len(r.Body) > 0 {
		f.Body, f.ContentLength = bytes.NewReader(r.Body), int64(len(r.Body))
		f.Header["Content-Type"] = []string{jsonAccept}
	}
	response, err := s.options.Origins.Forward(ctx, host, f)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(io.LimitReader(response.Body, longest+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read answer of origin: %w", err)
	case len(body) > longest:
		return nil, errTooLong
	}
	return Compare(route, our, Response{response.StatusCode, string(body)}, tolerance)
}

var errTooLong = errors.New("answer of origin is too long to be compared")

// withoutToken is a query without the key of this gateway's client.
func withoutToken(query string) string {
	if !strings.Contains(query, "=") {
		return query
	}
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(name); err == nil && !strings.EqualFold(decoded, "accesstoken") {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}
