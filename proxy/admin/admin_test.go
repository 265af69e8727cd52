package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/proxy/web"
	"crossgate/upstream"
)

const adminToken = "operators-token-of-the-tests"

// server is a public server that is not ready for a reason, or ready.
type server struct{ unready error }

func (s server) Ready() error     { return s.unready }
func (server) Served() web.Served { return web.Served{} }

func (server) Purge(cache.Purge, []order.ID, []chain.ID) {}

func (server) PurgeHosts(_ cache.Purge, hosts, _ []string) error {
	if hosts[0] != "orders" {
		return errors.New("host unknown")
	}
	return nil
}

// gateway has one dependency, the head of a chain that is not known yet, and one endpoint at most, 8453/node.
type gateway struct{ endpoint *upstream.Endpoint }

var base = Dependency{Kind: "chain", Name: "8453", State: "head not known yet"}

func (gateway) Dependencies(context.Context) []Dependency { return []Dependency{base} }
func (gateway) Condition(context.Context) web.Condition   { return web.Condition{} }
func (gateway) Pulse() Pulse                              { return Pulse{} }

func (g gateway) Endpoint(of, name string) *upstream.Endpoint {
	if of != "8453" || name != "node" {
		return nil
	}
	return g.endpoint
}

func handlerOf(g gateway, token string) http.Handler {
	return (&admin{Options: Options{
		Server: server{}, Gateway: g, Token: token, Metrics: http.NotFoundHandler(), Logger: slog.New(slog.DiscardHandler),
	}}).handler()
}

// post sends a request with the operators' token and further headers.
func post(handler http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+target, http.NoBody)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, r)
	return recorder
}

func TestOperatorsSeeEveryDependency(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "measured 1\n") })
	get := func(unready error, path string) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		(&admin{Options: Options{Server: server{unready}, Gateway: gateway{}, Metrics: metrics}}).handler().
			ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil))
		return recorder
	}
	for path, want := range map[string]string{
		"/metrics": "measured 1", "/healthz": `"ok"`, "/debug/pprof/": "goroutine", "/debug/pprof/cmdline": "admin.test",
	} {
		if got := get(nil, path); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), want) {
			t.Errorf("GET %s = %d %.200s, want %q in it", path, got.Code, got.Body, want)
		}
	}
	for _, unready := range []error{nil, errors.New("server is shutting down")} {
		got := get(unready, "/readyz")
		var said readiness
		must.Do(t, json.NewDecoder(got.Body).Decode(&said))
		isReady := unready == nil
		if (got.Code == http.StatusOK) != isReady || (said.Status == "ok") != isReady || (said.Reason == "") != isReady {
			t.Errorf("unready for %v: /readyz = %d %+v", unready, got.Code, said)
		}
		if len(said.Dependencies) != 1 || said.Dependencies[0] != base {
			t.Errorf("dependencies = %+v, want %+v", said.Dependencies, base)
		}
	}
}
