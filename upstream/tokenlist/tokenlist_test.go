package tokenlist_test

import (
	"net/http"
	"strings"
	"testing"

	"crossgate/internal/pooltest"
	"crossgate/upstream"
	"crossgate/upstream/tokenlist"
)

func poolOf(t *testing.T, handler http.HandlerFunc) *upstream.Pool {
	t.Helper()
	return upstream.NewPool("lists", pooltest.Serve(t, "list", handler, upstream.EndpointOptions{URL: "/tokens?query=verified&key=secret"}))
}

func TestFetchAsksByTheURLOfTheEndpoint(t *testing.T) {
	pool := poolOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("query") != "verified" {
			t.Errorf("asked %s, want the query of the endpoint's URL", r.URL)
		}
		_, _ = w.Write([]byte(`{"tokens":[]}`))
	})
	if text, err := tokenlist.Fetch(t.Context(), pool); err != nil || string(text) != `{"tokens":[]}` {
		t.Fatalf("Fetch = %q, %v", text, err)
	}
}

func TestFetchFailsAtWhatIsNoList(t *testing.T) {
	for _, status := range []int{http.StatusNotModified, http.StatusMovedPermanently, http.StatusNotFound, http.StatusTooManyRequests, http.StatusInternalServerError} {
		pool := poolOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if _, err := tokenlist.Fetch(t.Context(), pool); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("HTTP %d: %v, want an error without the URL", status, err)
		}
	}
}
