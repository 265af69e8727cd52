package crossgate

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
)

// TestReadsAreAskedForWithoutABody looks at what a GET carries: some balancers refuse one with a body.
func TestReadsAreAskedForWithoutABody(t *testing.T) {
	bodies := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies[r.Method] = string(body)
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	c := &Client{URL: server.URL}
	var into struct{}
	for method, body := range map[string]any{http.MethodGet: nil, http.MethodPost: map[string]int{"take": 1}} {
		must.Get(c.Ask(t.Context(), method, "/", body, &into))(t)
	}
	if bodies[http.MethodGet] != "" || bodies[http.MethodPost] != `{"take":1}` {
		t.Errorf("the gateway was asked with %q", bodies)
	}
}

// TestChainsAreNumberedAsDocumented compares the table with the gateway's own.
func TestChainsAreNumberedAsDocumented(t *testing.T) {
	renumbered := 0
	for _, facts := range chain.Documented().All() {
		native := ChainID(facts.Native)
		if facts.Native == 0 { // Solana
			native = ChainID(facts.ID)
		}
		if native.API() != uint64(facts.ID) {
			t.Errorf("the API's number of %s (%d) = %d, want %d", facts.Name, native, native.API(), facts.ID)
		}
		if uint64(native) != uint64(facts.ID) {
			renumbered++
		}
	}
	if renumbered != len(apiIDs) {
		t.Errorf("%d chains are renumbered, the table has %d", renumbered, len(apiIDs))
	}
}
