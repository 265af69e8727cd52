package stories_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"crossgate/internal/measured"
	"crossgate/sandbox/sandboxtest"
)

// TestShadowFindsWhatDiffers has a gateway compare its answers with those of another one, the origin, which are altered on
// their way: each comes to what it is. proxy/shadow has every kind of difference.
func TestShadowFindsWhatDiffers(t *testing.T) {
	compared := countingCompared(t)
	world := sandboxtest.Shared(t)
	origin := inFrontOf(t, world)
	var altering atomic.Pointer[func(map[string]any) any]
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passAltered(t, w, r, origin.url, *altering.Load())
	}))
	t.Cleanup(between.Close)
	front := inFrontOf(t, world, fmt.Sprintf(`passthrough:
  hosts: [{name: origin, endpoints: [{url: %q}]}]
  shadow: {share: 1, paths: [{prefix: /, host: origin}]}`, between.URL))
	facts := factsOf(t, world)
	order, list, swap := "/api/Orders/"+facts.Orders[0].OrderID, "/api/Orders/filteredList", swapPath(facts)
	want, made := map[string]int{}, 0
	for _, row := range []struct {
		name, path, class string
		alter             func(map[string]any) any // nil: it is not found
	}{
		{"nothing", order, "same", func(body map[string]any) any { return body }},
		{"another value", order, "different", func(body map[string]any) any {
			body["makerOrderNonce"] = json.Number("7")
			return body
		}},
		{"an order that is not known yet", order, "expected", func(map[string]any) any { return nil }},
		{"a list without the newest order", list, "expected", func(body map[string]any) any {
			body["orders"] = body["orders"].([]any)[1:]
			return body
		}},
		{"another price", swap, "different", func(body map[string]any) any {
			out := body["tokenOut"].(map[string]any)
			out["amount"] = "9" + out["amount"].(string)[1:]
			return body
		}},
		{"nothing of a swap", swap, "same", func(body map[string]any) any { return body }},
	} {
		altering.Store(&row.alter)
		method, sent := http.MethodGet, ""
		if row.path == list {
			method, sent = http.MethodPost, `{"take":6}`
		}
		if response, body := ask(t, method, front.url+row.path, sent); response.StatusCode != http.StatusOK {
			t.Fatalf("%s = %d: %s", row.path, response.StatusCode, body)
		}
		want[row.class]++
		made++
		await(t, "compared", func() bool {
			all := 0
			for _, n := range compared() {
				all += n
			}
			return all == made
		})
		if got := compared(); !maps.Equal(got, want) {
			t.Fatalf("%s of %s: answers came to %v, want %v", row.name, row.path, got, want)
		}
	}
}

// passAltered answers as the origin does, with a body that is altered.
func passAltered(t *testing.T, w http.ResponseWriter, r *http.Request, origin string, alter func(map[string]any) any) {
	sent, _ := io.ReadAll(r.Body)
	_, body := ask(t, r.Method, origin+r.URL.RequestURI(), string(sent))
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		t.Error(err)
	}
	altered := alter(value)
	if altered == nil {
		http.NotFound(w, r)
		return
	}
	if err := json.NewEncoder(w).Encode(altered); err != nil {
		t.Error(err)
	}
}

// countingCompared has this process measure, until the test ends, and returns what tells how many answers were compared
// since, by class.
func countingCompared(t *testing.T) (count func() map[string]int) {
	t.Helper()
	measured := measured.Start(t)
	return func() map[string]int {
		counts := map[string]int{}
		for name, n := range measured() {
			if after, is := strings.CutPrefix(name, "crossgate.shadow.answers{crossgate.outcome="); is {
				class, _, _ := strings.Cut(after, ",")
				counts[class] += int(n)
			}
		}
		return counts
	}
}
