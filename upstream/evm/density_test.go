package evm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"crossgate/internal/must"
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
			events = must.Get(c.Events(t.Context(), 0, recorded.Head))(t)
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

// TestABlockOfMoreLogsThanAnEndpointGives is of a node that says so of one block alone, and lists nothing of no blocks.
func TestABlockOfMoreLogsThanAnEndpointGives(t *testing.T) {
	recordings, _ := readRecordings(t)
	recorded := recordings[0]
	recorded.head = recorded.Head
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	crowded, asked := recorded.Head/2, 0
	node := &provider{recording: recorded, refuses: func(c nodeCall) string {
		var blocks struct{ FromBlock, ToBlock string }
		if c.Method != "eth_getLogs" || json.Unmarshal(c.Params[0], &blocks) != nil {
			return ""
		}
		if asked++; asked > 100 {
			stop()
		}
		if parseQuantity(blocks.FromBlock) <= crowded && crowded <= parseQuantity(blocks.ToBlock) {
			return fault(-32005, "query returned more than 10000 results")
		}
		return ""
	}}
	c := evm.New(recorded.describe(), jsonrpc.New(upstream.NewPool("chain", endpointOf(t, "node", node))))
	_, err := c.Events(ctx, 0, recorded.Head)
	if _, is := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.ResultLimit }); !is || asked > 100 {
		t.Errorf("after %d searches: %v, want what the node said of the block", asked, err)
	}
}
