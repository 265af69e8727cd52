package stories_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"crossgate/config"
	"crossgate/gateway"
)

// reluctant is two endpoints of a chain. Once they are told to, the one that is first asked about a token stops
// answering; those who follow the chain ask about blocks and events.
type reluctant struct {
	mu     sync.Mutex
	token  []byte // its address in hex digits; nil: both answer
	silent string // the one that stopped
}

func (r *reluctant) arm(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.token = []byte(strings.ToLower(strings.TrimPrefix(token, "0x")))
}

func (r *reluctant) isSilent(name string, body []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.token != nil && r.silent == "" && bytes.Contains(bytes.ToLower(body), r.token) {
		r.silent = name
	}
	return r.silent == name
}

// before puts the endpoints in front of the one that c has for a chain.
func (r *reluctant) before(t *testing.T, c *config.Chain) {
	t.Helper()
	behind, err := url.Parse(c.Endpoints[0].URL.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL = behind }}
	c.Endpoints = nil
	for _, name := range []string{"near", "far"} {
		serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			body, err := io.ReadAll(request.Body)
			if err != nil {
				return
			}
			if r.isSilent(name, body) {
				<-request.Context().Done()
				return
			}
			request.Body = io.NopCloser(bytes.NewReader(body))
			forward.ServeHTTP(w, request)
		}))
		t.Cleanup(serving.Close)
		c.Endpoints = append(c.Endpoints, config.Endpoint{Name: name, URL: config.NewSecret(serving.URL)})
	}
}

// TestATraceTellsOfHedgesAndTheStore asks for an order that is in the store, and for a swap while an endpoint has
// stopped answering.
func TestATraceTellsOfHedgesAndTheStore(t *testing.T) {
	r, telemetry := startCollector(t)
	world, c := tracedWorld(t)
	var endpoints reluctant
	endpoints.before(t, &c.Chains[0])                               // of the chain that swapPath asks about
	c.Swap.Window, c.Swap.Deadline = 10*time.Second, 20*time.Second // a hedge begins long before they are half over
	at, _ := runLogged(t, c, telemetry, io.Discard)
	var facts worldJSON
	get(t, world.URL()+"/sandbox/world", &facts)
	const orderTrace, swapTrace = "6bf92f3577b34da6a3ce929d0e0e4736", "7bf92f3577b34da6a3ce929d0e0e4736"
	if status := traced(t, at+"/api/Orders/creationTxHash/"+facts.Orders[0].CreationTxHash, orderTrace, "01", nil); status != http.StatusOK {
		t.Fatalf("the order = %d", status)
	}
	swap := swapPath(facts)
	asked, err := url.Parse(swap)
	if err != nil {
		t.Fatal(err)
	}
	endpoints.arm(asked.Query().Get("tokenOut"))
	if status := traced(t, at+swap, swapTrace, "01", nil); status != http.StatusOK {
		t.Fatalf("the swap = %d", status)
	}
	if err := telemetry.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkStore(t, r.of(orderTrace))
	checkHedge(t, r.of(swapTrace))
	checkExemplar(t, telemetry, orderTrace)
}

// checkExemplar wants the duration of a traced request to lead to its trace, where Prometheus asks for OpenMetrics.
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

// checkStore wants the way from the request through the cache and the index into the database.
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

// checkHedge wants an attempt that overtook another one, beside the one that it overtook.
func checkHedge(t *testing.T, all map[string]*spans.Span) {
	t.Helper()
	var hedges []map[string]string
	for _, hedge := range all {
		said := attributesOf(hedge)
		if said["crossgate.hedge"] == "won" && said["crossgate.outcome"] == "ok" && wasOvertaken(all, hedge) {
			return
		}
		if said["crossgate.hedge"] != "" {
			hedges = append(hedges, said)
		}
	}
	t.Errorf("no hedge of the trace overtook an attempt beside it: %v", hedges)
}

// wasOvertaken finds the attempt at the other endpoint that a hedge was faster than.
func wasOvertaken(all map[string]*spans.Span, hedge *spans.Span) bool {
	for _, first := range all {
		said := attributesOf(first)
		if string(first.GetParentSpanId()) == string(hedge.GetParentSpanId()) && first.GetName() == hedge.GetName() &&
			said["crossgate.endpoint"] != attributesOf(hedge)["crossgate.endpoint"] && said["crossgate.outcome"] != "ok" {
			return true
		}
	}
	return false
}
