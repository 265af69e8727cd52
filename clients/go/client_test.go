package crossgate

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/internal/must"
)

// TestReadsAreAskedForWithoutABody looks at what a GET carries: some balancers refuse one with a body. The gateway is
// below a path that ends with a slash.
func TestReadsAreAskedForWithoutABody(t *testing.T) {
	bodies := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies[r.Method+r.URL.Path] = string(body)
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	c := &Client{URL: server.URL + "/below/"}
	var into struct{}
	for method, body := range map[string]any{http.MethodGet: nil, http.MethodPost: map[string]int{"take": 1}} {
		must.Get(c.Ask(t.Context(), method, "/x", body, &into))(t)
	}
	if want := map[string]string{"GET/below/x": "", "POST/below/x": `{"take":1}`}; !maps.Equal(bodies, want) {
		t.Errorf("the gateway was asked with %q", bodies)
	}
}

// TestAnswersOfOthersNameTheRequest is given a URL of something else.
func TestAnswersOfOthersNameTheRequest(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, err := (&Client{URL: server.URL}).Ask(t.Context(), http.MethodGet, "/x", nil, nil)
	if want := "GET /x: status 404 without an error of the API"; err == nil || err.Error() != want {
		t.Errorf("Ask = %v, want %s", err, want)
	}
}

// gateway answers a watch: each stream is an event, and the cursor of a later one is refused.
type gateway struct {
	refusal string
	streams []string // the last events that they were to resume after
}

func (g *gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	switch last := r.Header.Get("Last-Event-ID"); {
	case r.Header.Get("Accept") != "text/event-stream":
		_, _ = io.WriteString(answer, `{"state":"`+map[bool]string{false: "Created", true: "ClaimedUnlock"}[len(g.streams) == 3]+`"}`)
	case last != "":
		g.streams = append(g.streams, last)
		answer.WriteHeader(http.StatusGone)
		_, _ = io.WriteString(answer, `{"errorId":"`+g.refusal+`"}`)
	default:
		g.streams = append(g.streams, last)
		_, _ = io.WriteString(answer, "id: 5\nevent: happened\n\n")
	}
	return answer.Result(), nil
}

// TestAWatchOutlivesItsCursor covers a client that slept for longer than events are kept, and a restored database.
func TestAWatchOutlivesItsCursor(t *testing.T) {
	for _, refusal := range []string{"CURSOR_EXPIRED", "CURSOR_UNKNOWN"} {
		synctest.Test(t, func(t *testing.T) {
			g, states := &gateway{refusal: refusal}, []string{}
			c := &Client{HTTP: &http.Client{Transport: g}, URL: "http://gateway"}
			for o, err := range c.WatchOrder(t.Context(), "0x1") {
				must.Do(t, err)
				states = append(states, o.State)
			}
			if !slices.Equal(states, []string{"Created", "ClaimedUnlock"}) || strings.Join(g.streams, ",") != ",5," {
				t.Errorf("%s: states %v, streams after %q", refusal, states, g.streams)
			}
		})
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
