package rfc9111

import (
	"net/http"
	"slices"
	"time"
)

// Response is a response as received, with the times of its exchange.
type Response struct {
	Status    int
	Header    http.Header
	Requested time.Time
	Received  time.Time
}

// Choices that the standard leaves to caches.
const (
	staleIfError     = time.Hour      // of stale answers while the origin fails, unless forbidden
	longestHeuristic = 24 * time.Hour // longest lifetime of a response that does not state one
)

// Policy is what a stored response says about its use.
type Policy struct {
	Lifetime time.Duration // freshness lifetime, from its creation at the origin
	Age      time.Duration // when received
	// NoCache requires validation before each use.
	NoCache bool
	// Strict forbids any use once it is stale (must-revalidate and the like).
	Strict          bool
	WhileRevalidate time.Duration // after Lifetime
	IfError         time.Duration // after Lifetime
	Immutable       bool
	received        time.Time
}

// heuristic statuses permit a lifetime that the response does not state (RFC 9110, section 15.1).
var heuristic = []int{200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501}

// understood statuses are those whose caching semantics are known (RFC 9110, section 15; RFC 9111, section 5.2.2.3).
var understood = []int{
	200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412,
	413, 414, 415, 416, 417, 421, 422, 426, 429, 500, 501, 502, 503, 504, 505,
}

// PolicyOf returns the policy of a response.
func PolicyOf(r Response) Policy {
	directives, isTargeted := directivesOf(r.Header)
	p := Policy{Age: ageOf(r), received: r.Received, Immutable: directives.has("immutable")}
	p.Lifetime = lifetimeOf(r, directives, isTargeted)
	_, p.NoCache = directives.fields("no-cache")
	p.Strict = directives.has("must-revalidate") || directives.has("proxy-revalidate") || directives.has("s-maxage") || p.NoCache
	p.IfError = staleIfError
	if window, given := directives.span("stale-if-error"); given {
		p.IfError = window
	}
	p.WhileRevalidate, _ = directives.span("stale-while-revalidate")
	if p.Strict {
		p.IfError, p.WhileRevalidate = 0, 0
	}
	return p
}

// ageOf returns the age of a response when it was received (RFC 9111, section 4.2.3), at most longest.
func ageOf(r Response) time.Duration {
	var apparent, stated time.Duration
	if date, known := dateOf(r.Header, "Date"); known {
		apparent = max(0, r.Received.Sub(date))
	}
	for first := range members(r.Header["Age"]) { // the first counts (RFC 9111, section 5.1)
		stated, _ = deltaSeconds(first)
		break
	}
	return min(max(apparent, stated+r.Received.Sub(r.Requested)), longest)
}

// lifetimeOf returns how long a response is fresh (RFC 9111, section 4.2.1).
func lifetimeOf(r Response, directives Directives, isTargeted bool) time.Duration {
	for _, name := range []string{"s-maxage", "max-age"} {
		if span, given := directives.span(name); given {
			return span
		}
	}
	if _, given := r.Header["Expires"]; given && !isTargeted {
		expires, known := dateOf(r.Header, "Expires")
		if !known {
			return 0
		}
		date, dated := dateOf(r.Header, "Date")
		if !dated {
			date = r.Received
		}
		return min(max(0, expires.Sub(date)), longest)
	}
	modified, known := dateOf(r.Header, "Last-Modified")
	if !known || !slices.Contains(heuristic, r.Status) && !directives.has("public") {
		return 0
	}
	date, dated := dateOf(r.Header, "Date")
	if !dated {
		date = r.Received
	}
	const share = 10 // 1/share of the time since it changed (RFC 9111, section 4.2.2)
	return min(max(0, date.Sub(modified)/share), longestHeuristic)
}

// AgeAt returns the age at a time (RFC 9111, section 4.2.3).
func (p Policy) AgeAt(now time.Time) time.Duration { return p.Age + max(0, now.Sub(p.received)) }

// FreshFor returns how long the response remains fresh; if negative, how long it has been stale.
func (p Policy) FreshFor(now time.Time) time.Duration { return p.Lifetime - p.AgeAt(now) }
