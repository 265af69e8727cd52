package proxy

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Attribute keys of a request: OpenTelemetry's semantic conventions for HTTP servers, v1.44.
const (
	methodKey   = attribute.Key("http.request.method")
	routeKey    = attribute.Key("http.route")
	pathKey     = attribute.Key("url.path")
	schemeKey   = attribute.Key("url.scheme")
	statusKey   = attribute.Key("http.response.status_code")
	protocolKey = attribute.Key("network.protocol.version")
	cacheKey    = attribute.Key("crossgate.cache.status")
)

// startSpan opens the request's span and puts it into the request's context. A trace that the client
// began is continued for clients that are trusted with it; for others it is only linked, so that nobody
// outside decides what is sampled or which trace grows without end. Baggage is never read.
func (s *Server) startSpan(c *gin.Context) trace.Span {
	ctx := c.Request.Context()
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	if c.Request.Header.Get("Traceparent") != "" {
		remote := propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(c.Request.Header))
		if s.options.TrustTraceparent {
			ctx = remote
		} else {
			options = append(options, trace.WithLinks(trace.LinkFromContext(remote)))
		}
	}
	ctx, span := s.tracer.Start(ctx, spanName(c), options...)
	if span.IsRecording() {
		span.SetAttributes(
			methodKey.String(knownMethod(c.Request.Method)), routeKey.String(c.FullPath()), schemeKey.String("http"),
			pathKey.String(c.Request.URL.Path), protocolKey.String(c.Request.Proto[len("HTTP/"):]),
		)
	}
	c.Request = c.Request.WithContext(ctx)
	return span
}

func spanName(c *gin.Context) string {
	if c.FullPath() == "" {
		return knownMethod(c.Request.Method)
	}
	return c.Request.Method + " " + c.FullPath()
}

// knownMethod keeps what clients invent out of names and metrics.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
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
	span.SetAttributes(statusKey.Int(status))
	if found := c.Writer.Header()["Cache-Status"]; len(found) > 0 {
		span.SetAttributes(cacheKey.String(found[0]))
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
}
