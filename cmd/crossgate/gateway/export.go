package gateway

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// Exports reports whether the environment says where spans go.
func Exports() bool {
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// newExporter sends spans by the protocol of the environment: over HTTP unless that says otherwise.
func newExporter(ctx context.Context) (*otlptrace.Exporter, error) {
	const overHTTP, overGRPC = "http/protobuf", "grpc"
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), overHTTP)
	var made *otlptrace.Exporter
	var err error
	switch protocol {
	case overGRPC:
		made, err = otlptracegrpc.New(ctx)
	case overHTTP:
		made, err = otlptracehttp.New(ctx)
	default:
		err = fmt.Errorf("protocol %q of the environment is neither grpc nor http/protobuf", protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("otlp exporter: %w", err)
	}
	return made, nil
}

// logErrors has OpenTelemetry's libraries report to log, without what could be a key of the collector. While spans
// cannot be exported that is one line a minute.
func logErrors(log *slog.Logger) {
	const reminder = time.Minute
	var mu sync.Mutex
	var last time.Time
	cleaned := scrubbing{log.Handler(), collectorScrubber(os.Getenv)}
	otel.SetLogger(logr.FromSlogHandler(cleaned))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) >= reminder {
			last = time.Now()
			slog.New(cleaned).Warn("telemetry not exported", "error", err)
		}
	}))
}
