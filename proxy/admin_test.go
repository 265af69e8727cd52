package proxy

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"crossgate/proxy/web"
)

// operate asks what operators ask.
func operate(t *testing.T, s *Server, path string) *http.Response {
	t.Helper()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "measured 1\n") })
	answer := httptest.NewRecorder()
	s.Admin(metrics).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return answer.Result()
}

func TestOperatorsSeeEveryDependency(t *testing.T) {
	chain := Dependency{Kind: "chain", Name: "8453", State: "its head is not known yet"}
	s := newWorld(t).server(t, func(o *Options) {
		o.Dependencies = func(context.Context) []Dependency { return []Dependency{chain} }
	})
	for path, want := range map[string]string{
		"/metrics": "measured 1", "/healthz": `"ok"`, "/debug/pprof/": "goroutine", "/debug/pprof/cmdline": "proxy.test",
	} {
		response := operate(t, s, path)
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s = %d %.200s (%v), want %q in it", path, response.StatusCode, body, err, want)
		}
	}
	for _, draining := range []bool{false, true} {
		s.draining.Store(draining)
		response := operate(t, s, "/readyz")
		var said readiness
		if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusOK == draining || said.Status == "ok" == draining || said.Reason != "" != draining {
			t.Errorf("draining %t: /readyz = %d %+v", draining, response.StatusCode, said)
		}
		if len(said.Dependencies) != 1 || said.Dependencies[0] != chain {
			t.Errorf("dependencies = %+v, want %+v", said.Dependencies, chain)
		}
	}
}

// TestOperatorsHaveAPage wants the page with what it loads, and nothing that another page could use of it.
func TestOperatorsHaveAPage(t *testing.T) {
	s := newWorld(t).server(t, func(o *Options) {
		o.Condition = func(context.Context) web.Condition {
			return web.Condition{Venues: []web.Venue{{Name: "odos", Won: 7}}}
		}
	})
	get(s, ordersPath+claimedTx) // something to count
	response := operate(t, s, "/")
	page := string(body(t, response))
	if response.StatusCode != http.StatusOK || !strings.Contains(page, "All is well") || !strings.Contains(page, ">odos</th><td class=\"number\">7<") {
		t.Errorf("GET / = %d %s", response.StatusCode, page)
	}
	if got := response.Header.Get("Content-Security-Policy"); got != web.Policy {
		t.Errorf("Content-Security-Policy = %q", got)
	}
	if !strings.Contains(page, "<dt>Loads</dt><dd class=\"number\">1<") {
		t.Errorf("the cache's loads are not told: %s", page)
	}
	loaded := regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(loaded) < 3 {
		t.Errorf("the page loads %v, want its icon, style and script", loaded)
	}
	for _, each := range append(loaded, []string{"", "/assets/parts.js"}) {
		if got := operate(t, s, each[1]).StatusCode; got != http.StatusOK {
			t.Errorf("GET %s = %d", each[1], got)
		}
	}
	for _, path := range []string{"/order", "/assets/", "/assets/nothing", "/nothing"} {
		if got := operate(t, s, path).StatusCode; got != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, got)
		}
	}
	s.draining.Store(true)
	if page := string(body(t, operate(t, s, "/"))); !strings.Contains(page, "requests are sent elsewhere: the server is stopping") {
		t.Errorf("a server that stops is told as well: %s", page)
	}
}

// TestPublicSideHasNoOperators makes sure that nothing of Admin can be reached where everybody can ask.
func TestPublicSideHasNoOperators(t *testing.T) {
	s := newWorld(t).server(t)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		if got := get(s, path).StatusCode; got != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, got)
		}
	}
}
