package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/order/query"
)

// Access configures the lines of requests in the log, one each. Server errors have level error, but for those
// of an outage or a flood; the query, which may hold a key, is left out.
type Access struct {
	Info      LoggedRequests // those whose lines are of level info; the others' are of level debug
	Clients   ClientDetail
	UserAgent bool // the User-Agent is logged, as clients send it
}

// LoggedRequests are some of all requests.
type LoggedRequests uint8

// Requests that are logged at level info.
const (
	LogMisses   LoggedRequests = iota // those that the cache did not answer
	LogAll                            // hits too
	LogFailures                       // server errors of an outage that has its own line; the other ones are of level error
)

// ClientDetail is how much is logged of a client's address.
type ClientDetail uint8

// Details of addresses.
const (
	HideClients     ClientDetail = iota
	ClientNetworks               // an IPv4 address without its last 8 bits, the first 48 of an IPv6 address
	ClientAddresses              // the whole address
)

// of is as much of an address as may be logged; empty for none.
func (d ClientDetail) of(address netip.Addr) string {
	const network4, network6 = 24, 48
	switch {
	case d == HideClients || !address.IsValid():
		return ""
	case d == ClientAddresses:
		return address.String()
	}
	bits := network4
	if address.Is6() {
		bits = network6
	}
	network, err := address.Prefix(bits)
	if err != nil {
		return ""
	}
	return network.String()
}

// Longest texts of clients in a line, in characters.
const (
	longestPath      = 200
	longestUserAgent = 200
)

func (s *Server) logRequest(c *gin.Context, id string, took time.Duration) {
	ctx, status := c.Request.Context(), c.Writer.Status()
	level := s.access.Load().level(c)
	if !s.log.Enabled(ctx, level) {
		return
	}
	attributes := make([]slog.Attr, 0, 14)
	attributes = append(attributes,
		slog.String("method", c.Request.Method),
		slog.String("route", c.FullPath()),
		slog.String("path", fmt.Sprintf("%.*s", longestPath, c.Request.URL.Path)),
		slog.Int("status", status),
		slog.Int("bytes", max(c.Writer.Size(), 0)),
		slog.Float64("seconds", took.Seconds()),
		slog.String("requestId", id),
	)
	add := func(key, value string) {
		if value != "" {
			attributes = append(attributes, slog.String(key, value))
		}
	}
	add("client", s.access.Load().Clients.of(s.quotas.Client(c.Request)))
	add("key", s.quotas.KeyName(c.Request))
	add("userAgent", s.userAgent(c.Request))
	if status := c.Writer.Header()["Cache-Status"]; len(status) > 0 {
		add("cache", status[0])
	}
	if len(c.Errors) > 0 {
		add("error", c.Errors[0].Error())
	}
	s.log.LogAttrs(ctx, level, "request", attributes...)
}

// level is that of a finished request's line.
func (a Access) level(c *gin.Context) slog.Level {
	isFailed := c.Writer.Status() >= http.StatusInternalServerError
	switch {
	case isFailed && !isOfOutage(c) && !isShed(c):
		return slog.LevelError
	case a.Info == LogFailures && !isFailed, a.Info == LogMisses && isHit(c):
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// userAgent is what a client says it is, as far as that may be logged.
func (s *Server) userAgent(r *http.Request) string {
	if !s.access.Load().UserAgent {
		return ""
	}
	return fmt.Sprintf("%.*s", longestUserAgent, r.Header.Get("User-Agent"))
}

// isOfOutage reports whether a request failed because the order index is unavailable: its outage has a line of its own.
func isOfOutage(c *gin.Context) bool {
	return len(c.Errors) > 0 && errors.Is(c.Errors[0], query.ErrUnavailable)
}

// isShed reports whether a request was refused for lack of room: a flood writes no errors.
func isShed(c *gin.Context) bool { return len(c.Errors) > 0 && IsKind(c.Errors[0], overloaded) }

// isHit reports whether a request was a fresh cache hit without errors.
func isHit(c *gin.Context) bool {
	status := c.Writer.Header()["Cache-Status"]
	return len(status) > 0 && strings.HasPrefix(status[0], "crossgate; hit; ttl=") && len(c.Errors) == 0
}
