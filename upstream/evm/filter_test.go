package evm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// severalAddresses matches a filter with more than one contract.
var severalAddresses = regexp.MustCompile(`"address":\["[^"]*",`)

// TestEndpointsThatDoNotTakeWholeFilters reads orders from nodes that accept only one topic, or one address. Such a
// node, once known, gets searches for all logs of the contracts, or for one contract at a time; next to a node that
// accepts whole filters, that one gets them.
func TestEndpointsThatDoNotTakeWholeFilters(t *testing.T) {
	recorded := readRecordings(t)[0]
	usual := &provider{recording: recorded}
	want, err := serveAll(t, recorded.describe(), usual).Events(t.Context(), 0, recorded.Head)
	if err != nil || len(want) == 0 {
		t.Fatalf("%d events, %v", len(want), err)
	}
	isNested := func(filter []byte) bool { return bytes.Contains(filter, []byte(`"topics"`)) }
	isOfSeveral := func(filter []byte) bool { return severalAddresses.Match(filter) }
	for name, test := range map[string]struct {
		refuses []func(filter []byte) bool
		says    []string
		lacks   []string
		nodes   int
		refused int // refused searches
	}{
		"one topic":              {[]func([]byte) bool{isNested}, []string{"exceed max topics"}, []string{"eth_getLogs topics"}, 1, 1},
		"one topic, not alone":   {[]func([]byte) bool{isNested}, []string{"exceed max topics"}, []string{"eth_getLogs topics"}, 2, 1},
		"one address":            {[]func([]byte) bool{isOfSeveral}, []string{"too many addresses"}, []string{"eth_getLogs addresses"}, 1, 1},
		"one address, not alone": {[]func([]byte) bool{isOfSeveral}, []string{"too many addresses"}, []string{"eth_getLogs addresses"}, 2, 1},
		"one of each": {
			[]func([]byte) bool{isOfSeveral, isNested},
			[]string{"only one address is allowed", "nested topics are not supported"},
			[]string{"eth_getLogs addresses", "eth_getLogs topics"},
			1, 1 + 3, // for all contracts, then for each one
		},
	} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			picky := &provider{recording: recorded, refuses: func(c rpctest.Call) string {
				for i, refuses := range test.refuses {
					if c.Method == "eth_getLogs" && refuses(c.Params[0]) {
						refused++
						return rpctest.Fault(-32000, test.says[i])
					}
				}
				return ""
			}}
			rpc := rpcOf(t, []*provider{picky, usual}[:test.nodes]...)
			c := evm.New(recorded.describe(), rpc)
			for range 3 {
				got, err := c.Events(t.Context(), 0, recorded.Head)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%d events, %v, want %d", len(got), err, len(want))
				}
			}
			known := rpc.Capabilities("node-1").Known()
			if refused != test.refused || !slices.Equal(known.Lacks, test.lacks) {
				t.Errorf("refused %d times, lacking is %v, want %d times, %v", refused, known.Lacks, test.refused, test.lacks)
			}
		})
	}
}

// TestAnEmptyFilterOfAHeaderProvesNothing: if headers do not match their hashes, as on TRON, one filter with bits does
// not make other, empty ones evidence that blocks have no logs.
func TestAnEmptyFilterOfAHeaderProvesNothing(t *testing.T) {
	n := newNode(1000)
	n.filter = func(block uint64) string {
		if block == 1000 {
			return strings.Repeat("f", 512)
		}
		return strings.Repeat("0", 512)
	}
	terms, _ := delivery()
	n.add(t, 1001, true, fulfilledLog(t, terms))
	c := n.serve(t, testChain)
	for head := uint64(1000); head <= 1001; head++ {
		n.head = head
		must.Get(c.Head(t.Context()))(t)
	}
	if events, err := c.Events(t.Context(), 1001, 1001); err != nil || len(events) != 1 {
		t.Errorf("Events() = %d events, %v, want the fulfilment", len(events), err)
	}
}

