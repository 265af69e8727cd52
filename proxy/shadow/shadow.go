// Package shadow compares answers of this gateway with those of the origin that it is to replace. A share of the
// requests for documented paths is also sent to the origin after the client has its answer, and the two answers are
// compared member by member by their meaning (members.go): the state of an order may be late without being wrong,
// amounts that depend on prices are equal within a tolerance, and messages for people are not compared. Differences are
// classified (Class) and kept as examples in a bounded table; an answer is counted by its gravest difference.
//
// A request is dropped instead of compared if too many comparisons are in flight. The origin gets the method, path,
// query without access token, and body of a client's request, but none of its header.
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
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"crossgate/upstream"
)

// Origins forwards requests to the origins of hosts, as upstream.Pool.Forward does.
type Origins interface {
	Forward(ctx context.Context, host string, f upstream.Forward) (*http.Response, error)
}

// Settings select the requests to compare.
type Settings struct {
	Share float64           // of requests, from 0 to 1
	Paths map[string]string // origins by path prefix; the longest counts, and a path without one is not compared
}

// Shadow compares answers in the background. Close it after use.
type Shadow struct {
	origins  Origins
	log      *slog.Logger
	settings atomic.Pointer[Settings]
	tally    tally
	places   chan struct{} // semaphore of comparisons in flight
	ctx      context.Context
	stop     context.CancelFunc
}

// Limits of comparisons.
const (
	concurrent = 4 // comparisons at a time
	timeLimit  = 15 * time.Second
	longest    = 4 << 20 // maximum bytes of an answer
)

const jsonType = "application/json"

// New returns a shadow that compares nothing until it is configured.
func New(origins Origins, log *slog.Logger) *Shadow {
	s := &Shadow{origins: origins, log: log, places: make(chan struct{}, concurrent)}
	s.tally.answers, s.tally.examples = map[counted]uint64{}, map[exampleKey]*Example{}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.Configure(Settings{})
	return s
}

// Configure replaces the settings.
func (s *Shadow) Configure(settings Settings) { s.settings.Store(&settings) }

// Close cancels comparisons in flight and waits for them. Later ones are dropped.
func (s *Shadow) Close() {
	s.stop()
	s.fill()
}

// Wait returns once no comparison is in flight.
func (s *Shadow) Wait() {
	s.fill()
	for range concurrent {
		<-s.places
	}
}

func (s *Shadow) fill() {
	for range concurrent {
		s.places <- struct{}{}
	}
}

// Take decides at random whether to compare a request of a route for a path. It does not allocate.
func (s *Shadow) Take(route, path string) bool {
	now := s.settings.Load()
	return now.Share > 0 && rand.Float64() < now.Share && compared[route] != nil && now.hostOf(path) != ""
}

// hostOf returns the host that answers for a path, empty if none does.
func (a *Settings) hostOf(path string) string {
	longest, host := "", ""
	for prefix, each := range a.Paths {
		if len(prefix) > len(longest) && strings.HasPrefix(path, prefix) {
			longest, host = prefix, each
		}
	}
	return host
}

// Compare sends the method, path, query and body of a client's request to the origin, and compares the two answers, in
// the background.
func (s *Shadow) Compare(route string, r upstream.Forward, body []byte, answered Response) {
	select {
	case s.places <- struct{}{}:
	default:
		s.tally.add(route, dropped)
		return
	}
	go func() {
		defer func() { <-s.places }()
		defer func() {
			if panicked := recover(); panicked != nil {
				s.log.Error("comparison panicked", "route", route, "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
				s.tally.add(route, failed)
			}
		}()
		s.compare(route, r, body, answered)
	}()
}

func (s *Shadow) compare(route string, r upstream.Forward, body []byte, our Response) {
	ctx, cancel := context.WithTimeout(s.ctx, timeLimit)
	defer cancel()
	r.RawQuery = withoutToken(r.RawQuery)
	their, err := s.ask(ctx, r, body)
	var found []Difference
	if err == nil {
		found, err = Compare(route, our, their)
	}
	if err != nil {
		s.tally.add(route, failed)
		s.log.DebugContext(ctx, "answer of origin not compared", "route", route, "error", err)
		return
	}
	target, at := r.Path, time.Now()
	if r.RawQuery != "" {
		target += "?" + r.RawQuery
	}
	gravest := Same
	for _, d := range found {
		s.tally.addMember(route, target, d, at)
		gravest = max(gravest, d.Class)
	}
	s.tally.add(route, gravest.String())
}

func (s *Shadow) ask(ctx context.Context, r upstream.Forward, body []byte) (Response, error) {
	r.Header = http.Header{"Accept": {jsonType}, "Accept-Encoding": {"identity"}, "User-Agent": {"crossgate-shadow"}}
	if len(body) > 0 {
		r.Body, r.ContentLength = bytes.NewReader(body), int64(len(body))
		r.Header["Content-Type"] = []string{jsonType}
	}
	response, err := s.origins.Forward(ctx, s.settings.Load().hostOf(r.Path), r)
	if err != nil {
		return Response{}, err
	}
	defer response.Body.Close() //nolint:errcheck // already read
	body, err = io.ReadAll(io.LimitReader(response.Body, longest+1))
	switch {
	case err != nil:
		return Response{}, fmt.Errorf("read answer of origin: %w", err)
	case len(body) > longest:
		return Response{}, errors.New("answer of origin is too long to be compared")
	}
	return Response{response.StatusCode, string(body)}, nil
}

// withoutToken returns a query without the access token for this gateway.
func withoutToken(query string) string {
	parts := slices.DeleteFunc(strings.Split(query, "&"), func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		decoded, err := url.QueryUnescape(name)
		return err != nil || strings.EqualFold(decoded, "accesstoken")
	})
	return strings.Join(parts, "&")
}
