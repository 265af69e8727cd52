package gateway

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
)

// TestTelemetryThatIsSetWronglyTellsNoKeys has exporters read addresses and headers of which they quote what is wrong.
func TestTelemetryThatIsSetWronglyTellsNoKeys(t *testing.T) {
	const canary = "canary77c1"
	errors := otel.GetErrorHandler()
	t.Cleanup(func() { otel.SetErrorHandler(errors) })
	for _, protocol := range []string{"http/protobuf"} {
		for _, address := range []string{
			"http://" + canary + ":" + canary + "-2@collector.example:not-a-port/" + canary + "-3",
			"https://" + canary + ".collector.example/%zz?" + canary,
			"http://127.0.0.1:9/" + canary,
			canary + ".example:4317",
		} {
			var log strings.Builder
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization Bearer "+canary+"-4,X-Key=%zz"+canary+"-5,X-Other=Bearer%20"+canary+"-6")
			logErrors(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
			made, err := newExporter(t.Context())
			if err == nil {
				err = made.Shutdown(t.Context())
			}
			said := fmt.Sprint(log.String(), err)
			if !strings.Contains(said, "parse headers") {
				t.Errorf("%s: the log is %q: the test looks at nothing", address, said)
			}
			if at := strings.Index(said, canary); at >= 0 {
				t.Errorf("%s: a key is told: …%s", address, said[max(at-200, 0):])
			}
		}
	}
}
