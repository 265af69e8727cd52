package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"crossgate/config"
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
