package evm_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// TestRangesFitTheLogsThatAnEndpointGives reads a ledger at a node that gives few logs at once, several times: one that
// says how many gets searches that fit, one that does not is asked for too many again and again.
func TestRangesFitTheLogsThatAnEndpointGives(t *testing.T) {
	const most, rounds = 40, 8
	recordings, _ := readRecordings(t)
	recorded := recordings[0]
	recorded.head = recorded.Head
	usual := &provider{recording: recorded}
	read := func(nodes ...http.Handler) (events []order.Event, first jsonrpc.Limits) {
		var endpoints []*upstream.Endpoint
		for i, node := range nodes {
			endpoints = append(endpoints, endpointOf(t, fmt.Sprintf("node-%d", i), node))
		}
		rpc := jsonrpc.New(upstream.NewPool("chain", endpoints...))
		c := evm.New(recorded.describe(t), rpc)
		for range rounds {
			var err error
			if events, err = c.Events(t.Context(), 0, recorded.Head); err != nil {
				t.Fatal(err)
			}
		}
		known, _ := rpc.Capabilities("node-0").Known()
		return events, known
	}
	want, _ := read(usual)
	refusals := map[string]int{}
	for _, words := range []string{"query returned more than 40 results", "response too large"} {
		limited := &provider{recording: recorded, refuses: func(c nodeCall) string {
			if c.Method != "eth_getLogs" || strings.Count(usual.search(c.Params[0], recorded.Head), `"blockHash"`) <= most {
				return ""
			}
			refusals[words]++
			return fault(-32005, words)
		}}
		got, known := read(limited)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %d events, want %d", words, len(got), len(want))
		}
		if isTold := strings.Contains(words, "40"); isTold != (known.Results == most) {
			t.Errorf("%q: %d results are known to be given, told %t", words, known.Results, isTold)
		}
	}
	t.Logf("%d blocks, refused: %v", recorded.Head, refusals)
	if told, untold := refusals["query returned more than 40 results"], refusals["response too large"]; told == 0 || 2*told > untold {
		t.Errorf("%d searches were refused where the limit was told, %d where not, want half as many at most", told, untold)
	}
}
