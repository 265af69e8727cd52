package rfc9111

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// MayStore reports whether a shared cache may store the response to a GET (RFC 9111, section 3), and has a use for it,
// be it after validation. Partial responses (206) and answers to one request's range or precondition (416, 412) are not
// stored, though the standard permits it: the next request has others. Responses that set cookies are stored only if
// cookies are shared, since the next client would get the same cookies.
func MayStore(q http.Header, r Response, sharesCookies bool) bool {
	directives, _ := directivesOf(r.Header)
	_, isPrivate := directives.fields("private")
	isUnderstood := slices.Contains(understood, r.Status)
	forbids := directives.has("no-store") && !(directives.has("must-understand") && isUnderstood)
	switch {
	case RequestDirectives(q).NoStore(), forbids, isPrivate, directives.has("must-understand") && !isUnderstood:
		return false
	case r.Status < 200, slices.Contains(ofOneRequest, r.Status):
		return false
	case len(r.Header["Set-Cookie"]) > 0 && !sharesCookies:
		return false
	case slices.Contains(Selecting(r.Header), "*"), !mayShare(q, directives):
		return false
	}
	p := PolicyOf(r)
	states := directives.has("s-maxage") || directives.has("max-age") || len(r.Header["Expires"]) > 0
	if !states && !directives.has("public") && !slices.Contains(heuristic, r.Status) {
		return false
	}
	return p.Lifetime > p.Age || p.WhileRevalidate > 0 || HasValidator(r.Header) || states && p.IfError > 0
}

var ofOneRequest = []int{
	http.StatusPartialContent, http.StatusNotModified, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable,
}

// credentials are words in the names of fields that identify the client.
var credentials = []string{
	"account", "apikey", "auth", "authentication", "authorization", "client", "cookie", "credential", "credentials", "jwt",
	"key", "password", "secret", "session", "sid", "signature", "token", "user",
}

// mayShare reports whether a response may answer other clients although its request had credentials (RFC 9111, section
// 3.5). The standard covers only Authorization; for other fields must-revalidate is not enough.
func mayShare(q http.Header, directives Directives) bool {
	if directives.has("public") || directives.has("s-maxage") {
		return true
	}
	for name := range q {
		if isCredential(name) && !(name == "Authorization" && directives.has("must-revalidate")) {
			return false
		}
	}
	return true
}

// isCredential reports whether a request field identifies the client. Those of browsers (Sec-) do not.
func isCredential(name string) bool {
	if name == "User-Agent" || strings.HasPrefix(name, "Sec-") {
		return false
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(name), "-"), func(word string) bool {
		return slices.Contains(credentials, word)
	})
}

// HasValidator reports whether a stored response can be validated.
func HasValidator(header http.Header) bool {
	return len(header["Etag"]) > 0 || len(header["Last-Modified"]) > 0
}

// hopByHop are the fields of a single connection (RFC 9110, section 7.6.1), and those for the next proxy only.
var hopByHop = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Transfer-Encoding", "Upgrade", "Trailer",
	"Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
}

// DropHopByHop removes hop-by-hop fields from a header, including those that Connection lists.
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

// MayTrail reports whether a field may follow a body (RFC 9110, section 6.5.1).
func MayTrail(name string) bool {
	return !slices.Contains(hopByHop, name) && httpguts.ValidTrailerHeader(name)
}

// Stored returns the fields of a response that may be stored (RFC 9111, section 3.1).
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

// Invalidated returns the resources that the response to an unsafe request invalidates besides the requested one: those
// of Location and Content-Location that have the same origin (RFC 9111, section 4.4).
func Invalidated(target *url.URL, response http.Header) (all []*url.URL) {
	for _, name := range []string{"Location", "Content-Location"} {
		lines := response[name]
		if len(lines) == 0 {
			continue
		}
		if at, err := target.Parse(lines[0]); err == nil && at.Scheme == target.Scheme && at.Host == target.Host {
			all = append(all, at)
		}
	}
	return all
}
