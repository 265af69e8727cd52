package stories_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// canary replaces a key wherever a configuration may have one.
const canary = "canary-7c41e9d2b6"

// gossip answers every call with everything that it knows of the caller's keys, each time in another way.
func gossip(t *testing.T) string {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard := r.URL.String() + " " + strings.ReplaceAll(fmt.Sprint(r.Header), `"`, "'")
		switch calls.Add(1) % 6 {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
		case 1:
			w.WriteHeader(http.StatusUnauthorized)
		case 2:
			w.Header().Set("Location", "http://"+r.Host+"/elsewhere?"+heard)
			w.WriteHeader(http.StatusFound)
		case 3:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no plan for %s"}}`, heard)
			return
		case 4:
			_, _ = fmt.Fprintf(w, `{"code":"51000","msg":"bad key %s","message":"bad key %s"}`, heard, heard)
			return
		case 5:
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "nonsense "+heard+"\r\n\r\n")
				conn.Close()
			}
			return
		}
		_, _ = fmt.Fprintf(w, `{"message":"bad key %s","error":"%s","code":"%s"}`, heard, heard, heard)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// withCanaries puts keys everywhere, from variables and from files that variables point to: chains ask a gossip first,
// then their nodes by URLs with keys; venues with a key ask only the gossip.
func withCanaries(t *testing.T, world *sandbox.World) config.Config {
	t.Helper()
	c := configOf(t, world)
	t.Setenv("CROSSGATE_CANARY", canary)
	mounted := filepath.Join(t.TempDir(), "mounted")
	must.Do(t, os.WriteFile(mounted, []byte(canary+"-mounted\n"), 0o600))
	t.Setenv("CROSSGATE_MOUNTED_FILE", mounted)
	tattling := gossip(t)
	parsed := must.Get(config.Parse(fmt.Appendf(nil, `
chains:
  - id: 1
    endpoints:
      - {name: gossip, url: "%[1]s/v3/${CROSSGATE_CANARY}?key=${CROSSGATE_CANARY}-query",
         headers: {X-Api-Key: "${CROSSGATE_CANARY}-header", X-Mounted: "${CROSSGATE_MOUNTED}"}}
      - {name: unreachable, url: "http://user:${CROSSGATE_CANARY}-password@127.0.0.1:9/${CROSSGATE_MOUNTED}"}
      - {name: labelled, url: "http://${CROSSGATE_CANARY}.invalid:9/", websocket: "ws://${CROSSGATE_CANARY}.invalid:9/${CROSSGATE_CANARY}"}
      - {name: named, url: "http://${CROSSGATE_CANARY}:9/"}
venues: [{name: oneinch, key: "${CROSSGATE_MOUNTED}-venue", endpoints: [{url: "%[1]s/${CROSSGATE_CANARY}"}]}]
`, tattling)))(t)
	for i := range c.Chains {
		known := c.Chains[i].Endpoints
		for j := range known {
			known[j].URL = config.NewSecret(known[j].URL.Reveal() + "?apikey=" + canary)
		}
		c.Chains[i].Endpoints = append(append([]config.Endpoint{}, parsed.Chains[0].Endpoints...), known...)
	}
	for i := range c.Venues {
		if c.Venues[i].Key.Reveal() != "" {
			parts := 1 + strings.Count(c.Venues[i].Key.Reveal(), ":")
			c.Venues[i].Key = config.NewSecret(strings.TrimSuffix(strings.Repeat(parsed.Venues[0].Key.Reveal()+":", parts), ":"))
			c.Venues[i].Endpoints = parsed.Venues[0].Endpoints
		}
	}
	return c
}

// written collects everything that a process writes, from several goroutines.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestNoKeyIsEverTold has upstreams repeat every key in every way, and looks for one in everything that leaves the
// process: answers, the full log, spans, metrics, the operators' pages, and configuration errors.
func TestNoKeyIsEverTold(t *testing.T) {
	telemetry := startTelemetry(t)
	recorder := recordSpans(t)
	world := sandboxtest.Shared(t)
	c := withCanaries(t, world)
	var log, answers written
	c.Cache.Shared = config.NewSecret("redis://user:" + canary + "@127.0.0.1:9/0") // where nobody is
	c.Telemetry.Log, c.Telemetry.Level = config.LogJSON, slog.LevelDebug
	url, admin := runLogged(t, c, telemetry, &log)

	facts := factsOf(t, world)
	statuses := make(map[int]int)
	for _, path := range []string{
		"/api/Orders/creationTxHash/" + facts.Orders[0].CreationTxHash,
		"/api/Orders/creationTxHash/0x" + strings.Repeat("ef", 32),
		"/api/Orders/creationTxHash/0x12",
		"/api/Orders/" + facts.Orders[0].OrderID,
		"/api/Satistics/" + facts.Takers[0].Address + "/lockedAssets",
		swapPath(facts), swapPath(facts) + "&slippage=200",
		strings.Replace(swapPath(facts), "transaction?", "transaction/explain?", 1),
		strings.Replace(swapPath(facts), "chainId=1&", "chainId=424242&", 1),
		"/v1.0/supported-chains-info", "/readyz", "/nowhere",
	} {
		for range 3 {
			statuses[tell(t, url+path, &answers)]++
		}
	}
	if statuses[http.StatusOK] == 0 || statuses[http.StatusBadRequest] == 0 || statuses[http.StatusNotFound] == 0 {
		t.Errorf("statuses = %v, want answers and refusals among them", statuses)
	}
	for _, path := range []string{"/", "/metrics", "/readyz", "/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=1"} {
		tell(t, admin+path, &answers)
	}
	said := fmt.Sprintf("%v %+v %#v %v", c, c.Chains, c.Venues, gateway.Check(c))
	spans := fmt.Sprint(tracetest.SpanStubsFromReadOnlySpans(recorder.Ended()))
	for place, text := range map[string]string{
		"the log": log.String(), "answers": answers.String(), "spans": spans, "the configuration as printed": said,
	} {
		if at := strings.Index(text, "canary-"); at >= 0 {
			t.Errorf("%s tell a key: …%.400s", place, text[max(at-300, 0):])
		}
	}
	for place, want := range map[string]string{log.String(): "requestId", spans: "rpc.system.name", answers.String(): "crossgate_upstream_failures_total"} {
		if !strings.Contains(place, want) {
			t.Errorf("%q is nowhere in %.200s: the test looks at nothing", want, place)
		}
	}
}

// tell appends an answer with its headers to out and returns its status.
func tell(t *testing.T, url string, out io.Writer) int {
	t.Helper()
	response, body := ask(t, http.MethodGet, url, "")
	fmt.Fprintf(out, "%v\n%s\n", response.Header, body)
	return response.StatusCode
}

// runLogged runs a gateway with its admin listener until the test ends.
func runLogged(t *testing.T, c config.Config, telemetry *gateway.Telemetry, log io.Writer) (url, admin string) {
	t.Helper()
	g := must.Get(gateway.New(t.Context(), c, gateway.NewLogger(log, c.Telemetry.Log, c.Telemetry.Level)))(t)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	serve := func(run func(net.Listener) error) string {
		listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
		running.Go(func() {
			if err := run(listener); err != nil {
				t.Error(err)
			}
		})
		return "http://" + listener.Addr().String()
	}
	url = serve(func(l net.Listener) error { return g.Run(ctx, l) })
	admin = serve(func(l net.Listener) error { return g.RunAdmin(ctx, l, telemetry) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	must.Do(t, g.AwaitIndexed(t.Context()))
	return url, admin
}
