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

// ClientDetail is how much the lines of requests in the log have of a client's address, in the words of the
// configuration. The User-Agent is logged as clients send it, unless they are hidden.
type ClientDetail string

// Details of addresses.
const (
	HideClients     ClientDetail = "none"
	ClientNetworks  ClientDetail = "network" // an IPv4 address without its last 8 bits, the first 48 of an IPv6 address
	ClientAddresses ClientDetail = "address" // the whole address
)

// isHiding reports whether nothing may be logged.
func (d ClientDetail) isHiding() bool { return d != ClientNetworks && d != ClientAddresses }

// of is as much of an address as may be logged; empty for none.
func (d ClientDetail) of(address netip.Addr) string {
	const network4, network6 = 24, 48
	switch {
	case !address.IsValid() || d.isHiding():
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

// logRequest writes the line of a finished request, without its query, which may hold a key.
func (s *Server) logRequest(c *gin.Context, id string, took time.Duration) {
	ctx, status := c.Request.Context(), c.Writer.Status()
	level := levelOf(c)
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
	add("client", s.clientOf(c.Request))
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

// levelOf is the level of a finished request's line. Server errors have level error but for those of an outage, which
// has a line of its own, of an index that is only beginning, and of a flood.
func levelOf(c *gin.Context) slog.Level {
	var cause error
	if len(c.Errors) > 0 {
		cause = c.Errors[0]
	}
	isExpected := errors.Is(cause, query.ErrUnavailable) || errors.Is(cause, query.ErrEmpty) || IsKind(cause, overloaded)
	switch {
	case c.Writer.Status() >= http.StatusInternalServerError && !isExpected:
		return slog.LevelError
	case cause == nil && strings.HasPrefix(c.Writer.Header().Get("Cache-Status"), "crossgate; hit; ttl="):
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// SetClients changes how much lines and spans of requests have of their clients.
func (s *Server) SetClients(d ClientDetail) { s.clients.Store(&d) }

// clientOf is the address of a request's client, as far as it may be logged.
func (s *Server) clientOf(r *http.Request) string { return s.clients.Load().of(s.quotas.Client(r)) }

// userAgent is a client's name for itself, as far as that may be logged.
func (s *Server) userAgent(r *http.Request) string {
	if s.clients.Load().isHiding() {
		return ""
	}
	return fmt.Sprintf("%.*s", longestUserAgent, r.Header.Get("User-Agent"))
}
