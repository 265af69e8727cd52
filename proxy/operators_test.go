package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"crossgate/proxy/web"
)

// operate sends a request to the operators' listener beside s.
func operate(t *testing.T, s *site, path string) *http.Response {
	t.Helper()
	answer := httptest.NewRecorder()
	operatorsOf(s, "").ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil))
	return answer.Result()
}

// TestOperatorsHaveAPage wants the page with what it loads, and nothing that another page could use of it.
func TestOperatorsHaveAPage(t *testing.T) {
	s := newWorld(t).server(t)
	get(s, ordersPath+claimedTx) // something to count
	response := operate(t, s, "/")
	page := string(body(t, response))
	if response.StatusCode != http.StatusOK || !strings.Contains(page, "Healthy") || !strings.Contains(page, ">odos</th><td data-label=\"State\"><span class=\"dot good\">quotes</span></td><td class=\"number\" data-label=\"Won\">7<") {
		t.Errorf("GET / = %d %s", response.StatusCode, page)
	}
	checkDocument(t, "/", page)
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
	s.Drain(true)
	if page := string(body(t, operate(t, s, "/"))); !strings.Contains(page, "not ready: server is shutting down") {
		t.Errorf("a server that stops is told as well: %s", page)
	}
}

// TestPublicSideHasNoOperators makes sure that nothing of the operators' listener can be reached where everybody can ask.
func TestPublicSideHasNoOperators(t *testing.T) {
	s := newWorld(t).server(t)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		if got := get(s, path).StatusCode; got != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, got)
		}
	}
}
