package stories_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

// receiver is a collector's endpoint for OTLP over HTTP.
type receiver struct {
	mu    sync.Mutex
	spans []*spans.Span
	from  map[string]string // attributes of the resource that sent the spans
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	text, err := io.ReadAll(request.Body)
	var export collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(text, &export)
	}
	if err != nil || request.URL.Path != "/v1/traces" || request.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "not an export of traces", http.StatusBadRequest)
		return
	}
	r.keep(&export)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// keep stores an export.
func (r *receiver) keep(export *collector.ExportTraceServiceRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range export.GetResourceSpans() {
		for _, attribute := range resource.GetResource().GetAttributes() {
			r.from[attribute.GetKey()] = attribute.GetValue().GetStringValue()
		}
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
}

// of returns the spans of a trace by ID.
func (r *receiver) of(trace string) map[string]*spans.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := make(map[string]*spans.Span)
	for _, span := range r.spans {
		if hex.EncodeToString(span.GetTraceId()) == trace {
			found[string(span.GetSpanId())] = span
		}
	}
	return found
}

// attributesOf returns a span's attributes as text; numbers have an empty value.
func attributesOf(span *spans.Span) map[string]string {
	all := make(map[string]string)
	for _, attribute := range span.GetAttributes() {
		all[attribute.GetKey()] = attribute.GetValue().GetStringValue()
	}
	return all
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"

	unsampledTrace = "5bf92f3577b34da6a3ce929d0e0e4736"
	orderTrace     = "6bf92f3577b34da6a3ce929d0e0e4736"
)

// startCollector exports everything that is sampled to a receiver.
func startCollector(t *testing.T) (*receiver, *gateway.Telemetry) {
	t.Helper()
	r := &receiver{from: make(map[string]string)}
	collecting := httptest.NewServer(r)
	t.Cleanup(collecting.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collecting.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_on")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100000") // nothing may be lost to a busy machine
	return r, startTelemetry(t)
}

// TestATraceArrivesAtItsCollector follows a swap from the caller's traceparent to the attempts at all nodes and venues,
// as received over OTLP, an order to its database statement, and a refused request by the reqId of its response.
func TestATraceArrivesAtItsCollector(t *testing.T) {
	r, telemetry := startCollector(t)
	world := sandboxtest.Shared(t)
	c := configOf(t, world)
	c.Limits.Proxies, c.Telemetry.Log = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, config.LogJSON
	var log written
	url, _ := runLogged(t, c, telemetry, &log)
	facts := factsOf(t, world)

	if status := traced(t, url+swapPath(facts), callersTrace, "01", nil); status != http.StatusOK {
		t.Fatalf("the swap = %d", status)
	}
	if status := traced(t, url+"/api/Orders/creationTxHash/"+facts.Orders[0].CreationTxHash, orderTrace, "01", nil); status != http.StatusOK {
		t.Fatalf("the order = %d", status)
	}
	var problem problemJSON
	if status := traced(t, url+"/api/Orders/creationTxHash/0x12", callersTrace, "01", &problem); status != http.StatusBadRequest || problem.ReqID != callersTrace {
		t.Errorf("a malformed hash = %d with reqId %q, want 400 and the trace's id", status, problem.ReqID)
	}
	if status := traced(t, url+swapPath(facts), unsampledTrace, "00", nil); status != http.StatusOK {
		t.Fatalf("the swap = %d", status)
	}
	must.Do(t, otel.GetTracerProvider().(interface{ ForceFlush(context.Context) error }).ForceFlush(t.Context()))
	if r.from["service.name"] != "crossgate" || r.from["deployment.environment.name"] != "test" {
		t.Errorf("spans came from %v", r.from)
	}
	if found := r.of(unsampledTrace); len(found) > 0 {
		t.Errorf("%d spans arrived of a trace that its caller does not sample", len(found))
	}
	checkSwapTrace(t, r.of(callersTrace))
	checkStore(t, r.of(orderTrace))
	checkExemplar(t, telemetry, orderTrace)
	if !strings.Contains(log.String(), `"trace_id":"`+callersTrace+`"`) {
		t.Errorf("no line of the log bears the trace's id: %.600s", log.String())
	}
}

// traced sends a request within a caller's trace, sampled by flags 01, and decodes the response into out, if any.
func traced(t *testing.T, url, trace, flags string, out any) int {
	t.Helper()
	response, body := ask(t, http.MethodGet, url, "", "Traceparent: 00-"+trace+"-"+callersSpan+"-"+flags)
	if out != nil {
		must.Do(t, json.Unmarshal(body, out))
	}
	return response.StatusCode
}

