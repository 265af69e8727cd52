package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	metrics "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"

	"crossgate/config"
	"crossgate/internal/release"
)

// mostSeries bounds the series of one instrument, whatever clients request; further ones are counted together.
const mostSeries = 4000

// Telemetry exports the spans and measurements of this process. The zero value exports none.
type Telemetry struct {
	metrics http.Handler
	stops   []func(context.Context) error
}

// StartTelemetry starts collecting measurements, which Metrics serves, and exporting spans over OTLP if one of the
// standard endpoint variables is set (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT). Batching and
// resource attributes follow their OTEL_* variables too; a sampler set by one takes precedence over c.Share.
// OTEL_SDK_DISABLED=true turns everything off. Later errors go to log.
func StartTelemetry(ctx context.Context, c config.Telemetry, log *slog.Logger) (*Telemetry, error) {
	t := &Telemetry{}
	otel.SetTextMapPropagator(propagation.TraceContext{})
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return t, nil
	}
	logErrors(log)
	described, err := resource.New(ctx, resource.WithAttributes(
		semconv.ServiceName("crossgate"), semconv.ServiceVersion(release.Current().Version),
	), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("otel resource: %w", err)
	}
	if err := t.measure(described); err != nil {
		return nil, err
	}
	if !Exports() {
		return t, nil
	}
	spans, err := newExporter(ctx)
	if err != nil {
		t.Stop(ctx)
		return nil, err
	}
	options := []sdk.TracerProviderOption{sdk.WithBatcher(spans), sdk.WithResource(described)}
	if os.Getenv("OTEL_TRACES_SAMPLER") == "" {
		options = append(options, sdk.WithSampler(sampler(c.Share)))
	}
	provider := sdk.NewTracerProvider(options...)
	otel.SetTracerProvider(provider)
	t.stops = append(t.stops, provider.Shutdown)
	return t, nil
}

// measure collects measurements in a separate registry. It renames one of the runtime's, since Prometheus reserves
// names that end in _count for histograms.
func (t *Telemetry) measure(described *resource.Resource) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo())
	if err != nil {
		return fmt.Errorf("prometheus exporter: %w", err)
	}
	provider := metric.NewMeterProvider(
		metric.WithReader(reader), metric.WithResource(described), metric.WithCardinalityLimit(mostSeries),
		metric.WithView(metric.NewView(metric.Instrument{Name: "go.goroutine.count"}, metric.Stream{Name: "go.goroutines"})),
	)
	otel.SetMeterProvider(provider)
	t.stops = append(t.stops, provider.Shutdown)
	if err := runtime.Start(runtime.WithMeterProvider(provider)); err != nil {
		return fmt.Errorf("measure the runtime: %w", err)
	}
	built := release.Current()
	_, err = provider.Meter("crossgate/internal/release").Int64ObservableGauge("crossgate.build.info",
		metrics.WithDescription("Always 1; labels identify the running version."),
		metrics.WithInt64Callback(func(_ context.Context, o metrics.Int64Observer) error {
			o.Observe(1, metrics.WithAttributes(attribute.String("version", built.Version),
				attribute.String("commit", built.Commit), attribute.String("go", built.Go)))
			return nil
		}))
	if err != nil {
		return fmt.Errorf("measure the release: %w", err)
	}
	t.metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	return nil
}

// Metrics returns a handler that serves all measurements in Prometheus' format, or in OpenMetrics with exemplars.
func (t *Telemetry) Metrics() http.Handler {
	if t.metrics == nil {
		return http.NotFoundHandler()
	}
	return t.metrics
}

// Stop exports the spans that have ended and stops collecting. It logs why spans cannot be exported.
func (t *Telemetry) Stop(ctx context.Context) {
	for _, stop := range t.stops {
		if err := stop(ctx); err != nil {
			otel.Handle(err)
		}
	}
}

// Exports reports whether the environment sets a destination for spans.
func Exports() bool {
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

func newExporter(ctx context.Context) (*otlptrace.Exporter, error) {
	const overHTTP = "http/protobuf"
	if protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), overHTTP); protocol != overHTTP {
		return nil, fmt.Errorf("otlp exporter: protocol %q of the environment is not %s", protocol, overHTTP)
	}
	made, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("otlp exporter: %w", err)
	}
	return made, nil
}

// logErrors redirects OpenTelemetry's messages to log. They quote the collector's address and headers, which may hold
// keys: it reduces errors to known reasons and lines to their text. Export errors are logged once a minute at most.
func logErrors(log *slog.Logger) {
	const reminder = time.Minute
	reason := regexp.MustCompile(`: \d{3} [A-Z][A-Za-z ]+|connection (refused|reset by peer)|no such host|i/o timeout|deadline exceeded|malformed`)
	var mu sync.Mutex
	var last time.Time
	otel.SetLogger(logr.FromSlogHandler(messages{log.Handler()}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) >= reminder {
			last = time.Now()
			log.Warn("telemetry not exported", "error", cmp.Or(reason.FindString(err.Error()), "check the variables OTEL_EXPORTER_OTLP_*"))
		}
	}))
}

// messages logs the lines of a library that knows keys: only their text, without attributes.
type messages struct{ slog.Handler }

func (m messages) Handle(ctx context.Context, line slog.Record) error {
	return m.Handler.Handle(ctx, slog.NewRecord(line.Time, line.Level, line.Message, line.PC))
}

func (m messages) WithAttrs([]slog.Attr) slog.Handler { return m }

func (m messages) WithGroup(string) slog.Handler { return m }

// sharing samples a share of the traces that no request begins, such as those of followers and probes. It samples every
// request span: the server has decided already, and traces failed requests in any case.
type sharing struct{ sdk.Sampler }

// sampler returns a sampler of a share of such traces; child spans follow their root's decision.
func sampler(share float64) sdk.Sampler {
	return sdk.ParentBased(sharing{sdk.TraceIDRatioBased(share)})
}

// ShouldSample implements sdk.Sampler.
func (s sharing) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if p.Kind == trace.SpanKindServer {
		return sdk.AlwaysSample().ShouldSample(p)
	}
	return s.Sampler.ShouldSample(p)
}

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
