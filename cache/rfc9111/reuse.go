package rfc9111

import (
	"net/http"
	"slices"
	"time"
)

// Use is how to use a stored response that matches a request.
type Use uint8

// The uses.
const (
	Validate             Use = iota // ask the origin whether it is still valid
	Serve                           // serve it as is
	ServeWhileValidating            // serve it stale, and validate it meanwhile
)

// UseOf decides how a stored response may answer a request now (RFC 9111, section 4). ended means that an operator or
// an unsafe request has invalidated it.
func UseOf(q http.Header, p Policy, ended bool, now time.Time) Use {
	wants := RequestDirectives(q)
	if p.NoCache || ended && p.Strict || wants.has("no-cache") {
		return Validate
	}
	age, left := p.AgeAt(now), p.FreshFor(now)
	if most, given := wants.span("max-age"); given && age > most && !(p.Immutable && left > 0) {
		return Validate
	}
	switch {
	case ended:
		if p.WhileRevalidate > 0 {
			return ServeWhileValidating
		}
		return Validate
	case left > 0:
		return Serve
	case p.Strict:
		return Validate
	}
	if -left < p.WhileRevalidate {
		return ServeWhileValidating
	}
	return Validate
}

// MayServeOnError reports whether a stored response may answer if the origin fails (RFC 5861, section 4).
func MayServeOnError(q http.Header, p Policy, now time.Time) bool {
	wants := RequestDirectives(q)
	if p.Strict || wants.has("no-cache") {
		return false
	}
	return -p.FreshFor(now) < p.IfError
}

// IsFailure reports whether a status is a failure that a stale response may replace (RFC 5861, section 4).
func IsFailure(status int) bool {
	return status >= http.StatusInternalServerError && status <= http.StatusGatewayTimeout && status != http.StatusNotImplemented
}

// RequestDirectives returns a request's directives, or Pragma's if it has no Cache-Control (RFC 9111, section 5.4).
func RequestDirectives(header http.Header) Directives {
	if lines := header["Cache-Control"]; len(lines) > 0 {
		return parseDirectives(lines)
	}
	for member := range members(header["Pragma"]) {
		if member == "no-cache" {
			return Directives{"no-cache": ""}
		}
	}
	return nil
}

// OnlyIfCached reports whether a request must not be forwarded (RFC 9111, section 5.2.1.7).
func (d Directives) OnlyIfCached() bool { return d.has("only-if-cached") }

// NoStore reports whether the exchange must neither be stored nor use anything stored.
func (d Directives) NoStore() bool { return d.has("no-store") }

// safe are the methods without side effects at the origin (RFC 9110, section 9.2.1).
var safe = []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace}

// Invalidates reports whether the response to an unsafe request invalidates stored ones (RFC 9111, section 4.4).
func Invalidates(method string, status int) bool {
	return !slices.Contains(safe, method) && status >= http.StatusOK && status < http.StatusBadRequest
}
