package tokenlist_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"crossgate/internal/pooltest"
	"crossgate/upstream"
	"crossgate/upstream/tokenlist"
)

func poolOf(t *testing.T, handler http.HandlerFunc) *upstream.Pool {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return pooltest.At(t, server.URL+"/tokens?query=verified&key=secret")
}

func TestFetchAsksForWhatIsNew(t *testing.T) {
	pool := poolOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("query") != "verified" {
			t.Errorf("asked %s, want the query of the endpoint's URL", r.URL)
		}
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") == `"one"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(`{"tokens":[]}`))
	})
	text, etag, err := tokenlist.Fetch(t.Context(), pool, "")
	if err != nil || string(text) != `{"tokens":[]}` || etag != `"one"` {
		t.Fatalf("Fetch = %q, %q, %v", text, etag, err)
	}
	if _, _, err := tokenlist.Fetch(t.Context(), pool, `"zero"`); err != nil {
		t.Errorf("Fetch with another ETag = %v, want the list", err)
	}
	if _, etag, err := tokenlist.Fetch(t.Context(), pool, etag); !errors.Is(err, tokenlist.ErrSame) || etag != `"one"` {
		t.Errorf("Fetch of what is known = %q, %v, want ErrSame", etag, err)
	}
}

func TestFetchFailsAtWhatIsNoList(t *testing.T) {
	for _, status := range []int{http.StatusNotModified, http.StatusMovedPermanently, http.StatusNotFound, http.StatusTooManyRequests, http.StatusInternalServerError} {
		pool := poolOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if _, _, err := tokenlist.Fetch(t.Context(), pool, ""); err == nil || errors.Is(err, tokenlist.ErrSame) || strings.Contains(err.Error(), "secret") {
			t.Errorf("HTTP %d: %v, want an error without the URL", status, err)
		}
	}
}
