package proxy

import (
	"net/http"
	"slices"
	"strings"
)

// paths are the patterns of the routes; a segment that begins with a colon stands for any one segment.
type paths []string

// canonical hands requests to next under the documented spelling of their path. The frameworks behind the original
// APIs (ASP.NET Core, Express) ignore case and a trailing slash, and clients use both.
func (p paths) canonical(next http.Handler) http.Handler {
	spelled, fixed := p.ends(), p.fixed()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, is := fixed.spell(r.URL.Path); is {
			next.ServeHTTP(w, withPath(r, path))
			return
		}
		if !slices.ContainsFunc(spelled, func(e ends) bool { return e.fit(r.URL.Path) }) {
			for _, pattern := range p {
				if path, fits := spell(r.URL.Path, pattern); fits {
					r = withPath(r, path)
					break
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// has reports whether a path is one of the patterns, in any spelling.
func (p paths) has(path string) bool {
	return slices.ContainsFunc(p, func(pattern string) bool {
		_, fits := spell(path, pattern)
		return fits
	})
}

// fixed are the patterns without a parameter, which come before those that they would fit.
func (p paths) fixed() paths {
	return slices.DeleteFunc(slices.Clone(p), func(pattern string) bool { return strings.Contains(pattern, ":") })
}

func (p paths) spell(path string) (spelled string, is bool) {
	at := slices.IndexFunc(p, func(each string) bool { return strings.EqualFold(each, strings.TrimSuffix(path, "/")) })
	if at < 0 {
		return "", false
	}
	return p[at], true
}

// ends are a pattern's parts before and after its parameter, for a cheap check of paths that are spelt as documented.
type ends struct{ before, after string }

func (p paths) ends() []ends {
	var all []ends
	for _, pattern := range p {
		before, parameter, _ := strings.Cut(pattern, ":")
		_, after, more := strings.Cut(parameter, "/")
		if more {
			after = "/" + after
		}
		all = append(all, ends{before, after})
	}
	return all
}

func (e ends) fit(path string) bool {
	return len(path) > len(e.before)+len(e.after) && strings.HasPrefix(path, e.before) && strings.HasSuffix(path, e.after) &&
		strings.IndexByte(path[len(e.before):len(path)-len(e.after)], '/') < 0
}

// spell returns path as pattern spells it, if path fits pattern.
func spell(path, pattern string) (spelled string, fits bool) {
	path = strings.TrimSuffix(path, "/")
	if strings.Count(path, "/") != strings.Count(pattern, "/") {
		return "", false
	}
	segments := strings.Split(path, "/")
	for i, want := range strings.Split(pattern, "/") {
		switch {
		case strings.HasPrefix(want, ":"):
		case strings.EqualFold(segments[i], want):
			segments[i] = want
		default:
			return "", false
		}
	}
	return strings.Join(segments, "/"), true
}

// withPath is r with another path.
func withPath(r *http.Request, path string) *http.Request {
	if path == r.URL.Path {
		return r
	}
	changed, url := *r, *r.URL
	url.Path, url.RawPath = path, ""
	changed.URL = &url
	return &changed
}
