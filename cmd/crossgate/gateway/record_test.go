package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/config"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/jsonrpc/behaviour"
)

// TestARecordingIsPlayedBackWithoutKeys records an endpoint that quotes its key, and plays that back.
func TestARecordingIsPlayedBackWithoutKeys(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef"
	provider := &trioNode{chain: quickChain{time.Now()}, takes: 2, span: 1000, depth: 10_000, random: newRandom(1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of the client under test
		if bytes.Contains(body, []byte("eth_simulateV1")) {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found for key %s"}}`, key)
			return
		}
		status, text := provider.answer(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // the client has gone
	}))
	defer server.Close()
	c, err := config.Parse([]byte(fmt.Sprintf("chains: [{id: 56, endpoints: [{name: node, url: %q}]}]", server.URL+"/v2/"+key)))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Record(t.Context(), c, 56, "node")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := behaviour.Write(&text, cases); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), key) {
		t.Errorf("the recording holds the key: %s", text.String())
	}
	again, err := behaviour.Read(&text)
	if err != nil || len(again) != len(cases) {
		t.Fatalf("Read() = %d cases, %v, want %d", len(again), err, len(cases))
	}
	met := map[string]bool{}
	for _, each := range again {
		met[each.Means] = true
	}
	for _, want := range []string{"answer", "range limit", "pruned", "method missing"} {
		if !met[want] {
			t.Errorf("nothing in the recording means %q, only %v", want, met)
		}
	}
	player := httptest.NewServer(behaviour.NewPlayer(again))
	defer player.Close()
	response, err := http.Post(player.URL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":77,"method":"eth_blockNumber","params":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); !strings.Contains(string(body), `"id":77`) || !strings.Contains(string(body), `"result":"0x`) {
		t.Errorf("played back: %s, want the recorded number under another id", body)
	}
}

// TestARecordedRefusalOfAFilterIsLearnedFrom records a provider that takes one contract in a search, which it says with an
// HTTP status and in words of its own, and asks what was recorded the same again.
func TestARecordedRefusalOfAFilterIsLearnedFrom(t *testing.T) {
	provider := &trioNode{chain: quickChain{time.Now()}, takes: 2, span: 1000, depth: 10_000, random: newRandom(1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of the client under test
		if bytes.Contains(body, []byte(`"address":["`)) {
			w.Header().Set("X-Ratelimit-Remaining", "7")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"logs can be filtered by a single contract address on the Lite plan"}}`)
			return
		}
		status, text := provider.answer(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // the client has gone
	}))
	defer server.Close()
	c, err := config.Parse([]byte(fmt.Sprintf("chains: [{id: 56, endpoints: [{name: lite, url: %q}]}]", server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Record(t.Context(), c, 56, "lite")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(cases, func(each behaviour.Case) bool { return each.Question.Field == jsonrpc.Addresses })
	if at < 0 || cases[at].Means != "field missing" || cases[at].Answer.Status != http.StatusBadRequest || cases[at].Answer.Header["X-Ratelimit-Remaining"] != "7" {
		t.Fatalf("recorded is %+v, want what it does not take", cases[max(at, 0)])
	}
	player := httptest.NewServer(behaviour.NewPlayer(cases))
	defer player.Close()
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: "lite", URL: player.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer endpoint.Close()
	client := jsonrpc.New(upstream.NewPool("chain", endpoint))
	var filters []any
	if err := json.Unmarshal(cases[at].Question.Params, &filters); err != nil {
		t.Fatal(err)
	}
	asked := &jsonrpc.Call{
		Method: "eth_getLogs", Params: filters, Out: new(json.RawMessage), Reach: jsonrpc.Reach{Blocks: 1, Fields: []string{jsonrpc.Addresses}},
	}
	_ = client.Batch(t.Context(), asked) // the call has its error
	if asked.Err == nil || !client.Lacks("eth_getLogs", jsonrpc.Addresses) || client.Lacks("eth_getLogs", "") {
		t.Errorf("asked again: %v; want several addresses, and nothing else, to be known as lacking", asked.Err)
	}
}
