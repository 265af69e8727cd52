package evm_test

import (
	"bytes"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// TestEndpointsThatDoNotFilterByTopics reads orders at nodes that take no more than one topic: alone they are asked for
// all logs of the contracts, once they are known; beside a node that filters that one is asked.
func TestEndpointsThatDoNotFilterByTopics(t *testing.T) {
	recordings, _ := readRecordings(t)
	recorded := recordings[0]
	recorded.head = recorded.Head
	serve := func(nodes ...http.Handler) (*evm.Chain, *jsonrpc.Client) {
		var endpoints []*upstream.Endpoint
		for i, node := range nodes {
			endpoints = append(endpoints, endpointOf(t, []string{"first", "second"}[i], node))
		}
		rpc := jsonrpc.New(upstream.NewPool("chain", endpoints...))
		return evm.New(recorded.describe(t), rpc), rpc
	}
	refused := 0
	refuses := func(c nodeCall) string {
		if c.Method != "eth_getLogs" || !bytes.Contains(c.Params[0], []byte(`"topics"`)) {
			return ""
		}
		refused++
		return fault(-32000, "exceed max topics")
	}
	usual := &provider{recording: recorded}
	c, _ := serve(usual)
	want, err := c.Events(t.Context(), 0, recorded.Head)
	if err != nil || len(want) == 0 {
		t.Fatalf("%d events, %v", len(want), err)
	}
	for name, nodes := range map[string][]http.Handler{
		"alone": {&provider{recording: recorded, refuses: refuses}},
		"first": {&provider{recording: recorded, refuses: refuses}, usual},
	} {
		refused = 0
		c, rpc := serve(nodes...)
		for range 3 {
			got, err := c.Events(t.Context(), 0, recorded.Head)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d events, %v, want %d", name, len(got), err, len(want))
			}
		}
		known, _ := rpc.Capabilities("first").Known()
		if refused != 1 || !slices.Equal(known.Lacks, []string{"eth_getLogs topics"}) {
			t.Errorf("%s: refused %d times, lacking is %v, want once and the topics of eth_getLogs", name, refused, known.Lacks)
		}
	}
}
