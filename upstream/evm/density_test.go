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

// TestRangesFitTheLogsThatAnEndpointGives reads a ledger several times at a node that gives few logs at once: a search is
// refused once a reading at most, and the others hold as many logs as fit.
func TestRangesFitTheLogsThatAnEndpointGives(t *testing.T) {
	const most, rounds = 40, 8
	recordings, _ := readRecordings(t)
	recorded := recordings[0]
	recorded.head = recorded.Head
	usual := &provider{recording: recorded}
	read := func(nodes ...http.Handler) (events []order.Event) {
		var endpoints []*upstream.Endpoint
		for i, node := range nodes {
			endpoints = append(endpoints, endpointOf(t, fmt.Sprintf("node-%d", i), node))
		}
		rpc := jsonrpc.New(upstream.NewPool("chain", endpoints...))
		c := evm.New(recorded.describe(), rpc)
		for range rounds {
			var err error
			if events, err = c.Events(t.Context(), 0, recorded.Head); err != nil {
				t.Fatal(err)
			}
		}
		return events
	}
	want := read(usual)
	refusals := 0
	limited := &provider{recording: recorded, refuses: func(c nodeCall) string {
		if c.Method != "eth_getLogs" || strings.Count(usual.search(c.Params[0], recorded.Head), `"blockHash"`) <= most {
			return ""
		}
		refusals++
		return fault(-32005, "query returned more than 40 results")
	}}
	if got := read(limited); !reflect.DeepEqual(got, want) {
		t.Errorf("%d events, want %d", len(got), len(want))
	}
	if refusals == 0 || refusals > rounds {
		t.Errorf("%d searches were refused in %d readings, want one a reading at most", refusals, rounds)
	}
}
