package evm_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/order"
)

func TestEventsInTakesFewRoundTrips(t *testing.T) {
	terms, id := delivery()
	for name, test := range map[string]struct {
		stamped bool
		trips   int
	}{"newer node": {true, 1}, "older node": {false, 2}} {
		t.Run(name, func(t *testing.T) {
			n := newNode(1000)
			tx := n.add(t, 500, test.stamped, fulfilledLog(t, terms), unlockLog(t, id))
			read := events(t, 2)(n.serve(t, testChain).EventsIn(t.Context(), tx))
			want := order.At{
				Chain: testChain.ID, Tx: tx, Block: 500, BlockHash: hash(t, blockHash(500)), Time: n.blockTime(500),
				Initiator: chain.NewAddress(repeat(9, 20)), LogIndex: 1,
			}
			if read[1].At != want || read[1].Order != id {
				t.Errorf("EventsIn()[1] = %+v, want %+v", read[1], want)
			}
			if trips := n.trips(); trips != test.trips {
				t.Errorf("EventsIn() took %d round trips, want %d", trips, test.trips)
			}
		})
	}
}

// events returns those of a reading, which must be as many as wanted.
func events(t *testing.T, want int) func(read order.Evidence, err error) []order.Event {
	t.Helper()
	return func(read order.Evidence, err error) []order.Event {
		t.Helper()
		if err != nil || len(read.Events) != want {
			t.Fatalf("%+v, %v, want %d events", read.Events, err, want)
		}
		return read.Events
	}
}

func hash(t *testing.T, text string) chain.Hash {
	t.Helper()
	return must.Get(chain.ParseHash(text))(t)
}

func TestEventsInOfOtherTransactions(t *testing.T) {
	terms, _ := delivery()
	n := newNode(1000)
	plain := n.add(t, 500, true)
	failed := n.add(t, 501, true, fulfilledLog(t, terms))
	text := string(n.receipts[failed.String()])
	n.receipts[failed.String()] = json.RawMessage(strings.Replace(text, `"status":"0x1"`, `"status":"0x0"`, 1))
	pending := n.add(t, 502, true)
	n.receipts[pending.String()] = json.RawMessage(`{"transactionHash":"` + pending.String() + `","from":"0x01","blockHash":null,"blockNumber":null,"logs":[]}`)
	c := n.serve(t, testChain)

	for name, tx := range map[string]chain.TxHash{"without logs": plain, "that failed": failed} {
		if got, err := c.EventsIn(t.Context(), tx); err != nil || len(got.Events) != 0 {
			t.Errorf("EventsIn() of a transaction %s = %+v, %v, want none", name, got, err)
		}
	}
	for name, tx := range map[string]chain.TxHash{
		"unknown": chain.NewTxHash(repeat(0xff, 32)), "pending": pending, "of Solana": chain.NewTxHash(repeat(1, 64)),
	} {
		if got, err := c.EventsIn(t.Context(), tx); !errors.Is(err, order.ErrNotFound) {
			t.Errorf("EventsIn() of a transaction that is %s = %+v, %v, want ErrNotFound", name, got, err)
		}
	}
}

func TestEventsInPassesOverWrongReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		terms, _ := delivery()
		right, wrong := newNode(1000), newNode(1000)
		tx := right.add(t, 500, true, fulfilledLog(t, terms))
		wrong.receipts[tx.String()] = right.receipts[right.add(t, 600, true).String()]
		if _, err := wrong.serve(t, testChain).EventsIn(t.Context(), tx); err == nil {
			t.Error("EventsIn() believed the receipt of another transaction")
		}
		events(t, 1)(serveAll(t, testChain, wrong, right).EventsIn(t.Context(), tx))
	})
}

func TestEventsTakesTwoRoundTrips(t *testing.T) {
	terms, id := delivery()
	n := newNode(1000)
	n.add(t, 500, false, fulfilledLog(t, terms))
	n.add(t, 502, false, unlockLog(t, id))
	n.add(t, 503, false)
	c := n.serve(t, testChain)
	got, err := c.Events(t.Context(), 400, 1000)
	if err != nil || len(got) != 2 || got[0].At.Block != 500 || got[1].At.Block != 502 || got[1].At.Time != n.blockTime(502) {
		t.Errorf("Events() = %+v, %v, want two", got, err)
	}
	if trips := n.trips(); trips != 2 {
		t.Errorf("Events() took %d round trips, want 2", trips)
	}
	if got, err := c.Events(t.Context(), 503, 1000); err != nil || len(got) != 0 || n.trips() != 1 {
		t.Errorf("Events() of quiet blocks = %+v, %v, want none in one round trip", got, err)
	}
}

func TestEventsSplitsWideRanges(t *testing.T) {
	terms, id := delivery()
	n := newNode(4000)
	n.maxRange = 900
	n.add(t, 10, true, fulfilledLog(t, terms))
	n.add(t, 3999, true, unlockLog(t, id))
	c := n.serve(t, testChain)
	for _, trips := range []int{12, 10} { // the second time the permitted width of searches is known
		n.trips()
		if got, err := c.Events(t.Context(), 0, 4000); err != nil || len(got) != 2 {
			t.Fatalf("Events() = %+v, %v, want two", got, err)
		}
		if got := n.trips(); got > trips {
			t.Errorf("Events() took %d round trips, want at most %d", got, trips)
		}
	}
}

// A lagging node answers with the logs that it has: trusting it would lose events for good.
func TestEventsPassesOverNodesThatLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		terms, _ := delivery()
		behind, current := newNode(990), newNode(1000)
		current.add(t, 995, true, fulfilledLog(t, terms))
		if got, err := behind.serve(t, testChain).Events(t.Context(), 980, 1000); err == nil {
			t.Errorf("Events() of a node that lags = %+v, want an error", got)
		}
		got, err := serveAll(t, testChain, behind, current).Events(t.Context(), 980, 1000)
		if err != nil || len(got) != 1 {
			t.Errorf("Events() = %+v, %v, want the current node's event", got, err)
		}
	})
}

func TestEventsRefusesLogsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		terms, _ := delivery()
		n := newNode(1000)
		n.add(t, 500, true, fulfilledLog(t, terms))
		all := must.Get(json.Marshal([]json.RawMessage{n.logs[0].raw}))(t)
		n.answers["eth_getLogs"] = `"result":` + string(all)
		if got, err := n.serve(t, testChain).Events(t.Context(), 600, 700); err == nil {
			t.Errorf("Events() believed a log of another block: %+v", got)
		}
	})
}

// TestReceiptsOfBlocksAreAskedOfWhoHasThem reads blocks whose filters match by chance although the lists of logs are
// empty: the blocks' receipts decide, if an endpoint returns them. An endpoint without the method is called only once.
func TestReceiptsOfBlocksAreAskedOfWhoHasThem(t *testing.T) {
	for name, test := range map[string]struct {
		has  []bool // whether each endpoint has the method
		want bool   // events are found
	}{
		"nobody":        {[]bool{false}, false},
		"none of two":   {[]bool{false, false}, false},
		"one of two":    {[]bool{false, true}, true},
		"the other one": {[]bool{true, false}, true},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := readRecordings(t)[0]
			var nodes []*provider
			for _, has := range test.has {
				nodes = append(nodes, &provider{recording: recorded, calls: map[string]int{}, refuses: func(c rpctest.Call) string {
					switch {
					case c.Method == "eth_getLogs":
						return `"result":[]`
					case c.Method == "eth_getBlockReceipts" && !has:
						return rpctest.Fault(-32601, "the method eth_getBlockReceipts does not exist")
					}
					return ""
				}})
			}
			c := serveAll(t, recorded.describe(), nodes...)
			found := 0
			for block := uint64(1); block < recorded.Head; block++ {
				recorded.mu.Lock()
				recorded.head = block
				recorded.mu.Unlock()
				must.Get(c.Head(t.Context()))(t)
				found += len(must.Get(c.Events(t.Context(), block, block))(t))
			}
			if (found > 0) != test.want {
				t.Errorf("%d events are found, want some: %v", found, test.want)
			}
			for i, has := range test.has {
				nodes[i].mu.Lock()
				asked := nodes[i].calls["eth_getBlockReceipts"]
				nodes[i].mu.Unlock()
				if !has && asked > 1 {
					t.Errorf("provider %d, which does not have the method, was asked %d times", i+1, asked)
				}
				if has && asked < 2 {
					t.Errorf("provider %d, which has the method, was asked %d times", i+1, asked)
				}
			}
		})
	}
}
