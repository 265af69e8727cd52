package rfc9111

import (
	"net/http"
	"slices"
	"strings"
)

// MayStore reports whether the response to a request may be stored by a shared cache (RFC 9111, section 3), and is
// worth it: it can be used again, be it after validation.
func MayStore(q Request, r Response, o Options) bool {
	directives, _ := directivesOf(r.Header)
	wants := parseDirectives(q.Header["Cache-Control"])
	_, isPrivate := directives.fields("private")
	isUnderstood := slices.Contains(understood, r.Status)
	forbids := directives.has("no-store") && !(directives.has("must-understand") && isUnderstood)
	switch {
	case wants.has("no-store"), forbids, isPrivate, directives.has("must-understand") && !isUnderstood:
		return false
	case r.Status < 200, r.Status == http.StatusNotModified, r.Status == http.StatusSwitchingProtocols:
		return false
	case r.Status == http.StatusPartialContent && q.Method != http.MethodGet:
		return false
	case len(r.Header["Set-Cookie"]) > 0 && !o.SetCookie:
		return false
	case variesByAll(r.Header["Vary"]):
		return false
	case !mayShare(q, directives):
		return false
	}
	switch q.Method {
	case http.MethodGet:
	case http.MethodPost:
		_, isFresh := explicit(r, directives)
		if !isFresh || r.Status != http.StatusOK || len(r.Header["Content-Location"]) == 0 {
			return false
		}
	default:
		return false
	}
	p := PolicyOf(r, o)
	states, _ := explicit(r, directives)
	if !states && !directives.has("public") && !slices.Contains(heuristic, r.Status) {
		return false
	}
	return p.Lifetime > p.Age || p.WhileRevalidate > 0 || HasValidator(r.Header) || states && p.IfError > 0
}

// explicit reports whether a response states a lifetime, and whether that is longer than nothing.
func explicit(r Response, directives Directives) (states, isFresh bool) {
	for _, name := range []string{"s-maxage", "max-age"} {
		if span, given := directives.span(name); given {
			return true, span > 0
		}
	}
	if expires := r.Header["Expires"]; len(expires) > 0 {
		at, known := parseDate(expires[0], r.Received)
		return true, known && at.After(r.Received)
	}
	return false, false
}

// mayShare reports whether a response to a request with credentials may answer others (RFC 9111, section 3.5). Of the
// fields beside Authorization the standard says nothing: there must-revalidate is not enough.
func mayShare(q Request, directives Directives) bool {
	isPublic := directives.has("public") || directives.has("s-maxage")
	if len(q.Header["Authorization"]) > 0 && !isPublic && !directives.has("must-revalidate") {
		return false
	}
	for _, name := range q.Credentials {
		if len(q.Header[name]) > 0 && !isPublic {
			return false
		}
	}
	return true
}

// HasValidator reports whether a stored response can be validated.
func HasValidator(header http.Header) bool {
	return len(header["Etag"]) > 0 || len(header["Last-Modified"]) > 0
}

// hopByHop are the fields of one connection, not of the message (RFC 9110, section 7.6.1; the last ones are for the
// next proxy only).
var hopByHop = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Transfer-Encoding", "Upgrade", "Trailer",
	"Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
}

// DropHopByHop takes the fields of one connection out of a header, those that Connection names included.
func DropHopByHop(header http.Header) {
	for _, line := range header["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			delete(header, http.CanonicalHeaderKey(strings.Trim(name, " \t")))
		}
	}
	for _, name := range hopByHop {
		delete(header, name)
	}
}

// Stored returns the fields of a response that are stored: without those that it keeps from caches by name
// (RFC 9111, section 3.1).
func Stored(header http.Header) http.Header {
	stored := header.Clone()
	DropHopByHop(stored)
	directives, _ := directivesOf(header)
	for _, name := range []string{"no-cache", "private"} {
		fields, _ := directives.fields(name)
		for _, each := range fields {
			delete(stored, each)
		}
	}
	delete(stored, "Age")
	return stored
}
