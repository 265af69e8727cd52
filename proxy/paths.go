package proxy

import (
	"net/http"
	"slices"
	"strings"
)

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
