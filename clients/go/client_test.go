package crossgate

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
)

// TestReadsAreAskedForWithoutABody looks at what a GET carries: some balancers refuse one with a body. The gateway is
// below a path that ends with a slash, and is killed during its first answer to each question.
func TestReadsAreAskedForWithoutABody(t *testing.T) {
	bodies := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := "{}"
		if _, isAgain := bodies[r.Method+r.URL.Path]; !isAgain {
			answer = "{"
		}
		bodies[r.Method+r.URL.Path] = string(body)
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, answer)
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

// TestAnswersOfOthersNameTheRequest is given a URL of something else, and then of nothing.
func TestAnswersOfOthersNameTheRequest(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, err := (&Client{URL: server.URL}).Ask(t.Context(), http.MethodGet, "/x", nil, nil)
	if want := "GET /x: status 404 without an error of the API"; err == nil || err.Error() != want {
		t.Errorf("Ask = %v, want %s", err, want)
	}
	server.Close()
	_, err = (&Client{URL: server.URL, Tries: 2}).Ask(t.Context(), http.MethodGet, "/x", nil, nil)
	if _, isAnswer := err.(*Error); err == nil || isAnswer {
		t.Errorf("without a gateway: %v, want an error of the connection", err)
	}
}

// gateway answers a watch: each stream is an event. It refuses the second stream, or the second record, or never
// answers that.
type gateway struct {
	status              int
	refusal, retryAfter string
	isRecord            bool

	records int
	streams []string // the last events that they were to resume after
}

func (g *gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	isStream := r.Header.Get("Accept") == "text/event-stream"
	if isStream {
		g.streams = append(g.streams, r.Header.Get("Last-Event-ID"))
	} else {
		g.records++
	}
	switch {
	case isStream && !g.isRecord && len(g.streams) == 2, !isStream && g.isRecord && g.records == 2:
		if g.status == 0 {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		}
		answer.Header().Set("Retry-After", g.retryAfter)
		answer.WriteHeader(g.status)
		_, _ = io.WriteString(answer, `{"errorId":"`+g.refusal+`"}`)
	case isStream:
		_, _ = io.WriteString(answer, "id: 5\nevent: happened\n\n")
	default:
		state := map[bool]string{false: "Created", true: "ClaimedUnlock"}[len(g.streams) == 3]
		_, _ = io.WriteString(answer, `{"state":"`+state+`"}`)
	}
	return answer.Result(), nil
}

// TestAWatchOutlivesRefusals covers a client that slept for longer than events are kept, a restored database, and
// gateways that ask for time: within a minute it is waited for, a longer one is an error.
func TestAWatchOutlivesRefusals(t *testing.T) {
	const all, busy = "Created, ClaimedUnlock", http.StatusServiceUnavailable
	for _, c := range []struct {
		gateway gateway
		want    string
		takes   time.Duration
	}{
		{gateway{status: http.StatusGone, refusal: "CURSOR_EXPIRED"}, all, 2 * time.Second},
		{gateway{status: http.StatusBadRequest, refusal: "CURSOR_UNKNOWN"}, all, 2 * time.Second},
		{gateway{status: http.StatusTooManyRequests, refusal: "QUOTA_EXCEEDED", retryAfter: "20"}, all, 21 * time.Second},
		{gateway{status: busy, refusal: "TOO_MANY_STREAMS", retryAfter: "45"}, all, 46 * time.Second},
		{gateway{status: busy, refusal: "OVERLOADED", retryAfter: "45", isRecord: true}, all, 46 * time.Second},
		{gateway{}, all, 47 * time.Second},
		{gateway{isRecord: true}, all, 47 * time.Second},
		{gateway{status: busy, refusal: "OVERLOADED", retryAfter: "90"}, "Created, OVERLOADED:  (request )", time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, begun, got := &c.gateway, time.Now(), []string{}
			client := &Client{HTTP: &http.Client{Transport: g}, URL: "http://gateway"}
			for o, err := range client.WatchOrder(t.Context(), "0x1") {
				got = append(got, o.State)
				if err != nil {
					got[len(got)-1] = err.Error()
				}
			}
			if took := time.Since(begun); strings.Join(got, ", ") != c.want || took != c.takes {
				t.Errorf("%s: %q after %v and streams after %q, want %q after %v", g.refusal, got, took, g.streams, c.want, c.takes)
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
