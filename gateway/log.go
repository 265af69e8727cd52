package gateway

import (
	"context"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"crossgate/config"
)

// NewLogger writes lines from a level on to out. Those about a request bear the ids of its trace and span, so that one
// leads to the other. Durations are seconds in JSON, and named so.
func NewLogger(out io.Writer, form config.LogForm, from slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: from}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if form == config.LogJSON {
		options.ReplaceAttr = inSeconds
		handler = slog.NewJSONHandler(out, options)
	}
	return slog.New(traced{handler})
}

// inSeconds gives a duration a number with its unit, where slog would write nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
}

// traced adds the ids of the trace that a line belongs to.
type traced struct{ slog.Handler }

func (t traced) Handle(ctx context.Context, line slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		line.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return t.Handler.Handle(ctx, line)
}

func (t traced) WithAttrs(attributes []slog.Attr) slog.Handler {
	return traced{t.Handler.WithAttrs(attributes)}
}

func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }
