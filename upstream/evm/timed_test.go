package evm_test

import (
	"testing"

	"crossgate/upstream/evm"
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
			rpc := rpcOf(t, nodes...)
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
		})
	}
}
