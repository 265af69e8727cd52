package proxy

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"crossgate/cache"
)

// Attribute keys of a request: OpenTelemetry's semantic conventions for HTTP servers, v1.44.
const (
	methodKey   = attribute.Key("http.request.method")
	routeKey    = attribute.Key("http.route")
	pathKey     = attribute.Key("url.path")
	schemeKey   = attribute.Key("url.scheme")
	statusKey   = attribute.Key("http.response.status_code")
	protocolKey = attribute.Key("network.protocol.version")
	requestKey  = attribute.Key("crossgate.request.id")
	cacheKey    = attribute.Key("crossgate.cache.status")
)

// startSpan opens the request's span and puts it into the request's context, or returns nil for a request that
// is not traced, which costs nothing then. A trace that the client began is continued for clients that are
// trusted with it; for others it is only linked, so that nobody outside decides what is sampled or which trace
// grows without end. Baggage is never read.
func (s *Server) startSpan(c *gin.Context) trace.Span {
	if c.Request.Header["Traceparent"] != nil && s.options.Tracing.TrustTraceparent {
		began := remote(c.Request)
		if trace.SpanContextFromContext(began).IsValid() {
			return s.openSpan(began, c)
		}
	}
	if share := s.options.Tracing.Share; share < 1 && rand.Float64() >= share {
		return nil
	}
	return s.openSpan(c.Request.Context(), c, linked(c.Request)...)
}

// linked links a span to the one of the client that the request belongs to.
func linked(r *http.Request) []trace.SpanStartOption {
	if r.Header["Traceparent"] == nil {
		return nil
	}
	return []trace.SpanStartOption{trace.WithLinks(trace.LinkFromContext(remote(r)))}
}

// slowRequest is above every objective of docs/slo.md.
const slowRequest = 2500 * time.Millisecond

// isNotable reports whether a request that has been answered is worth a span although it was not traced: an error
// of ours, or a slow one. A stream lasts as long as its client likes.
func isNotable(c *gin.Context, took time.Duration) bool {
	return c.Writer.Status() >= http.StatusInternalServerError ||
		took >= slowRequest && !isStream(c.Writer.Header())
}

// lateSpan opens the span of a request that has been answered, which is a trace of its own with nothing below it.
// The client knows the request by id.
func (s *Server) lateSpan(c *gin.Context, started time.Time, id string) trace.Span {
	options := append(linked(c.Request), trace.WithTimestamp(started), trace.WithAttributes(requestKey.String(id)))
	return s.openSpan(c.Request.Context(), c, options...)
}

// remote is the context of the span that the client says the request belongs to.
func remote(r *http.Request) context.Context {
	return propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
}

func (s *Server) openSpan(ctx context.Context, c *gin.Context, options ...trace.SpanStartOption) trace.Span {
	options = append(options, trace.WithSpanKind(trace.SpanKindServer))
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

// untraced is ctx for work of a request without a span: spans below it are not taken for the beginnings of traces.
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

// startLookup opens the span of a question that the cache had no fresh answer to: below it is the load, unless
// another request had begun that. Outside of a trace that is recorded there is none.
func (s *Server) startLookup(ctx context.Context) (context.Context, trace.Span) {
	if parent := trace.SpanFromContext(ctx); !parent.IsRecording() {
		return ctx, parent
	}
	return s.tracer.Start(ctx, "cache.lookup")
}

func endLookup(span trace.Span, found cache.Result[answer], err error) {
	if !span.IsRecording() {
		return
	}
	defer span.End()
	if err != nil {
		span.SetAttributes(outcomeKey.String("failed"))
		return // whose failing it is stands on the spans below, and what came of it on the request's
	}
	span.SetAttributes(outcomeKey.String(outcomeOf(&found)))
}
