package proxy

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// router finds a request's handler and cost. Everything is mounted before the first request.
type router struct {
	engine  *gin.Engine       // for paths in their documented spelling
	paths   paths             // of the API
	costs   map[string]int    // in units of a quota, by path pattern
	allowed map[string]string // Allow of paths without GET
}

// newRouter mounts the server's own paths behind its middleware.
func newRouter(s *Server) *router {
	gin.SetMode(gin.ReleaseMode)
	to := &router{engine: gin.New(), costs: map[string]int{}, allowed: map[string]string{}}
	to.engine.HandleMethodNotAllowed = true
	to.engine.RedirectTrailingSlash = false // paths.canonical does that without a second request
	s.mountHealth(to.engine)
	to.engine.Use(s.observe, s.recoverPanic, allowOrigins, s.limitURL, s.limitClients)
	to.engine.NoRoute(s.unrouted)
	to.engine.NoMethod(s.methodNotAllowed)
	return to
}

func (to *router) handler() http.Handler {
	// Of a stream its continuation is called when the handlers have returned.
	next := to.paths.canonical(to.engine)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !WantsStream(r) {
			next.ServeHTTP(w, r)
			return
		}
		rest := func() {}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), restKey{}, &rest)))
		rest()
	})
}

// Mount adds the route to the API.
func (r Route[Q]) Mount(s *Server) {
	to := s.router
	handler := r.handler(s)
	methods := r.Methods
	if methods == nil {
		methods = []string{http.MethodGet, http.MethodHead}
	}
	for _, path := range r.Paths {
		for _, method := range methods {
			to.engine.Handle(method, path, handler)
		}
		to.engine.OPTIONS(path, preflight(methods))
		if !slices.Contains(methods, http.MethodGet) {
			to.allowed[path] = allow(methods)
			to.engine.GET(path, s.methodNotAllowed) // instead of matching the pattern of an order's id
			to.engine.HEAD(path, s.methodNotAllowed)
		}
		to.costs[path] = r.Cost
	}
	to.paths = append(to.paths, r.Paths...)
}

// MountPage adds a page that costs a number of units of a client's quota.
func (s *Server) MountPage(path string, cost int, page gin.HandlerFunc) {
	to := s.router
	to.engine.GET(path, page)
	to.engine.HEAD(path, page)
	to.costs[path] = cost
}

// MountForm adds the target of a page's POST requests, which costs a number of units of a client's quota.
func (s *Server) MountForm(path string, cost int, form gin.HandlerFunc) {
	s.router.engine.POST(path, form)
	s.router.costs[path] = cost
}

// MountHandler adds a handler of one method and path that is not part of the API.
func (s *Server) MountHandler(method, path string, handler http.Handler) {
	to := s.router
	to.engine.Handle(method, path, func(c *gin.Context) {
		// If paths are passed through, the transport bounds only the bodies of the API's.
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, bodyBytes)
		handler.ServeHTTP(c.Writer, c.Request)
	})
	to.engine.OPTIONS(path, preflight([]string{method}))
}

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

func allow(methods []string) string { return strings.Join(methods, ", ") + ", OPTIONS" }

// paths are the patterns of the routes. A segment that begins with a colon matches any one segment.
type paths []string

// canonical passes requests to next under the documented spelling of their path. The frameworks behind the original
// APIs (ASP.NET Core, Express) ignore case and a trailing slash, and clients rely on that. An empty path, as in
// http://host, is that of the root (RFC 9110, section 4.2.3).
func (p paths) canonical(next http.Handler) http.Handler {
	// Literal patterns take precedence over patterns with parameters.
	var ordered paths = slices.SortedStableFunc(slices.Values(p), func(a, b string) int {
		return strings.Count(a, ":") - strings.Count(b, ":")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, is := ordered.spell(r.URL.Path)
		if r.URL.Path == "" {
			path, is = "/", true
		}
		if is {
			r = withPath(r, path)
		}
		next.ServeHTTP(w, r)
	})
}

// has reports whether a path matches one of the patterns, in any spelling.
func (p paths) has(path string) bool {
	_, is := p.spell(path)
	return is
}

// spell returns a path in the spelling of the first pattern that it matches. Slashes are doubled where clients join a
// base URL with one at its end and a path.
func (p paths) spell(path string) (spelled string, is bool) {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	path = strings.TrimSuffix(path, "/")
	for i := 0; !is && i < len(p); i++ {
		spelled, is = spell(path, p[i])
	}
	return spelled, is
}

// spell returns path in the pattern's spelling, if it matches. A path already spelt that way costs no allocation.
func spell(path, pattern string) (spelled string, fits bool) {
	if !strings.Contains(pattern, ":") {
		return pattern, strings.EqualFold(path, pattern)
	}
	isSpelt, given, wanted := true, path, pattern
	for more := true; more; {
		var segment, want string
		var hasMore bool
		segment, given, more = strings.Cut(given, "/")
		want, wanted, hasMore = strings.Cut(wanted, "/")
		isAny := strings.HasPrefix(want, ":")
		if more != hasMore || !isAny && !strings.EqualFold(segment, want) {
			return "", false
		}
		isSpelt = isSpelt && (isAny || segment == want)
	}
	if isSpelt {
		return path, true
	}
	segments := strings.Split(path, "/")
	for i, want := range strings.Split(pattern, "/") {
		if !strings.HasPrefix(want, ":") {
			segments[i] = want
		}
	}
	return strings.Join(segments, "/"), true
}

func withPath(r *http.Request, path string) *http.Request {
	if path == r.URL.Path {
		return r
	}
	changed, url := *r, *r.URL
	url.Path, url.RawPath = path, ""
	changed.URL = &url
	return &changed
}