// TestAListCountsWithTheLastBlockOfItsOwnEndpoint: if no endpoint accepts batches, a header from another endpoint does
// not vouch for the list of a lagging one.
func TestAListCountsWithTheLastBlockOfItsOwnEndpoint(t *testing.T) {
	behind, ahead := newNode(1000), newNode(1010)
	terms, _ := delivery()
	ahead.add(t, 1005, true, fulfilledLog(t, terms))
	single := func(n *node) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked, err := rpctest.Read(r); err != nil || asked.IsBatch {
				http.Error(w, "", http.StatusRequestEntityTooLarge)
				return
			}
			n.ServeHTTP(w, r)
		})
	}
	c := serveAll(t, testChain, single(behind), single(ahead))
	if events, err := c.Events(t.Context(), 990, 1006); err != nil || len(events) != 1 {
		t.Errorf("Events() = %d events, %v, want the fulfilment", len(events), err)
	}
}

// TestTimesOfHistoryAreHeldAgainstLists: if one of two endpoints gives logs a different time, the headers decide, at
// once if it is not in seconds.
func TestTimesOfHistoryAreHeldAgainstLists(t *testing.T) {
	for stamp, isTaken := range map[string]bool{"0x7fffffff": true, "0x18c2e4a5c00": false, "0xffffffffffffffff": false} {
		n := newNode(1000)
		terms, _ := delivery()
		n.add(t, 500, true, fulfilledLog(t, terms))
		c := twoFaced(t, testChain, n, lie{result: eachLog(func(log map[string]any) { log["blockTimestamp"] = stamp })})
		first, err := c.EventsOfLogs(t.Context(), 400, 600)
		if err != nil || len(first) != 1 || (first[0].At.Time != n.blockTime(500)) != isTaken {
			t.Fatalf("EventsOfLogs() = %+v, %v, want the time of %s: %t", first, err, stamp, isTaken)
		}
		v, err := c.Verify(t.Context(), 400, 600, first)
		if err != nil || len(v.Events) != 1 || v.Events[0].At.Time != n.blockTime(500) || v.Standing != order.Corroborated {
			t.Errorf("Verify() = %+v, %v, want time %d", v, err, n.blockTime(500))
		}
	}
}

// TestRangesFitTheLogsThatAnEndpointGives reads a ledger repeatedly from a node that limits the logs per search: at
// most one search per reading is refused, and the others return as many logs as fit.
func TestRangesFitTheLogsThatAnEndpointGives(t *testing.T) {
	const most, rounds = 40, 8
	recorded := readRecordings(t)[0]
	usual := &provider{recording: recorded}
	read := func(node *provider) (events []order.Event) {
		c := serveAll(t, recorded.describe(), node)
		for range rounds {
			events = must.Get(c.Events(t.Context(), 0, recorded.Head))(t)
		}
		return events
	}
	want := read(usual)
	refusals := 0
	limited := &provider{recording: recorded, refuses: func(c rpctest.Call) string {
		if c.Method != "eth_getLogs" || strings.Count(usual.search(c.Params[0], recorded.Head), `"blockHash"`) <= most {
			return ""
		}
		refusals++
		return rpctest.Fault(-32005, "query returned more than 40 results")
	}}
	if got := read(limited); !reflect.DeepEqual(got, want) {
		t.Errorf("%d events, want %d", len(got), len(want))
	}
	if refusals == 0 || refusals > rounds {
		t.Errorf("%d searches were refused in %d readings, want one a reading at most", refusals, rounds)
	}
}

// TestABlockOfMoreLogsThanAnEndpointGives uses a node that refuses a single block, and lists no logs of no blocks.
func TestABlockOfMoreLogsThanAnEndpointGives(t *testing.T) {
	recorded := readRecordings(t)[0]
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	crowded, asked := recorded.Head/2, 0
	node := &provider{recording: recorded, refuses: func(c rpctest.Call) string {
		var blocks struct{ FromBlock, ToBlock string }
		if c.Method != "eth_getLogs" || json.Unmarshal(c.Params[0], &blocks) != nil {
			return ""
		}
		if asked++; asked > 100 {
			stop()
		}
		if parseQuantity(blocks.FromBlock) <= crowded && crowded <= parseQuantity(blocks.ToBlock) {
			return rpctest.Fault(-32005, "query returned more than 10000 results")
		}
		return ""
	}}
	c := serveAll(t, recorded.describe(), node)
	_, err := c.Events(ctx, 0, recorded.Head)
	if _, is := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.ResultLimit }); !is || asked > 100 {
		t.Errorf("after %d searches: %v, want what the node said of the block", asked, err)
	}
}
