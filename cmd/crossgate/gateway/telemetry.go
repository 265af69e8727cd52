package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	metrics "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"

	"crossgate/config"
	"crossgate/release"
)

// mostSeries bounds what one instrument may keep, whatever is asked of the gateway; the rest is counted as one.
const mostSeries = 4000

// Telemetry is where spans and measurements of this process go. The zero value keeps none.
type Telemetry struct {
	metrics http.Handler
	spans   *trace.TracerProvider // nil when spans stay here
	stops   []func(context.Context) error
}

// StartTelemetry begins to collect measurements, which Metrics serves, and makes spans leave the process:
// over OTLP when one of the standard endpoint variables is set (OTEL_EXPORTER_OTLP_ENDPOINT,
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT), nowhere otherwise. Sampler, batching and resource attributes follow
// their OTEL_* variables too; OTEL_SDK_DISABLED=true turns everything off. What goes wrong with it later is reported to
// log.
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
	provider := trace.NewTracerProvider(trace.WithBatcher(spans), trace.WithResource(described))
	otel.SetTracerProvider(sharing{provider: provider, share: c.Share})
	t.spans = provider
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
	if err := measureRelease(provider.Meter("crossgate/release")); err != nil {
		return fmt.Errorf("measure the release: %w", err)
	}
	t.metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	return nil
}

// measureRelease tells which version runs, so that a dashboard can tell replicas apart.
func measureRelease(meter metrics.Meter) error {
	built := release.Current()
	_, err := meter.Int64ObservableGauge("crossgate.build.info", metrics.WithDescription("1; its labels say what runs."),
		metrics.WithInt64Callback(func(_ context.Context, o metrics.Int64Observer) error {
			o.Observe(1, metrics.WithAttributes(attribute.String("version", built.Version),
				attribute.String("commit", built.Commit), attribute.String("go", built.Go)))
			return nil
		}))
	return err
}

// Metrics answers with all measurements in Prometheus' form; in OpenMetrics with the traces of examples.
func (t *Telemetry) Metrics() http.Handler {
	if t.metrics == nil {
		return http.NotFoundHandler()
	}
	return t.metrics
}

// Flush sends the spans that have ended.
func (t *Telemetry) Flush(ctx context.Context) error {
	if t.spans == nil {
		return nil
	}
	return t.spans.ForceFlush(ctx)
}

// Stop flushes what is left.
func (t *Telemetry) Stop(ctx context.Context) error {
	var failures []error
	for _, stop := range t.stops {
		failures = append(failures, stop(ctx))
	}
	return errors.Join(failures...)
}