// checkSwapTrace requires each kind of span below its parent, with its attributes.
func checkSwapTrace(t *testing.T, all map[string]*spans.Span) {
	t.Helper()
	want := map[string]struct{ below, tells string }{
		"GET /v1.0/chain/transaction": {"", "http.request.method http.route http.response.status_code crossgate.cache.status url.path url.scheme server.address server.port client.address user_agent.original"},
		"quote.estimate":              {"GET /v1.0/chain/transaction", "crossgate.chain.id crossgate.outcome"},
		"quote.compare":               {"quote.estimate", "crossgate.offers crossgate.refused"},
		"quote.venue":                 {"quote.compare", "crossgate.venue crossgate.outcome"},
		"quote.build":                 {"quote.estimate", "crossgate.venue crossgate.outcome"},
		"http.attempt":                {"", "crossgate.endpoint crossgate.attempt crossgate.outcome http.request.method"},
		"rpc.attempt":                 {"", "crossgate.endpoint crossgate.attempt crossgate.outcome crossgate.chain.id rpc.system.name rpc.method"},
	}
	seen := make(map[string]int)
	for _, span := range all {
		name := span.GetName()
		told := attributesOf(span)
		if _, is := told["rpc.system.name"]; is {
			name = "rpc.attempt"
		} else if _, is := told["crossgate.attempt"]; is {
			name = "http.attempt"
		}
		w, known := want[name]
		if !known {
			continue
		}
		seen[name]++
		parent, there := all[string(span.GetParentSpanId())]
		switch {
		case strings.HasPrefix(name, "GET "): // the request's
			if hex.EncodeToString(span.GetParentSpanId()) != callersSpan || span.GetKind() != spans.Span_SPAN_KIND_SERVER {
				t.Errorf("%s is not the server's span below the caller's", name)
			}
		case !there:
			t.Errorf("%s has no parent in its trace", name)
		case w.below != "" && parent.GetName() != w.below:
			t.Errorf("%s is below %s, want %s", name, parent.GetName(), w.below)
		case strings.HasSuffix(name, ".attempt") && span.GetKind() != spans.Span_SPAN_KIND_CLIENT:
			t.Errorf("%s is of kind %s, want a client's", name, span.GetKind())
		}
		for _, key := range strings.Fields(w.tells) {
			if _, tells := told[key]; !tells {
				t.Errorf("%s tells %v, want %s too", name, told, key)
			}
		}
		if span.GetEndTimeUnixNano() < span.GetStartTimeUnixNano() {
			t.Errorf("%s ends before it begins", name)
		}
	}
	for name := range want {
		if seen[name] == 0 {
			t.Errorf("the trace has no %s, but %v", name, seen)
		}
	}
}

// checkExemplar requires that the duration of a traced request links to its trace if Prometheus asks for OpenMetrics.
func checkExemplar(t *testing.T, telemetry *gateway.Telemetry, trace string) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	answer := httptest.NewRecorder()
	telemetry.Metrics().ServeHTTP(answer, request)
	if got := answer.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text") {
		t.Errorf("Content-Type = %q", got)
	}
	for line := range strings.Lines(answer.Body.String()) {
		sample, exemplar, _ := strings.Cut(line, " # ")
		if strings.Contains(exemplar, `trace_id="`+trace+`"`) && strings.HasPrefix(sample, "http_server_request_duration_seconds_bucket{") &&
			strings.Contains(sample, `http_route="/api/Orders/creationTxHash/:creationTxHash"`) {
			return
		}
	}
	t.Errorf("no bucket of the request's duration has trace %s as its exemplar", trace)
}

// checkStore requires the path from the request through the cache and the index to the database.
func checkStore(t *testing.T, all map[string]*spans.Span) {
	t.Helper()
	for _, span := range all {
		if span.GetName() != "SELECT events" {
			continue
		}
		if said := attributesOf(span); said["db.system.name"] != "sqlite" || said["db.operation.name"] != "SELECT" || said["db.collection.name"] != "events" {
			t.Errorf("the question to the database says %v", said)
		}
		find := all[string(span.GetParentSpanId())]
		request := all[string(find.GetParentSpanId())]
		got := request.GetName() + ", " + find.GetName()
		if want := "GET /api/Orders/creationTxHash/:creationTxHash, order.find"; got != want {
			t.Errorf("the database was asked below %s, want %s", got, want)
		}
		return
	}
	t.Error("the trace of an order has no question to the database")
}

// TestWhatCannotBeExportedIsOneLineInTheLog exports spans to a missing collector, and ends while another one hangs.
func TestWhatCannotBeExportedIsOneLineInTheLog(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, stopping := range map[string]context.Context{"missing": t.Context(), "hangs": ended} {
		t.Run(name, func(t *testing.T) {
			collector := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
			defer collector.Close()
			if name == "missing" {
				must.Do(t, collector.Close())
			}
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:canary-password@"+collector.Addr().String())
			t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
			t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1") // each span is exported separately
			var log written
			restoreTelemetry(t)
			telemetry := must.Get(gateway.StartTelemetry(t.Context(), config.Telemetry{Share: 1},
				gateway.NewLogger(&log, config.LogJSON, slog.LevelInfo)))(t)
			for range 3 {
				_, span := otel.Tracer("test").Start(t.Context(), "span")
				span.End()
			}
			telemetry.Stop(stopping) // which exports what is left
			text := log.String()
			if got := strings.Count(text, `"telemetry not exported"`); got != 1 || !strings.Contains(text, `"level":"WARN"`) {
				t.Errorf("the log has %d lines about it, want 1:\n%s", got, text)
			}
			if strings.Contains(text, "canary") {
				t.Errorf("the log tells the password: %s", text)
			}
		})
	}
}
