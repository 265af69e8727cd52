package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"crossgate/upstream"
)

// scrubbing is the log of a library that knows keys: texts and attributes lose them.
type scrubbing struct {
	slog.Handler
	scrub func(string) string
}

func (s scrubbing) Handle(ctx context.Context, line slog.Record) error {
	clean := slog.NewRecord(line.Time, line.Level, s.scrub(line.Message), line.PC)
	line.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(s.attribute(a))
		return true
	})
	return s.Handler.Handle(ctx, clean)
}

func (s scrubbing) WithAttrs(attributes []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attributes))
	for i, a := range attributes {
		clean[i] = s.attribute(a)
	}
	return scrubbing{s.Handler.WithAttrs(clean), s.scrub}
}

func (s scrubbing) WithGroup(name string) slog.Handler {
	return scrubbing{s.Handler.WithGroup(name), s.scrub}
}

func (s scrubbing) attribute(a slog.Attr) slog.Attr {
	return slog.String(a.Key, s.scrub(a.Value.Resolve().String()))
}

// collectorScrubber takes out of a text what could be a key of the collector that the environment names: of its
// address, which may be one that nobody can read, and of the headers that it is sent. All of them are quoted by
// OpenTelemetry's exporters when they are wrong.
func collectorScrubber(environment func(string) string) func(string) string {
	const name = "the collector"
	headers := http.Header{}
	var scrubbers []*strings.Replacer
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		text := environment(variable)
		at, err := url.Parse(text)
		if err != nil || at.Host == "" {
			headers[variable] = append(strings.FieldsFunc(text, isBetweenParts), text)
			continue
		}
		scrubbers = append(scrubbers, upstream.NewScrubber(name, at, "", nil))
	}
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		text := environment(variable) // name=value,name=value with values percent-encoded, as far as it is right
		for part := range strings.SplitSeq(text, ",") {
			_, value, _ := strings.Cut(part, "=")
			meant, _ := url.PathUnescape(value)
			headers[variable] = append(headers[variable], part, strings.TrimSpace(part), value, strings.TrimSpace(value), meant, strings.TrimSpace(meant))
		}
		headers[variable] = append(headers[variable], text)
	}
	scrubbers = append(scrubbers, upstream.NewScrubber(name, &url.URL{Host: "localhost"}, "", headers))
	return func(text string) string {
		for _, each := range scrubbers {
			text = each.Replace(text)
		}
		return text
	}
}

// isBetweenParts reports whether a character of an address is between two of its parts.
func isBetweenParts(r rune) bool { return strings.ContainsRune("/:@?&=#.", r) }
