package proxy

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
)

// Purge drops the cached answers about any of the orders and chains, and those at paths with their queries. A path at
// which no answer is ever cached is an error; nothing is dropped then.
func (s *Server) Purge(how cache.Purge, orders []order.ID, chains []chain.ID, paths []string) error {
	var keys []cache.Key
	for _, id := range orders {
		keys = append(keys, OrderTag(id))
	}
	for _, id := range chains {
		keys = append(keys, chainTag(id))
	}
	for _, path := range paths {
		key, cached := s.keyAt(path)
		if !cached {
			return fmt.Errorf("path must be that of a cached answer, with its query")
		}
		keys = append(keys, key)
	}
	s.answers.Purge(how, keys...)
	return nil
}

// keyProbe receives the cache key of a request that is routed without being answered.
type keyProbe struct {
	key   cache.Key
	found bool
}

type keyProbeContext struct{}

// keyAt is the cache key of what a client gets at a path with its query.
func (s *Server) keyAt(text string) (key cache.Key, found bool) {
	at, err := url.ParseRequestURI(text)
	if err != nil || len(text) > longestURL {
		return cache.Key{}, false
	}
	probe := &keyProbe{}
	ctx := context.WithValue(context.Background(), keyProbeContext{}, probe)
	r := &http.Request{Method: http.MethodGet, URL: at, Header: http.Header{}}
	s.router.paths.canonical(s.router.keys).ServeHTTP(discard{}, r.WithContext(ctx))
	return probe.key, probe.found
}

// discard is the http.ResponseWriter of a request that is only probed for its key.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// probeKey is the handler of a route that finds the key of a request.
func (r Route[Q]) probeKey(c *gin.Context) {
	question, err := r.Parse(c)
	if probe, isProbe := c.Request.Context().Value(keyProbeContext{}).(*keyProbe); isProbe && err == nil {
		probe.key, probe.found = r.Key(r.Paths[0], question), true
	}
}
