package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/order"
	"crossgate/proxy/web"
	"crossgate/upstream"
)

const adminToken = "operators-token-of-the-tests"

// server is a public server that is ready, or not for a reason.
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

// gateway has one dependency, a chain whose head is not known yet, and at most one endpoint, 8453/node.
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
		Server: server{}, Gateway: g, Pages: web.New(chain.Documented()), Token: token, Metrics: http.NotFoundHandler(), Logger: slog.New(slog.DiscardHandler),
	}}).handler()
}

// post sends a request with the operators' token and further headers.
func post(handler http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	return sent(handler, target, http.NoBody, append([]string{"Authorization: Bearer " + adminToken}, headers...))
}

// sent returns the response to a POST.
func sent(handler http.Handler, target string, body io.Reader, headers []string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+target, body)
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

// submit sends a form as a browser with the status page does.
func submit(handler http.Handler, target string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	return sent(handler, target, strings.NewReader(form.Encode()), append([]string{
		"Content-Type: application/x-www-form-urlencoded", "Accept: text/html,application/xhtml+xml", "Sec-Fetch-Site: same-origin",
	}, headers...))
}

func TestFormsOfTheStatusPageCommand(t *testing.T) {
	node := pooltest.Endpoint(t, "node", nil)
	handler := (&admin{Options: Options{
		Server: server{}, Gateway: gateway{endpoint: node}, Token: adminToken, Metrics: http.NotFoundHandler(), Logger: slog.New(slog.DiscardHandler),
		Pages: web.New(chain.Documented()),
	}}).handler()
	// Fields of a form that a button does not need are empty.
	form := url.Values{"token": {adminToken}, "order": {""}, "chain": {""}, "path": {""}, "how": {"soft"}}
	for _, step := range []struct{ target, done, standing string }{
		{"/token", "token", "ready"},
		{"/endpoints/8453/node/cordon", "cordon", "cordoned"},
		{"/endpoints/8453/node/uncordon", "uncordon", "ready"},
	} {
		got := submit(handler, step.target, form)
		want := "/?done=" + url.QueryEscape(step.done) + "#commands"
		if got.Code != http.StatusSeeOther || got.Header().Get("Location") != want || node.Health().Standing != step.standing {
			t.Errorf("%s: HTTP %d to %s, the endpoint is %s", step.target, got.Code, got.Header().Get("Location"), node.Health().Standing)
		}
		page := httptest.NewRecorder()
		handler.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+want[:strings.IndexByte(want, '#')], http.NoBody))
		if said := commandsDone[step.done]; said == "" || !strings.Contains(page.Body.String(), said) {
			t.Errorf("after %s the page does not say %q", step.target, said)
		}
	}
	got := post(handler, "/endpoints/8453/node/uncordon") // by a program
	if want := `{"endpoint":"8453/node","standing":"ready"}`; got.Code != http.StatusOK || strings.TrimSpace(got.Body.String()) != want {
		t.Errorf("HTTP %d %s, want %s", got.Code, got.Body, want)
	}
	if got := submit(handler, "/purge", url.Values{"token": {adminToken}, "chain": {"1"}, "order": {""}, "how": {"hard"}}); got.Code != http.StatusSeeOther {
		t.Errorf("a purge by a form: HTTP %d %s", got.Code, got.Body)
	}
	node.Cordon()
	for name, test := range map[string]struct {
		target  string
		form    url.Values
		headers []string
		status  int
		said    string
	}{
		"without a token":         {"/endpoints/8453/node/uncordon", url.Values{}, nil, 401, "missing or wrong token"},
		"with another token":      {"/endpoints/8453/node/uncordon", url.Values{"token": {"x"}}, nil, 401, "missing or wrong token"},
		"with the token in a URL": {"/endpoints/8453/node/uncordon?token=" + adminToken, url.Values{}, nil, 401, "missing or wrong token"},
		"from another site":       {"/endpoints/8453/node/uncordon", form, []string{"Sec-Fetch-Site: cross-site"}, 403, ""},
		"of no endpoint":          {"/endpoints/1/node/uncordon", form, nil, 404, "no such endpoint"},
		"of nothing":              {"/purge", form, nil, 400, "nothing to purge"},
		"of no order":             {"/purge", url.Values{"token": {adminToken}, "order": {"0x12"}}, nil, 400, "order must be 0x"},
		"too long":                {"/purge", url.Values{"token": {adminToken}, "path": {strings.Repeat("a", longestForm)}}, nil, 400, "cannot be read"},
	} {
		got := submit(handler, test.target, test.form, test.headers...)
		if got.Code != test.status || !strings.Contains(got.Body.String(), test.said) || strings.Contains(got.Body.String(), adminToken) {
			t.Errorf("%s: HTTP %d, want %d and %q: %.300s", name, got.Code, test.status, test.said, got.Body)
		}
	}
	if got := post(handlerOf(gateway{}, ""), "/token"); got.Code != http.StatusUnauthorized || !strings.Contains(got.Body.String(), "commands require a token") {
		t.Errorf("without a configured token: HTTP %d %s", got.Code, got.Body)
	}
	if standing := node.Health().Standing; standing != "cordoned" {
		t.Errorf("the endpoint is %s after commands that were refused", standing)
	}
}
