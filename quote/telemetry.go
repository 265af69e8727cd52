package quote

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

const scope = "crossgate/quote"

// tracer is asked for each time: the provider may be set after this package is loaded.
func tracer() trace.Tracer { return otel.Tracer(scope) }

// refusals counts transactions that venues offered and that were not passed on. Its name is valid, which
// is all that could fail.
var refusals, _ = otel.Meter(scope).Int64Counter("crossgate.quote.refusals",
	metric.WithDescription("Best quotes that did not become an answer, by venue and reason."))

const (
	chainKey     = attribute.Key("crossgate.chain.id")
	venueKey     = attribute.Key("crossgate.venue")
	outcomeKey   = attribute.Key("crossgate.outcome")
	amountOutKey = attribute.Key("crossgate.amount_out")
	offersKey    = attribute.Key("crossgate.offers")
	refusedKey   = attribute.Key("crossgate.refused")
	reasonKey    = attribute.Key("crossgate.reason")
)

func startEstimate(ctx context.Context, r Request) (context.Context, trace.Span) {
	return tracer().Start(ctx, "quote.estimate", trace.WithAttributes(chainKey.Int64(int64(r.Chain))))
}

func startVenue(ctx context.Context, name, venue string) (context.Context, trace.Span) {
	return tracer().Start(ctx, name, trace.WithAttributes(venueKey.String(venue)))
}

// finish ends span with what err comes to. Having no route is an answer, and who was cancelled did not fail.
func finish(span trace.Span, err error) {
	defer span.End()
	if err == nil {
		span.SetAttributes(outcomeKey.String("ok"))
		return
	}
	span.SetAttributes(outcomeKey.String(reason(err)))
	span.RecordError(err)
	if requestFault(err) == nil && !errors.Is(err, context.Canceled) {
		span.SetStatus(codes.Error, reason(err))
	}
}

func countRefusal(ctx context.Context, venue string, err error) {
	refusals.Add(ctx, 1, metric.WithAttributes(venueKey.String(venue), reasonKey.String(reason(err))))
}

// reason is err in one of a few words, fit for a metric.
func reason(err error) string {
	switch {
	case requestFault(err) != nil:
		return "no route"
	case errors.Is(err, ErrRefused):
		return "refused"
	case errors.Is(err, ErrExpired):
		return "expired"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "failed"
}
