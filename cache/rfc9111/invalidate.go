package rfc9111

import (
	"net/http"
	"net/url"
)

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
