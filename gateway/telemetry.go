package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// mostSeries bounds what one instrument may keep, whatever is asked of the gateway; the rest is counted as one.
const mostSeries = 4000

// Telemetry is where spans and measurements of this process go. The zero value keeps none.
type Telemetry struct {
	metrics http.Handler
	stops   []func(context.Context) error
}

// StartTelemetry begins to collect measurements, which Metrics serves, and makes spans leave the process:
// over OTLP when one of the standard endpoint variables is set (OTEL_EXPORTER_OTLP_ENDPOINT,
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT), nowhere otherwise. Batching and resource attributes follow their
// OTEL_* variables too, as does the sampler, in the place of c.Share, where one is set; OTEL_SDK_DISABLED=true turns
// everything off. What goes wrong with it later is reported to log.
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
		return nil, errors.Join(err, t.Stop(ctx))
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

// measure collects measurements in a registry of their own. One of the runtime's goes by another name, since
// Prometheus keeps those that end in _count for histograms.
func (t *Telemetry) measure(described *resource.Resource) error {
	registry := prometheus.NewRegistry()
	if err := registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})); err != nil {
		return fmt.Errorf("measure the process: %w", err)
	}
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
		metrics.WithDescription("1; its labels say what runs, so that a dashboard can distinguish replicas."),
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

// Metrics answers with all measurements in Prometheus' form; in OpenMetrics with the traces of examples.
func (t *Telemetry) Metrics() http.Handler {
	if t.metrics == nil {
		return http.NotFoundHandler()
	}
	return t.metrics
}

// Stop sends the spans that have ended.
func (t *Telemetry) Stop(ctx context.Context) error {
	var failures []error
	for _, stop := range t.stops {
		failures = append(failures, stop(ctx))
	}
	return errors.Join(failures...)
}

// Exports reports whether the environment says where spans go.
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

// logErrors has OpenTelemetry's libraries report to log. They quote the collector's address and headers, which may hold
// keys: errors are reduced to known reasons, lines to their text. While spans cannot be exported that is one line a
// minute.
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

// messages is the log of a library that knows keys: the texts of its lines without their attributes.
type messages struct{ slog.Handler }

func (m messages) Handle(ctx context.Context, line slog.Record) error {
	return m.Handler.Handle(ctx, slog.NewRecord(line.Time, line.Level, line.Message, line.PC))
}

func (m messages) WithAttrs([]slog.Attr) slog.Handler { return m }

func (m messages) WithGroup(string) slog.Handler { return m }

// sharing samples traces that no request begins, such as those of followers and probes, by a share. Requests have spans
// where they have decided for one: those that fail are traced in any case.
type sharing struct{ sdk.Sampler }

// sampler is that of a share of such traces; what belongs to a trace goes by its beginning.
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
