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

// ClientDetail says how much of a client's address request log lines show, in the configuration's words. The User-Agent
// is logged as sent unless clients are hidden.
type ClientDetail string

// Levels of client detail.
const (
	HideClients     ClientDetail = "none"
	ClientNetworks  ClientDetail = "network" // an IPv4 address without its last 8 bits, the first 48 of an IPv6 address
	ClientAddresses ClientDetail = "address" // the whole address
)

func (d ClientDetail) isHiding() bool { return d != ClientNetworks && d != ClientAddresses }

// of returns as much of an address as may be logged, possibly nothing.
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

// Limits of client-supplied text in a log line, in characters.
const (
	longestPath      = 200
	longestUserAgent = 200
)

// logRequest logs a finished request, without its query, which may hold a key.
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

// levelOf returns the level of a finished request's log line. Server errors log at level error, except during an
// outage, which has a log line of its own, while the index is still empty, and under overload.
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

// SetClients changes how much log lines and spans of requests reveal about clients.
func (s *Server) SetClients(d ClientDetail) { s.clients.Store(&d) }

func (s *Server) clientOf(r *http.Request) string { return s.clients.Load().of(s.quotas.Client(r)) }

func (s *Server) userAgent(r *http.Request) string {
	if s.clients.Load().isHiding() {
		return ""
	}
	return fmt.Sprintf("%.*s", longestUserAgent, r.Header.Get("User-Agent"))
}
