package rfc9111

import (
	"strconv"
	"time"
)

// Status is how a cache handled a request, as reported in Cache-Status (RFC 9211).
type Status struct {
	Hit       bool
	Forwarded string // why it was forwarded: uri-miss, vary-miss, stale, request, bypass, method, partial; empty if it was not
	Answered  int    // status of the origin's response; zero if there was none
	Stored    bool
	Collapsed bool
	TTL       time.Duration // remaining freshness of a hit; negative if it is stale
	Detail    string        // a token; empty for none
}

// Append appends the Cache-Status member of the cache called name, a token.
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
