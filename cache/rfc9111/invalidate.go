package rfc9111

import (
	"net/http"
	"net/url"
)

// Invalidated returns the further resources that the response to an unsafe request declares out of date, beside the one
// that was asked: those of Location and Content-Location that have the same origin (RFC 9111, section 4.4).
func Invalidated(target *url.URL, response http.Header) []*url.URL {
	var all []*url.URL
	for _, name := range []string{"Location", "Content-Location"} {
		if at, is := sameOrigin(target, response[name]); is {
			all = append(all, at)
		}
	}
	return all
}

// sameOrigin resolves a reference, and reports whether it leads to the origin of target.
func sameOrigin(target *url.URL, lines []string) (*url.URL, bool) {
	if len(lines) == 0 {
		return nil, false
	}
	at, err := target.Parse(lines[0])
	if err != nil || at.Scheme != target.Scheme || at.Host != target.Host {
		return nil, false
	}
	return at, true
}
