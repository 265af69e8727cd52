package admin

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/proxy/web"
)

func TestOnlyOperatorsCommand(t *testing.T) {
	s, closed := handlerOf(gateway{}, adminToken), handlerOf(gateway{}, "")
	for name, test := range map[string]struct {
		handler http.Handler
		target  string
		headers []string
		status  int
	}{
		"no token is configured": {closed, "/endpoints/1/node/cordon", []string{"Authorization: Bearer "}, 401},
		"another token":          {s, "/endpoints/1/node/cordon", []string{"Authorization: Bearer x"}, 401},
		"another origin":         {s, "/endpoints/1/node/cordon", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, 403},
		"an origin alone":        {s, "/purge?chain=1", []string{"Origin: https://evil.example"}, 403},
		"no such endpoint":       {s, "/endpoints/1/node/cordon", nil, 404},
		"nothing to purge":       {s, "/purge", nil, 400},
		"no id":                  {s, "/purge?order=7", nil, 400},
		"no chain":               {s, "/purge?chain=x", nil, 400},
		"a chain of nobody":      {s, "/purge?chain=5", nil, 400},
		"a path alone":           {s, "/purge?path=/a", nil, 400},
		"no way to purge":        {s, "/purge?chain=1&how=gently", nil, 400},
		"a path of no host":      {s, "/purge?chain=1&path=/a", nil, 400},
		"an unknown host":        {s, "/purge?host=x&chain=1", nil, 400},
		"as it should be":        {s, "/purge?chain=1", nil, 200},
		"no such command":        {s, "/endpoints/1/node/remove", nil, 404},
	} {
		if got := post(test.handler, test.target, test.headers...); got.Code != test.status {
			t.Errorf("%s: HTTP %d, want %d", name, got.Code, test.status)
		}
	}
}

func TestCommandsTellTheLogWhoRanThem(t *testing.T) {
	var log bytes.Buffer
	handler := (&admin{Options: Options{
		Server: server{}, Gateway: gateway{}, Pages: web.New(chain.Documented()), Token: adminToken, Metrics: http.NotFoundHandler(), Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}}).handler()
	post(handler, "/purge?chain=1&chain=137&how=hard")
	if got := post(handler, "/purge?host=orders&path=/a&path=/b&chain=1"); strings.TrimSpace(got.Body.String()) != `{"purged":3}` {
		t.Errorf("a host, with two paths, and a chain: %s", got.Body)
	}
	golden.Contains(t, "the log", log.String(),
		`msg="operator purged cached answers" hard=true orders=0 chains=2 hosts=[] paths=0 by=192.0.2.1:1234`,
		`msg="operator purged cached answers" hard=false orders=0 chains=1 hosts=[orders] paths=2 by=192.0.2.1:1234`,
	)
}

func TestHistoryHasTheLatestSamplesOfWhatIsKnown(t *testing.T) {
	pulse := Pulse{Lag: 7 * time.Second, Calls: 3.5, Unusable: 1}
	var h history
	h.add(cache.Stats{Hits: 60, Stales: 20, Misses: 20, Failed: 5}, pulse)
	if got := h.lines(); got != nil {
		t.Errorf("lines of one sample: %v", got)
	}
	h.add(cache.Stats{Hits: 60, Stales: 20, Misses: 20, Failed: 5}, Pulse{Lag: -1})
	want := []struct {
		most, newest string
		paths        []string
	}{
		{"10", "0", []string{"0,0.0 1,24.0 "}},
		{"80 %", "–", []string{"0,0.0 "}},
		{"0.5", "0", []string{"0,12.0 1,24.0 "}},
		{"3.5", "0", []string{"0,0.0 1,24.0 "}},
		{"7 s", "–", []string{"0,0.0 "}},
		{"1", "0", []string{"0,0.0 1,24.0 "}},
	}
	for i, line := range h.lines() {
		if line.Most() != want[i].most || line.Newest() != want[i].newest || line.Paths()[0] != want[i].paths[0] {
			t.Errorf("%s: most %s, newest %s, drawn as %q, want %v", line.Name, line.Most(), line.Newest(), line.Paths(), want[i])
		}
	}
	for range mostSamples {
		h.add(cache.Stats{Hits: 60, Stales: 20, Misses: 20, Failed: 5}, pulse)
	}
	if got := len(h.lines()[0].Values); got != mostSamples {
		t.Errorf("%d samples are kept, want %d", got, mostSamples)
	}
}

// TestOnlyOwnHostsAreAnswered uses host names that an outsider could point here, and those that scrapers use.
func TestOnlyOwnHostsAreAnswered(t *testing.T) {
	handler := (&admin{Options: Options{
		Server: server{}, Gateway: gateway{}, Token: adminToken, Listen: "gateway.ops.example.com:9464",
		Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
	}}).handler()
	machine := must.Get(os.Hostname())(t)
	for host, isOwn := range map[string]bool{
		"": true, "127.0.0.1:9464": true, "127.0.0.1": true, "[::1]:9464": true, "[::1]": true, "10.1.2.3:9464": true, "localhost:9464": true,
		"LOCALHOST": true, "localhost.": true, "crossgate.localhost:9464": true, machine + ":9464": true,
		"crossgate:9464": true, "my_gateway": true, "dev:9464": true, "crossgate.crossgate_default:9464": true, // compose
		"crossgate.monitoring:9464": true, "crossgate.monitoring.svc": true, "crossgate-0.crossgate.monitoring.svc.cluster.local:9464": true,
		"host.docker.internal": true, "gateway.ops.example.com:9464": true, "Gateway.Ops.Example.Com.": true,
		"evil.example:9464": false, "evil.test": false, "example.com": false, "ops.example.com": false, "evil.co.uk:9464": false,
		"localhost.evil.com": false, "127.0.0.1.nip.io:9464": false, "evil.github.io": false, "evil.com.": false, "evil.xn--p1ai": false,
	} {
		for _, path := range []string{"/metrics", "/debug/pprof/cmdline", "/readyz", "/healthz"} {
			for way, change := range map[string]func(*http.Request){
				"plain":         func(*http.Request) {},
				"with token":    func(r *http.Request) { r.Header.Set("Authorization", "bearer "+adminToken) },
				"another token": func(r *http.Request) { r.Header.Set("Authorization", "Bearer another") },
				"by TLS":        func(r *http.Request) { r.TLS = &tls.ConnectionState{} },
			} {
				r, answer := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody), httptest.NewRecorder()
				r.Host = host
				change(r)
				handler.ServeHTTP(answer, r)
				isWelcome := isOwn || way == "with token" || way == "by TLS"
				isRefused := answer.Code == http.StatusMisdirectedRequest && strings.Contains(answer.Body.String(), "telemetry.token")
				if isWelcome != (answer.Code == http.StatusOK) || isWelcome == isRefused {
					t.Errorf("%s of %q, %s: %d %s", path, host, way, answer.Code, answer.Body)
				}
			}
		}
	}
}
