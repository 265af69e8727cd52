package proxy

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
)

// startSpan starts the request's span and adds it to the request's context, or returns nil if the request is not
// traced. A trace from a trusted proxy is continued, any other is linked: outsiders must neither decide about sampling
// nor grow a trace endlessly. Baggage is never read.
func (s *Server) startSpan(c *gin.Context) trace.Span {
	peer, _ := netip.ParseAddrPort(c.Request.RemoteAddr) // zero on a UNIX socket, and in no proxy's network
	if c.Request.Header["Traceparent"] != nil && s.quotas.Trusts(peer.Addr().Unmap()) {
		parent := remote(c.Request)
		if trace.SpanContextFromContext(parent).IsValid() {
			return s.openSpan(parent, c)
		}
	}
	if share := s.Options.Traced; share < 1 && rand.Float64() >= share {
		return nil
	}
	return s.openSpan(c.Request.Context(), c, linked(c.Request)...)
}

// linked returns the option that links a span to the client's, if there is one.
func linked(r *http.Request) []trace.SpanStartOption {
	if r.Header["Traceparent"] == nil {
		return nil
	}
	return []trace.SpanStartOption{trace.WithLinks(trace.LinkFromContext(remote(r)))}
}

// slowRequest exceeds every objective of docs/slo.md.
const slowRequest = 2500 * time.Millisecond

// isNotable reports whether an untraced request deserves a span once it has finished: a server error or a slow
// response. Streams never count as slow; they last as long as the client likes.
func isNotable(c *gin.Context, took time.Duration) bool {
	return c.Writer.Status() >= http.StatusInternalServerError ||
		took >= slowRequest && !isStream(c.Writer.Header())
}

// remote is the context of the client's span, from traceparent.
func remote(r *http.Request) context.Context {
	return propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
}

func (s *Server) openSpan(ctx context.Context, c *gin.Context, options ...trace.SpanStartOption) trace.Span {
	options = append(options, trace.WithSpanKind(trace.SpanKindServer))
	ctx, span := s.tracer.Start(ctx, spanName(c), options...)
	if span.IsRecording() {
		span.SetAttributes(
			semconv.HTTPRequestMethodKey.String(knownMethod(c.Request.Method)), semconv.HTTPRoute(c.FullPath()), semconv.URLScheme(schemeOf(c.Request)),
			semconv.URLPath(c.Request.URL.Path), semconv.NetworkProtocolVersion(c.Request.Proto[len("HTTP/"):]),
		)
		span.SetAttributes(serverOf(c.Request)...)
		if client := s.clientOf(c.Request); client != "" {
			span.SetAttributes(semconv.ClientAddress(client))
		}
		if agent := s.userAgent(c.Request); agent != "" {
			span.SetAttributes(semconv.UserAgentOriginal(agent))
		}
	}
	c.Request = c.Request.WithContext(ctx)
	return span
}

func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// serverOf returns the host and port that the client addressed, as it claims.
func serverOf(r *http.Request) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return []attribute.KeyValue{semconv.ServerAddress(r.Host)}
	}
	server := []attribute.KeyValue{semconv.ServerAddress(host)}
	if number, err := strconv.Atoi(port); err == nil {
		server = append(server, semconv.ServerPort(number))
	}
	return server
}

// untraced returns ctx under an unsampled parent, so that work for a request without a span starts no trace.
func untraced(ctx context.Context) context.Context {
	if trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	var id trace.SpanContextConfig
	binary.NativeEndian.PutUint64(id.TraceID[:], rand.Uint64()|1)
	binary.NativeEndian.PutUint64(id.SpanID[:], rand.Uint64()|1)
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(id))
}

func spanName(c *gin.Context) string {
	if c.FullPath() == "" {
		return knownMethod(c.Request.Method)
	}
	return c.Request.Method + " " + c.FullPath()
}

// knownMethod keeps invented methods out of span names and metrics.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions,
		http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return method
	}
	return "_OTHER"
}

func endSpan(span trace.Span, c *gin.Context) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	status := c.Writer.Status()
	span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if found := c.Writer.Header()["Cache-Status"]; len(found) > 0 {
		span.SetAttributes(attribute.String("crossgate.cache.status", found[0]))
	}
	if status >= http.StatusInternalServerError {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		span.SetStatus(codes.Error, http.StatusText(status))
	}
}
