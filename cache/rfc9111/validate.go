package rfc9111

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Conditions are the fields that make a request conditional (RFC 9110, section 13.1).
var Conditions = []string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"}

// HasConditions reports whether a request has preconditions for the origin (RFC 9110, section 13.2.1).
func HasConditions(q http.Header) bool {
	return len(q["If-Match"]) > 0 || len(q["If-Unmodified-Since"]) > 0
}

// SetConditions turns a request into a validation of a stored response (RFC 9111, section 4.3.1).
func SetConditions(q, stored http.Header) {
	for _, name := range Conditions {
		delete(q, name)
	}
	if tag := stored["Etag"]; len(tag) > 0 {
		q["If-None-Match"] = tag[:1]
	}
	if modified := stored["Last-Modified"]; len(modified) > 0 {
		q["If-Modified-Since"] = modified[:1]
	}
}

// Updates reports whether a 304 has the tag of a stored response, or none (RFC 9111, section 4.3.4).
func Updates(notModified, stored http.Header) bool {
	tag := notModified["Etag"]
	return len(tag) == 0 || len(stored["Etag"]) > 0 && weakly(tag[0]) == weakly(stored["Etag"][0])
}

// ofContent are the fields of a stored response that a 304 does not change: they describe the stored bytes.
var ofContent = []string{"Content-Encoding", "Content-Length", "Content-Range"}

// Merge returns the fields of a stored response after a 304 (RFC 9111, section 3.2).
func Merge(stored, newer http.Header) http.Header {
	merged, fields := stored.Clone(), Stored(newer)
	for name, lines := range fields {
		if !slices.Contains(ofContent, name) {
			merged[name] = lines
		}
	}
	return merged
}

// NotModified reports whether a request has a precondition that a stored response does not meet, so that the answer is
// 304 (RFC 9111, section 4.3.2). If-None-Match takes precedence.
func NotModified(q http.Header, status int, stored http.Header, received time.Time) bool {
	if status != http.StatusOK && status != http.StatusNoContent {
		return false
	}
	if given := q["If-None-Match"]; len(given) > 0 {
		tag := stored["Etag"]
		for member := range members(given) {
			if member == "*" || len(tag) > 0 && weakly(member) == weakly(tag[0]) {
				return true
			}
		}
		return false
	}
	since, known := dateOf(q, "If-Modified-Since")
	if !known {
		return false
	}
	modified, known := dateOf(stored, "Last-Modified")
	if !known {
		if modified, known = dateOf(stored, "Date"); !known {
			modified = received
		}
	}
	return !modified.After(since)
}

// weakly returns a tag for weak comparison (RFC 9110, section 8.8.3.2).
func weakly(tag string) string { return strings.TrimPrefix(tag, "W/") }
