package evm_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// TestHistoryIsSearchedWhereTimesOfLogsAreTold reads ten ranges of 400 blocks, each with 20 events, twice, from three
// nodes of which the last one may tell the times of logs. Which do not is found out by the first search, which is made
// again. No second reading needs times.
func TestHistoryIsSearchedWhereTimesOfLogsAreTold(t *testing.T) {
	const first, ranges, blocks, apart = 2000, 10, 400, 20
	const events = blocks / apart
	for name, test := range map[string]struct {
		isTimed  bool
		last     func(*node) // how the last one is limited; nil: not at all
		headers  int         // asked for by their hashes
		searches int         // of the last one, for the first reading; -1: any
	}{
		"nobody tells":            {false, nil, ranges * events, -1},
		"one tells":               {true, nil, 0, ranges},
		"one that searches less":  {true, func(n *node) { n.maxRange = 50 }, events, -1},
		"one that searches least": {true, func(n *node) { n.maxRange = 10 }, ranges * events, 1},
		"one that is pruned":      {true, func(n *node) { n.pruned = 40_000 }, ranges * events, 1},
		"one that is spent":       {true, func(n *node) { n.answers["eth_getLogs"] = fault(-32005, "rate limit exceeded") }, ranges * events, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := []*node{newNode(50_000), newNode(50_000), newNode(50_000)}
				_, id := delivery()
				for i, n := range nodes {
					for block := uint64(first); block < first+ranges*blocks; block += apart {
						n.add(t, block, test.isTimed && i == 2, unlockLog(t, id))
					}
				}
				if test.last != nil {
					test.last(nodes[2])
				}
				rpc := rpcInBubble(t, nodes...)
				c := evm.New(testChain, rpc)
				if _, err := c.Head(t.Context()); err != nil {
					t.Fatal(err)
				}
				count := func(method string, of ...*node) (asked int) {
					for _, n := range of {
						asked += n.methods[method]
					}
					return asked
				}
				searches := 0
				for from := uint64(first); from < first+ranges*blocks; from += blocks {
					before := count("eth_getLogs", nodes[2])
					got, err := c.EventsOfLogs(t.Context(), from, from+blocks-1)
					if err != nil || len(got) != events {
						t.Fatalf("EventsOfLogs = %d events, %v, want %d", len(got), err, events)
					}
					for _, e := range got {
						if e.At.Time != nodes[0].blockTime(e.At.Block) {
							t.Errorf("block %d is of %d, want %d", e.At.Block, e.At.Time, nodes[0].blockTime(e.At.Block))
						}
					}
					searches += count("eth_getLogs", nodes[2]) - before
					proof, err := c.Verify(t.Context(), from, from+blocks-1, got)
					if err != nil || len(proof.Wrong) > 0 {
						t.Fatalf("Verify = %v, %v", proof.Wrong, err)
					}
				}
				if asked := count("eth_getBlockByHash", nodes...); asked != test.headers {
					t.Errorf("%d headers were asked for, want %d", asked, test.headers)
				}
				if test.searches >= 0 && searches != test.searches {
					t.Errorf("the last one was asked for %d searches, want %d", searches, test.searches)
				}
				before := count("eth_getLogs", nodes[2])
				if _, err := c.EventsOfLogs(t.Context(), first, first+apart-1); err != nil {
					t.Fatal(err)
				}
				if asked := count("eth_getLogs", nodes[2]) - before; asked > 0 {
					t.Errorf("the last one was asked for %d searches of a few blocks, want the pool's choice", asked)
				}
			})
		})
	}
}

// rpcInBubble asks nodes without a network, on synctest's clock.
func rpcInBubble(t *testing.T, nodes ...*node) *jsonrpc.Client {
	t.Helper()
	var endpoints []*upstream.Endpoint
	for i, n := range nodes {
		name := fmt.Sprintf("node-%d", i+1)
		e, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: name, URL: "http://" + name + ".invalid", Client: &http.Client{Transport: n}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		endpoints = append(endpoints, e)
	}
	return jsonrpc.New(upstream.NewPool("chain", endpoints...))
}

// TestTheSecondReadingAsksForNoTimes has an endpoint lose the logs of a range, at nodes without the receipts of blocks
// and without times in logs: what differs is settled by headers of the blocks' numbers, none of which is read again.
func TestTheSecondReadingAsksForNoTimes(t *testing.T) {
	recordings, _ := readRecordings(t)
	recorded := recordings[0]
	recorded.head = recorded.Head
	calls := map[string]int{}
	old := func(lists func(param string) bool) *provider {
		p := &provider{recording: recorded, calls: calls, alter: untimed}
		p.refuses = func(c nodeCall) string {
			switch {
			case c.Method == "eth_getBlockReceipts":
				return fault(-32601, "the method eth_getBlockReceipts does not exist")
			case c.Method == "eth_getLogs" && !lists(string(c.Params[0])):
				return `"result":[]`
			}
			return ""
		}
		return p
	}
	losing := old(func(param string) bool { return strings.Contains(param, "blockHash") })
	whole := old(func(string) bool { return true })
	c := evm.New(recorded.describe(t), jsonrpc.New(upstream.NewPool("chain", endpointOf(t, "losing", losing), endpointOf(t, "whole", whole))))
	if _, err := c.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	first, err := c.Events(t.Context(), 0, 200)
	if err != nil || len(first) > 0 {
		t.Fatalf("%d events, %v, want none of an endpoint that loses them", len(first), err)
	}
	clear(calls)
	proof, err := c.Verify(t.Context(), 0, 200, first)
	if err != nil || len(proof.Events) < 20 || !slices.Contains(proof.Wrong, "losing") {
		t.Fatalf("Verify = %d events, wrong is %v, %v", len(proof.Events), proof.Wrong, err)
	}
	if calls["eth_getBlockByHash"] > 0 {
		t.Errorf("proving %d events took %v, want no header by its hash", len(proof.Events), calls)
	}
}
