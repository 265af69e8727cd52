package rfc9111

import (
	"strconv"
	"time"
)

// Status is what a cache did with a request, as Cache-Status says (RFC 9211).
type Status struct {
	Hit       bool
	Forwarded string // why the request went on: uri-miss, vary-miss, stale, request, bypass, method, partial; empty: it did not
	Answered  int    // status of the origin's response; zero: there was none
	Stored    bool
	Collapsed bool
	TTL       time.Duration // of a hit: for how long it is fresh still; below zero: it is stale
	Detail    string        // a token; empty: none
}

// Append writes the member of Cache-Status for the cache of a name, a token.
func (s Status) Append(to []byte, name string) []byte {
	to = append(to, name...)
	if s.Hit {
		to = append(to, "; hit; ttl="...)
		to = strconv.AppendInt(to, int64(s.TTL/time.Second), 10)
	}
	if s.Forwarded != "" {
		to = append(append(to, "; fwd="...), s.Forwarded...)
	}
	if s.Answered != 0 {
		to = strconv.AppendInt(append(to, "; fwd-status="...), int64(s.Answered), 10)
	}
	if s.Stored {
		to = append(to, "; stored"...)
	}
	if s.Collapsed {
		to = append(to, "; collapsed"...)
	}
	if s.Detail != "" {
		to = append(append(to, "; detail="...), s.Detail...)
	}
	return to
}
