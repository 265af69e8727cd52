package proxy

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
)

// guarded lets only those in who have the operators' token, and no page of another origin in an operator's
// browser. Without a token nobody is let in.
func (s *Server) guarded(next http.HandlerFunc) http.Handler {
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, wanted := []byte(r.Header.Get("Authorization")), []byte("Bearer "+s.options.AdminToken)
		if s.options.AdminToken == "" || subtle.ConstantTimeCompare(given, wanted) != 1 {
			writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "want the token of telemetry.token as a bearer"})
			return
		}
		next(w, r)
	}))
}

// purge declares kept answers out of date: those about an order or a chain, or the one at a path. Such an answer
// is made anew when it is next asked for; until that is done, a soft purge lets it be served as a stale one.
func (s *Server) purge(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	how, known := map[string]cache.Purge{"": cache.Soft, "soft": cache.Soft, "hard": cache.Hard}[query.Get("how")]
	if !known {
		declinePurge(w, "how must be soft or hard")
		return
	}
	var keys []cache.Key
	for _, text := range query["order"] {
		id, err := chain.ParseHash(text)
		if err != nil {
			declinePurge(w, "order must be 0x and 64 hex digits")
			return
		}
		keys = append(keys, orderTag(id))
	}
	for _, text := range query["chain"] {
		id, err := chain.ParseID(text)
		if err != nil {
			declinePurge(w, "chain must be a chain's id")
			return
		}
		keys = append(keys, chainTag(id))
	}
	for _, text := range query["path"] {
		key, found := s.keyAt(text)
		if !found {
			declinePurge(w, "path must be that of an answer that is kept, with its query")
			return
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		declinePurge(w, "want an order, a chain or a path")
		return
	}
	s.answers.Purge(how, keys...)
	writeJSON(w, http.StatusOK, map[string]int{"purged": len(keys)})
}

func declinePurge(w http.ResponseWriter, reason string) {
	writeJSON(w, http.StatusBadRequest, map[string]string{"error": reason})
}

// finder gets the key that a route finds for a request.
type finder struct {
	key   cache.Key
	found bool
}

type finderOf struct{}

// keyAt is the key of what a client gets at a path with its query.
func (s *Server) keyAt(text string) (key cache.Key, found bool) {
	at, err := url.ParseRequestURI(text)
	if err != nil || len(text) > longestURL {
		return cache.Key{}, false
	}
	f := &finder{}
	ctx := context.WithValue(context.Background(), finderOf{}, f)
	s.finding.ServeHTTP(nowhere{}, (&http.Request{Method: http.MethodGet, URL: at, Header: http.Header{}}).WithContext(ctx))
	return f.key, f.found
}

// nowhere takes the answer to a question about keys, which is in the finder.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}

// find is the handler of a route that tells the key of a request.
func (r route[Q]) find(c *gin.Context) {
	question, err := r.parse(c)
	if f, finds := c.Request.Context().Value(finderOf{}).(*finder); finds && err == nil {
		f.key, f.found = r.key(r.paths[0], question), true
	}
}
