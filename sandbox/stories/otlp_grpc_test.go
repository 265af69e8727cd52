package stories_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"crossgate/config"
	"crossgate/gateway"
)

// grpcReceiver is the collector's end of OTLP over gRPC.
type grpcReceiver struct {
	collector.UnimplementedTraceServiceServer

	to *receiver
}

// Export implements the service.
func (r *grpcReceiver) Export(_ context.Context, export *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.to.keep(export)
	return &collector.ExportTraceServiceResponse{}, nil
}

// TestATraceArrivesOverGRPC has a gateway's spans arrive at a collector that speaks gRPC alone.
func TestATraceArrivesOverGRPC(t *testing.T) {
	r := &receiver{from: make(map[string]string)}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, &grpcReceiver{to: r})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+listener.Addr().String())
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	telemetry := startTelemetryAs(t, config.Telemetry{Share: 1})
	world, c := tracedWorld(t)
	at, _ := runLogged(t, c, telemetry, io.Discard)
	var facts worldJSON
	get(t, world.URL()+"/sandbox/world", &facts)
	if status := traced(t, at+"/api/Orders/creationTxHash/"+facts.Orders[0].CreationTxHash, callersTrace, "01", nil); status != http.StatusOK {
		t.Fatalf("the order = %d", status)
	}
	if err := telemetry.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, span := range r.of(callersTrace) {
		names[span.GetName()] = true
	}
	for _, want := range []string{"GET /api/Orders/creationTxHash/:creationTxHash", "order.find", "SELECT events"} {
		if !names[want] {
			t.Errorf("the trace has no %s, but %v", want, names)
		}
	}
}

// TestWhatCannotBeExportedIsOneLineInTheLog has no collector where spans are to go.
func TestWhatCannotBeExportedIsOneLineInTheLog(t *testing.T) {
	gone, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:canary-password@"+gone.Addr().String())
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1") // each span is exported by itself
	var log written
	restoreTelemetry(t)
	telemetry, err := gateway.StartTelemetry(t.Context(), config.Telemetry{Share: 1},
		gateway.NewLogger(&log, config.LogJSON, slog.LevelInfo))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, span := otel.Tracer("test").Start(t.Context(), "span")
		span.End()
	}
	_ = telemetry.Stop(t.Context()) // which exports what is left
	text := log.String()
	if got := strings.Count(text, `"telemetry not exported"`); got != 1 || !strings.Contains(text, `"level":"WARN"`) {
		t.Errorf("the log has %d lines about it, want 1:\n%s", got, text)
	}
	if strings.Contains(text, "canary") {
		t.Errorf("the log tells the password: %s", text)
	}
}
