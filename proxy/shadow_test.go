package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"crossgate/internal/golden"
	"crossgate/internal/pooltest"
	"crossgate/proxy"
	"crossgate/proxy/shadow"
	"crossgate/upstream"
)

// compareAll makes every answer be compared.
func compareAll(settings *shadow.Settings) {
	settings.Share = 1
	settings.Paths = map[string]string{"/": "orders"}
}

// withShadow returns a server whose answers are compared with an origin's. ended waits for all comparisons.
func withShadow(t *testing.T, answer http.HandlerFunc, change ...func(*shadow.Settings)) (s *site, ended func()) {
	t.Helper()
	endpoint := pooltest.Serve(t, "origin", answer, upstream.EndpointOptions{Forwards: true})
	var settings shadow.Settings
	compareAll(&settings)
	for _, each := range change {
		each(&settings)
	}
	s = newWorld(t).server(t, func(o *parts) {
		o.Passthrough = proxy.Passthrough{Origins: origins{upstream.NewPool("origin", endpoint)}, Shadow: settings}
	})
	return s, s.Shadowed().Wait
}

// outcomes returns the outcomes of comparisons, one line per route and outcome.
func outcomes(s *site) []string {
	var all []string
	for _, c := range s.Served().Compared {
		all = append(all, c.Of+" "+c.Outcome+" "+strings.Repeat("|", int(c.Times)))
	}
	return all
}

func TestAnswersAreComparedWithTheOrigins(t *testing.T) {
	var got []string
	answers := map[string]string{}
	s, ended := withShadow(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.RequestURI()+" "+string(sent)+r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		text, is := answers[r.URL.Path]
		if !is {
			http.Error(w, `{"errorId":"TRANSACTION_NOT_FOUND"}`, http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, text)
	})
	claimed := string(body(t, get(s, ordersPath+claimedTx)))
	ended()
	answers[ordersPath+claimedTx] = claimed
	get(s, ordersPath+claimedTx+"?accesstoken=secret", "Authorization", "Bearer secret", "Cookie", "a=b")
	ended()
	answers[ordersPath+claimedTx] = strings.Replace(claimed, `"makerOrderNonce":`, `"promotion":1,"makerOrderNonce":1`, 1)
	get(s, strings.ToUpper(ordersPath)+claimedTx+"/")
	ended()
	get(s, ordersPath+unknownIs)
	ended()
	list := `{"take":2}`
	serve(s, httptest.NewRequest(http.MethodPost, "/api/Orders/filteredList", strings.NewReader(list)))
	ended()
	for _, each := range []string{"/", "/healthz", "/api/Statistics/getAllTime", "/v1.0/chain/transaction/explain?chainId=1"} {
		get(s, each) // not compared: the origin has none of these
	}
	do(s, http.MethodHead, ordersPath+claimedTx)
	ended()
	want := []string{
		"GET " + ordersPath + claimedTx + " ", "GET " + ordersPath + claimedTx + " ", "GET " + ordersPath + claimedTx + " ",
		"GET " + ordersPath + unknownIs + " ", "POST /api/Orders/filteredList " + list,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the origin was asked %q, want %q", got, want)
	}
	const route = ordersPath + ":creationTxHash"
	if got, want := outcomes(s), []string{
		route + " different |", route + " expected |", route + " same ||", "/api/Orders/filteredList expected |",
	}; !slices.Equal(got, want) {
		t.Errorf("came to %q, want %q", got, want)
	}
	page := string(body(t, operate(t, s, "/")))
	golden.Contains(t, "the status page", page, "Answers compared with the origin", "makerOrderNonce", "<td>expected</td>", "promotion", claimedTx)
	if strings.Contains(page, "secret") {
		t.Error("the status page tells a client's key")
	}
}

// TestNobodyWaitsForComparisons has an origin that does not answer until all clients have their answers.
func TestNobodyWaitsForComparisons(t *testing.T) {
	const most = 4
	release := make(chan struct{})
	var asked atomic.Int64
	s, ended := withShadow(t, func(_ http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-release
	})
	want := body(t, get(s, ordersPath+claimedTx))
	for range 20 {
		if response := get(s, ordersPath+claimedTx); response.StatusCode != http.StatusOK || string(body(t, response)) != string(want) {
			t.Fatalf("the answer changed: %d", response.StatusCode)
		}
	}
	close(release)
	ended()
	if got := asked.Load(); got > most {
		t.Errorf("%d comparisons at once, want %d", got, most)
	}
	const route = ordersPath + ":creationTxHash"
	if got, want := outcomes(s), []string{route + " dropped " + strings.Repeat("|", 21-most), route + " failed " + strings.Repeat("|", most)}; !slices.Equal(got, want) {
		t.Errorf("came to %q, want %q", got, want)
	}
}

func TestWhatIsComparedCanChange(t *testing.T) {
	var asked atomic.Int64
	s, ended := withShadow(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) }, func(settings *shadow.Settings) { settings.Share = 0 })
	for _, step := range []struct {
		name   string
		change func(*shadow.Settings)
		want   int64
	}{
		{"off", func(settings *shadow.Settings) { settings.Share = 0 }, 0},
		{"on", func(*shadow.Settings) {}, 1},
		{"for other paths", func(settings *shadow.Settings) { settings.Paths = map[string]string{"/v1.0": "orders"} }, 1},
	} {
		var settings shadow.Settings
		compareAll(&settings)
		step.change(&settings)
		s.SetShadow(settings)
		get(s, ordersPath+claimedTx)
		ended()
		if got := asked.Load(); got != step.want {
			t.Errorf("%s: %d requests, want %d", step.name, got, step.want)
		}
	}
}
