package gateway

import (
	"context"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"crossgate/config"
)

// NewLogger returns a logger that writes lines of at least level from to out. Lines about a request carry its trace and
// span ids. In JSON, durations are seconds, and their keys end in _seconds.
func NewLogger(out io.Writer, form config.LogForm, from slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: from}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if form == config.LogJSON {
		options.ReplaceAttr = inSeconds
		handler = slog.NewJSONHandler(out, options)
	}
	return slog.New(traced{handler})
}

// inSeconds replaces a duration, which slog would write in nanoseconds, by a number of seconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_seconds", a.Value.Duration().Seconds())
}

// traced adds a line's trace and span ids.
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
