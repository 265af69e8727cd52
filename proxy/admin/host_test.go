package admin

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// TestOnlyOwnHostsAreAnswered asks by names that an outsider could have lead here, and by those that scrapers use.
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
