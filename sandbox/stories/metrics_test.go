package stories_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.opentelemetry.io/otel"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

// startTelemetry makes this process's metrics those of a gateway until the test ends.
func startTelemetry(t *testing.T) *gateway.Telemetry {
	t.Helper()
	return startTelemetryAs(t, config.Telemetry{Share: 1})
}

func startTelemetryAs(t *testing.T, c config.Telemetry) *gateway.Telemetry {
	t.Helper()
	restoreTelemetry(t)
	telemetry := must.Get(gateway.StartTelemetry(t.Context(), c, slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(func() { telemetry.Stop(context.Background()) })
	return telemetry
}

// restoreTelemetry restores, at the end of the test, the process state that starting telemetry changes.
func restoreTelemetry(t *testing.T) {
	t.Helper()
	meters, tracers, errors := otel.GetMeterProvider(), otel.GetTracerProvider(), otel.GetErrorHandler()
	t.Cleanup(func() {
		otel.SetMeterProvider(meters)
		otel.SetTracerProvider(tracers)
		otel.SetErrorHandler(errors)
		otel.SetLogger(logr.Discard())
	})
}

// scrape returns what Prometheus would get, as text and parsed.
func scrape(t *testing.T, telemetry *gateway.Telemetry) (string, map[string]*dto.MetricFamily) {
	t.Helper()
	answer := httptest.NewRecorder()
	telemetry.Metrics().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	text := answer.Body.String()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("GET /metrics = %d: %v", answer.Code, err)
	}
	return text, families
}

// labels returns the names of a family's labels.
func labels(family *dto.MetricFamily) []string {
	var names []string
	for _, metric := range family.GetMetric() {
		for _, pair := range metric.GetLabel() {
			names = append(names, pair.GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// own are this gateway's metrics with all labels that they may have, each a line of testdata/metrics.golden. Metrics
// that do not occur in a healthy hour without a shared cache and PostgreSQL are marked there as rare.
func own(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/metrics.golden"))(t))) {
		words := strings.Fields(line)
		all[words[0]] = words[1:]
	}
	return all
}

// TestMeasurementsHaveFixedLabels requests everything once, scrapes, and then lets a crowd send whatever it can make
// up: that must not add a single series.
func TestMeasurementsHaveFixedLabels(t *testing.T) {
	telemetry := startTelemetry(t)
	front := inFrontOf(t, sandboxtest.Shared(t)) // measured
	awaitCounted(t, front)                       // orders are counted beside requests, and deleted from what waits
	world := front.facts(t)
	for range 2 {
		get(t, front.url+"/api/Orders/creationTxHash/"+world.Orders[0].CreationTxHash, new(any))
		get(t, front.url+"/api/Satistics/"+world.Takers[0].Address+"/lockedAssets", new(any))
		get(t, front.url+swapPath(world), new(any))
	}
	invent(t, front.url, 1)
	text, families := scrape(t, telemetry)
	checkFamilies(t, families)
	t.Run("promtool", func(t *testing.T) { lint(t, text) })
	before := series(t, families)
	invent(t, front.url, 200)
	_, families = scrape(t, telemetry)
	for each := range series(t, families) {
		if !before[each] {
			t.Errorf("a series by requests alone: %s", each)
		}
	}
}

func checkFamilies(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	known := own(t)
	for name, want := range known {
		family, found := families[name]
		if !found {
			if !slices.Contains(want, "rare") {
				t.Errorf("there is no %s", name)
			}
			continue
		}
		for _, label := range labels(family) {
			if !slices.Contains(want, label) {
				t.Errorf("%s has the label %s, want none but %q", name, label, want)
			}
		}
	}
	for name := range families {
		if known[name] == nil && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && name != "target_info" {
			t.Errorf("%s is measured, and this test does not know its labels", name)
		}
	}
	if _, found := families["go_goroutines"]; !found {
		t.Error("nothing is measured of the runtime")
	}
}

// series returns the time series without those of the runtime; a histogram counts as one.
func series(t *testing.T, families map[string]*dto.MetricFamily) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for name := range own(t) {
		for _, metric := range families[name].GetMetric() {
			all[fmt.Sprint(name, metric.GetLabel())] = true
		}
	}
	return all
}

// lint runs promtool on a scrape.
func lint(t *testing.T, text string) {
	t.Helper()
	want(t, "promtool")
	command := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
	command.Stdin = strings.NewReader(text)
	if out, err := command.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

func swapPath(world worldJSON) string {
	account := world.Accounts[0].Address
	return "/v1.0/chain/transaction?chainId=1&tokenIn=0x" + strings.Repeat("0", 40) +
		"&tokenInAmount=1000000000000000&tokenOut=" + world.Tokens[1].Address + "&tokenOutRecipient=" + account
}

// invent sends many requests, no two of them alike.
func invent(t *testing.T, url string, each int) {
	t.Helper()
	var crowd sync.WaitGroup
	for worker := range 4 {
		crowd.Go(func() {
			for i := range each {
				n := worker*each + i
				for _, made := range []struct{ method, path string }{
					{http.MethodGet, fmt.Sprintf("/nowhere/%d", n)},
					{fmt.Sprintf("M%d", n), "/api/Orders/creationTxHash/0x00"},
					{http.MethodGet, fmt.Sprintf("/api/Orders/creationTxHash/%d", n)},
					{http.MethodGet, fmt.Sprintf("/v1.0/chain/transaction?chainId=%d&made%d=up", n, n)},
					{http.MethodGet, fmt.Sprintf("/api/Satistics/%d/lockedAssets", n)},
				} {
					send(t, made.method, url+made.path, n)
				}
			}
		})
	}
	crowd.Wait()
}

func send(t *testing.T, method, url string, n int) {
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(nil))
	if err != nil {
		t.Error(err)
		return
	}
	request.Host = fmt.Sprintf("host%d.example", n)
	request.Header.Set("User-Agent", fmt.Sprintf("agent/%d", n))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
	if response.StatusCode < 400 || response.StatusCode >= 500 {
		t.Errorf("%s %s = %d, want a refusal", method, url, response.StatusCode)
	}
}
