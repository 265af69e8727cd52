package evm_test

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/onchain"
)

// historyCase is a delivery on a chain with the given head, fulfilled and unlocked in the given blocks.
type historyCase struct {
	head, created, fulfilled, sent uint64
	trips                          int
}

func TestHistoryFindsSteps(t *testing.T) {
	terms, id := delivery()
	for name, test := range map[string]historyCase{
		"young chain":            {head: 900, created: 100, fulfilled: 130, sent: 600, trips: 3},
		"fulfilled only":         {head: 900, created: 100, fulfilled: 130, trips: 3},
		"just now":               {head: 40_000_000, created: 39_999_900, fulfilled: 39_999_950, sent: 39_999_999, trips: 4},
		"long ago":               {head: 40_000_000, created: 10_000_000, fulfilled: 10_000_060, sent: 10_003_000, trips: 6},
		"unlocked much later":    {head: 40_000_000, created: 10_000_000, fulfilled: 10_000_060, sent: 25_000_000, trips: 16},
		"fulfilled much later":   {head: 40_000_000, created: 10_000_000, fulfilled: 20_000_000, sent: 20_000_000, trips: 16},
		"both much later, apart": {head: 40_000_000, created: 10_000_000, fulfilled: 20_000_000, sent: 20_000_010, trips: 24},
	} {
		for _, speed := range []string{"steady", "lately faster"} {
			t.Run(name+", "+speed, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // calls that are made at once go out together
					n := newNode(test.head)
					if speed == "lately faster" {
						n.blockTime = accelerating(test.head)
					}
					want := 1
					n.add(t, test.fulfilled, true, fulfilledLog(t, terms))
					n.keep(test.fulfilled, test.sent)
					if test.sent != 0 {
						n.add(t, test.sent, true, unlockLog(t, id))
						want = 2
					}
					events(t, want)(n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(test.created)))
					if trips := n.trips(); trips > test.trips && speed == "steady" {
						t.Errorf("History() took %d round trips, want at most %d", trips, test.trips)
					} else if trips > 30 {
						t.Errorf("History() took %d round trips", trips)
					}
				})
			})
		}
	}
}

// accelerating returns the times of a chain whose blocks took 3 s for most of its life and now take 0.5 s.
func accelerating(head uint64) func(uint64) uint64 {
	turn := head * 3 / 4
	return func(number uint64) uint64 {
		if number <= turn {
			return 1_500_000_000 + 3*number
		}
		return 1_500_000_000 + 3*turn + (number-turn)/2
	}
}

func TestHistoryOnTheGiveChain(t *testing.T) {
	terms, _ := delivery()
	terms.Give.Chain, terms.Take.Chain = testChain.ID, 137
	id := onchain.ID(terms)
	n := newNode(40_000_000)
	n.add(t, 10_000_000, true, eventLog{
		"CreatedOrder(" + tupleType + ",bytes32,bytes,uint256,uint256,uint32)", testChain.Contracts.DlnSource,
		encode(t, "order,bytes32,bytes,uint256,uint256,uint32", encodeTerms(terms), [32]byte(id), []byte{}, big.NewInt(1), big.NewInt(2), uint32(3)),
	})
	n.add(t, 10_400_000, true, eventLog{
		"ClaimedUnlock(bytes32,address,uint256,address)", testChain.Contracts.DlnSource,
		encode(t, "bytes32,address,uint256,address", [32]byte(id), [20]byte(repeat(9, 20)), big.NewInt(1000), [20]byte(repeat(2, 20))),
	})
	n.storage = func(to, _ string, block uint64) string {
		status := 0
		switch {
		case to != testChain.Contracts.DlnSource.String() || block < 9_000_000:
			return "0x" // not deployed
		case block >= 10_400_000:
			status = 2
		case block >= 10_000_000:
			status = 1
		}
		return fmt.Sprintf("0x%064x%0448x", status, 0)
	}
	read := events(t, 2)(n.serve(t, testChain).History(t.Context(), id, order.GiveSide, 0))
	if _, claimed := read[1].Fact.(order.Claimed); !claimed || read[1].At.Block != 10_400_000 {
		t.Errorf("History()[1] = %+v, want the claim", read[1])
	}
}

func TestHistoryOfAnOrderThatMadeNoStep(t *testing.T) {
	_, id := delivery()
	n := newNode(1000)
	n.keep(5000, 0)
	read, err := n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(900))
	if err != nil || len(read.Events) != 0 || n.trips() != 1 {
		t.Errorf("History() = %+v, %v, want none in one round trip", read.Events, err)
	}
}

// If storage shows that a step happened, leaving it out would be a wrong answer.
func TestHistoryNeverGuesses(t *testing.T) {
	terms, id := delivery()
	t.Run("log is missing", func(t *testing.T) {
		n := newNode(1000)
		n.keep(900, 950)
		n.add(t, 900, true, fulfilledLog(t, terms))
		if got, err := n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(890)); err == nil {
			t.Errorf("History() = %+v, want an error", got)
		}
	})
	t.Run("node without archive", func(t *testing.T) {
		n := newNode(40_000_000)
		n.archive = 39_999_000
		n.keep(10_000_060, 25_000_000)
		n.add(t, 10_000_060, true, fulfilledLog(t, terms))
		n.add(t, 25_000_000, true, unlockLog(t, id))
		read, err := n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(10_000_000))
		partial, is := errors.AsType[*order.PartialError](err)
		if !is || len(read.Events) != 1 || partial.Chain != testChain.ID || partial.From > 25_000_000 || partial.To != 40_000_000 {
			t.Errorf("History() = %+v, %v, want the fulfilment and which blocks were not searched", read.Events, err)
		}
	})
	t.Run("storage is not told", func(t *testing.T) {
		n := newNode(1000)
		n.answers = map[string]string{"eth_call": `"result":null`}
		if got, err := n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(890)); err == nil {
			t.Errorf("History() = %+v, want an error", got)
		}
	})
	t.Run("contract unknown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
			unknown := testChain
			unknown.Contracts.DlnDestination = chain.Address{}
			if got, err := newNode(1000).serve(t, unknown).History(t.Context(), id, order.TakeSide, 0); err == nil {
				t.Errorf("History() = %+v, want an error", got)
			}
		})
	})
}

// tronLike is testChain with nodes that keep no past state.
func tronLike() chain.Chain {
	c := testChain
	c.Family = chain.TVM
	return c
}

// If nodes keep no past state, steps are found only in logs, however late they happened.
func TestHistoryWithoutPastState(t *testing.T) {
	terms, id := delivery()
	n := newNode(10_200_000)
	n.archive = n.head
	n.keep(10_000_060, 10_150_000)
	n.add(t, 10_000_060, true, fulfilledLog(t, terms))
	n.add(t, 10_150_000, true, unlockLog(t, id))
	c := n.serve(t, tronLike())
	events(t, 2)(c.History(t.Context(), id, order.TakeSide, n.blockTime(10_000_000)))
	n.keep(10_000_060, 10_160_000)
	n.logs = n.logs[:1]
	if got, err := c.History(t.Context(), id, order.TakeSide, n.blockTime(10_000_000)); err == nil {
		t.Errorf("History() = %+v without a log of the unlock, want an error", got)
	}
	if got, err := c.History(t.Context(), id, order.TakeSide, 0); !errors.As(err, new(*order.PartialError)) {
		t.Errorf("History() = %+v, %v from no time on, want which blocks were not searched", got, err)
	}
	n.keep(10_190_000, 10_199_000)
	n.add(t, 10_190_000, true, fulfilledLog(t, terms))
	n.add(t, 10_199_000, true, unlockLog(t, id))
	if got, err := c.History(t.Context(), id, order.TakeSide, 0); err != nil || len(got.Events) != 2 {
		t.Errorf("History() = %+v, %v from no time on, want two recent events", got, err)
	}
}

// Changes of the amount are found like steps, including the last one even if nothing else happened.
func TestHistoryFindsChangesOfTheAmount(t *testing.T) {
	terms, id := delivery()
	for name, test := range map[string]struct {
		fulfilled, first, last uint64
		want                   int
	}{
		"lowered only":                      {first: 10_000_100, want: 1},
		"lowered twice":                     {first: 10_000_100, last: 10_000_200, want: 2},
		"lowered again much later":          {first: 10_000_100, last: 30_000_000, want: 2},
		"lowered before it was fulfilled":   {first: 10_000_100, fulfilled: 10_000_300, want: 2},
		"lowered much later, and fulfilled": {first: 20_000_000, last: 20_000_300, fulfilled: 20_000_400, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(40_000_000)
			n.add(t, test.first, true, loweredLog(t, id, 900))
			if test.last != 0 {
				n.add(t, test.last, true, loweredLog(t, id, 800))
			}
			if test.fulfilled != 0 {
				n.add(t, test.fulfilled, true, fulfilledLog(t, terms))
				n.keep(test.fulfilled, 0)
			}
			n.patched = func(block uint64) uint64 {
				switch {
				case test.last != 0 && block >= test.last:
					return 190
				case block >= test.first:
					return 90
				}
				return 0
			}
			read := events(t, test.want)(n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(10_000_000)))
			final := chain.NewAmount(900)
			if test.last != 0 {
				final = chain.NewAmount(800)
			}
			o, _ := order.Fold(append(read, order.Event{Order: id, Fact: order.Created{Terms: terms}}))
			if o.TakeFinal != final {
				t.Errorf("final amount %s, want %s", o.TakeFinal, final)
			}
		})
	}
}

// TestALeftOutChangeIsFound: a list may lack the last of two changes though it has as many steps as storage shows.
func TestALeftOutChangeIsFound(t *testing.T) {
	terms, id := delivery()
	var nodes []*node
	for lacking := range 2 {
		n := newNode(1000)
		n.add(t, 100, true, loweredLog(t, id, 900))
		n.add(t, 200, true, loweredLog(t, id, 800))
		n.add(t, 300, true, fulfilledLog(t, terms))
		n.keep(300, 0)
		n.patched = func(block uint64) uint64 { return 90*min(block/100, 1) + 100*min(block/200, 1) }
		n.logs = slices.Delete(n.logs, 1, 2-lacking)
		nodes = append(nodes, n)
	}
	events(t, 3)(serveAll(t, testChain, nodes...).History(t.Context(), id, order.TakeSide, nodes[0].blockTime(90)))
}

// TestAChangeThatIsNotThereIsNotBelieved: an endpoint that at times answers another question says that the amount was
// changed, or does always, and no block has the event.
func TestAChangeThatIsNotThereIsNotBelieved(t *testing.T) {
	terms, id := delivery()
	for _, lies := range []int{0, 1, 2, 3, 1000} {
		var nodes []*node
		for range 2 {
			n := newNode(1000)
			n.patched = func(uint64) uint64 { return 0 }
			n.keep(900, 0)
			n.add(t, 900, true, fulfilledLog(t, terms))
			nodes = append(nodes, n)
		}
		left := lies
		nodes[1].patched = func(block uint64) uint64 {
			if block == 1000 {
				left--
			}
			if block < 1000 || left < 0 {
				return 0
			}
			return 90
		}
		read, err := serveAll(t, testChain, nodes...).History(t.Context(), id, order.TakeSide, nodes[0].blockTime(890))
		if err != nil || len(read.Events) != 1 {
			t.Errorf("%d lies: History() = %+v, %v, want one event", lies, read.Events, err)
		}
	}
}

// TestNoPastStateIsEmptyByOneWord: an endpoint that reports every state as empty is not believed about past ones,
// neither if the contract existed but the other endpoint has pruned it, nor on a young chain, where the other has it.
func TestNoPastStateIsEmptyByOneWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		_, id := delivery()
		for head, archive := range map[uint64]uint64{20_000: 20_000, 1000: 0} {
			honest, liar := newNode(head), newNode(head)
			changed := head / 2
			honest.archive = archive
			honest.keep(head+1, 0)
			honest.patched = func(block uint64) uint64 { return 90 * min(block/changed, 1) }
			liar.patched, liar.storage = nil, func(string, string, uint64) string { return "0x" }
			for _, n := range []*node{liar, honest} {
				n.add(t, changed, true, loweredLog(t, id, 900))
			}
			read, err := serveAll(t, testChain, liar, honest).History(t.Context(), id, order.TakeSide, honest.blockTime(changed-10))
			if err != nil || len(read.Events) != 1 {
				t.Errorf("%d blocks: History() = %+v, %v, want one event", head, read.Events, err)
			}
		}
	})
}

// TestTheEndOfACallIsInAnotherList: if the adapter does not know the state of its calls, logs decide. One of two
// endpoints lacks the end's log, if there is one, and returns empty data instead of a revert.
func TestTheEndOfACallIsInAnotherList(t *testing.T) {
	terms, _ := delivery()
	terms.ExternalCall = []byte("call")
	id := onchain.ID(terms)
	for want, logs := range map[order.ExternalCallState]int{order.AwaitingExecution: 2, order.Completed: 3} {
		for lacking := range 2 {
			var nodes []*node
			for i := range 2 {
				n := newNode(1000)
				n.keep(300, 0)
				others := n.storage
				n.storage = func(to, data string, block uint64) string {
					switch {
					case to != testChain.Contracts.ExternalCallAdapter.String():
						return others(to, data, block)
					case i == lacking:
						return "0x"
					}
					return "!execution reverted"
				}
				n.add(t, 300, true, registeredLog(t, id), fulfilledLog(t, terms))
				n.add(t, 310, true, endedLog(t, id))
				if n.logs = n.logs[:logs]; i == lacking {
					n.logs = n.logs[:2]
				}
				nodes = append(nodes, n)
			}
			read, err := serveAll(t, testChain, nodes...).History(t.Context(), id, order.TakeSide, nodes[0].blockTime(290))
			if o, _ := order.Fold(read.Events); err != nil || o.Call != want {
				t.Errorf("endpoint %d lacks it: the call is %v (%v), want %v", lacking, o.Call, err, want)
			}
		}
	}
}

// TestOneHeadEndsNoHistory: the first of two endpoints says that blocks are there that none has: their headers are
// missing, or nodes refuse to search them.
func TestOneHeadEndsNoHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		terms, id := delivery()
		for _, c := range []chain.Chain{testChain, tronLike()} {
			for _, refusal := range []string{"", rpctest.Fault(-32602, "block range extends beyond current head block")} {
				honest, ahead := newNode(1000), newNode(1000)
				for _, n := range []*node{honest, ahead} {
					n.add(t, 950, true, fulfilledLog(t, terms))
					n.keep(950, 0)
					n.beyond = refusal
				}
				lying := lie{result: func(result any) any {
					if h, is := result.(map[string]any); is && h["hash"] == blockHash(1000) {
						h["number"] = "0x3e9"
					}
					return result
				}}
				read, err := serveAll[http.Handler](t, c, lying.tell(ahead), honest).History(t.Context(), id, order.TakeSide, 0)
				if err != nil || len(read.Events) != 1 {
					t.Errorf("family %d, %q: History() = %+v, %v, want one event", c.Family, refusal, read.Events, err)
				}
			}
		}
	})
}

// If the head is known, the block of a very recent time needs no search.
func TestHistoryOfAFreshOrderTakesThreeRoundTrips(t *testing.T) {
	terms, id := delivery()
	n := newNode(40_000_000)
	n.add(t, 39_999_950, true, fulfilledLog(t, terms))
	n.add(t, 39_999_990, true, unlockLog(t, id))
	n.keep(39_999_950, 39_999_990)
	c := n.serve(t, testChain)
	must.Get(c.Head(t.Context()))(t)
	n.trips()
	events(t, 2)(c.History(t.Context(), id, order.TakeSide, n.blockTime(39_999_900)))
	if trips := n.trips(); trips != 3 {
		t.Errorf("History() took %d round trips, want 3: storage, logs, receipts", trips)
	}
	n.answers["eth_getTransactionByHash"] = `"result":null` // as by nodes that index the newest transactions alone
	events(t, 2)(n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(39_999_900)))
	if asked := n.methods["eth_getTransactionByHash"]; asked != 2*2 {
		t.Errorf("asked for transactions %d times, want twice for each of two", asked)
	}
}

func TestHistoryOfTheGiveSideLeavesOutAKnownCreation(t *testing.T) {
	terms, id := delivery()
	n := newNode(900)
	n.add(t, 100, true, createdLog(t, terms))
	n.storage = func(string, string, uint64) string { return fmt.Sprintf("0x%064x%0448x", 1, 0) }
	events(t, 0)(n.serve(t, testChain).History(t.Context(), id, order.GiveSide, n.blockTime(100)))
	if trips := n.trips(); trips != 1 {
		t.Errorf("History() took %d round trips, want 1", trips)
	}
}

// registeredLog is the adapter's event that an order's call is waiting for execution; endedLog, that it was executed.
func registeredLog(t *testing.T, id order.ID) eventLog {
	t.Helper()
	return eventLog{
		"ExternalCallRegistered(bytes32,bytes32,address,address,uint256,bytes)", testChain.Contracts.ExternalCallAdapter,
		encode(t, "bytes32,bytes32,address,address,uint256,bytes", callID, [32]byte(id), [20]byte(repeat(4, 20)), [20]byte(repeat(3, 20)),
			big.NewInt(990), []byte("call")),
	}
}

func endedLog(t *testing.T, id order.ID) eventLog {
	t.Helper()
	return eventLog{
		"ExternalCallExecuted(bytes32,bool)", testChain.Contracts.ExternalCallAdapter,
		encode(t, "bytes32,bool", [32]byte(id), true),
	}
}

var callID = [32]byte(repeat(0xca, 32))

// keepCall makes the adapter's storage show a call that was registered in one block and, unless zero, ended in another.
func (n *node) keepCall(registered, ended uint64) {
	others := n.storage
	n.storage = func(to, data string, block uint64) string {
		switch {
		case to != testChain.Contracts.ExternalCallAdapter.String() || !strings.HasSuffix(data, fmt.Sprintf("%x", callID)):
			return others(to, data, block)
		case ended != 0 && block >= ended:
			return fmt.Sprintf("0x%064x", 2)
		case block >= registered:
			return fmt.Sprintf("0x%064x", 1)
		}
		return fmt.Sprintf("0x%064x", 0)
	}
}

// An external call can be executed at any time after the fulfilment.
func TestHistoryFindsTheEndOfACall(t *testing.T) {
	const fulfilled = 10_000_060
	terms, _ := delivery()
	terms.ExternalCall = []byte("call")
	id := onchain.ID(terms)
	for name, test := range map[string]struct {
		head, ended, archive uint64
		chain                chain.Chain            // testChain unless set
		want                 order.ExternalCallStep // the last one; zero: an error
		trips                int
		isUnlisted           bool // the registration is missing from lists
	}{
		"waiting":                          {head: 40_000_000, want: order.CallRegistered, trips: 7},
		"soon":                             {head: 40_000_000, ended: 10_000_100, want: order.CallExecuted, trips: 6},
		"much later":                       {head: 40_000_000, ended: 25_000_000, want: order.CallExecuted, trips: 16},
		"in the newest block":              {head: 40_000_000, ended: 40_000_000, want: order.CallExecuted, trips: 16},
		"though its beginning is left out": {head: 40_000_000, ended: 25_000_000, want: order.CallExecuted, trips: 18, isUnlisted: true},
		"much later, no past state":        {head: 40_000_000, ended: 25_000_000, archive: 39_999_000},
		"later, where none is told":        {head: 10_100_000, ended: 10_090_000, archive: 10_100_000, chain: tronLike(), want: order.CallExecuted, trips: 30},
		"waiting, where no past is told":   {head: 10_100_000, archive: 10_100_000, chain: tronLike(), want: order.CallRegistered, trips: 7},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(test.head)
			n.archive = test.archive
			n.add(t, fulfilled, true, registeredLog(t, id), fulfilledLog(t, terms))
			n.keep(fulfilled, 0)
			n.keepCall(fulfilled, test.ended)
			if test.isUnlisted {
				n.logs = n.logs[1:]
			}
			if test.ended != 0 {
				n.add(t, test.ended, true, endedLog(t, id))
			}
			if test.chain.ID == 0 {
				test.chain = testChain
			}
			read, err := n.serve(t, test.chain).History(t.Context(), id, order.TakeSide, n.blockTime(10_000_000))
			if test.want == 0 {
				if err == nil {
					t.Errorf("History() = %+v, want an error: the end of the call cannot be found", read.Events)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var last order.ExternalCall
			for _, e := range read.Events {
				if call, is := e.Fact.(order.ExternalCall); is {
					last = call
				}
			}
			if last.Step != test.want {
				t.Errorf("the call's last step is %d, want %d", last.Step, test.want)
			}
			if trips := n.trips(); trips > test.trips {
				t.Errorf("History() took %d round trips, want at most %d", trips, test.trips)
			}
		})
	}
}

// pastNode returns a node with an order that was created, delivered and unlocked long ago, and an unrelated message.
func pastNode(t *testing.T) *node {
	t.Helper()
	n := newNode(50_000)
	terms, id := delivery()
	n.add(t, 10, true, paidLog(7), createdLog(t, terms))
	n.add(t, 12, true, fulfilledLog(t, terms), paidLog(7))
	n.add(t, 12, true, claimedByGate(9))
	n.add(t, 14, true, unlockLog(t, id))
	return n
}

// claimedByGate is the gate's event for an arbitrary message.
func claimedByGate(b byte) eventLog {
	return eventLog{
		"Claimed(bytes32,bytes32,uint256,address,uint256,uint256,bytes,bool)", testChain.Contracts.Gate, repeat(b, 32),
	}
}

// TestEventsOfLogsAskForCreationsAlone compares the events with those from the receipts of all transactions.
func TestEventsOfLogsAskForCreationsAlone(t *testing.T) {
	n := pastNode(t)
	c := n.serve(t, testChain)
	must.Get(c.Head(t.Context()))(t)
	whole, err := c.Events(t.Context(), 1, 100)
	if err != nil || len(whole) != 3 {
		t.Fatalf("Events = %v, %v, want 3", whole, err)
	}
	n.methods = nil
	got := must.Get(c.EventsOfLogs(t.Context(), 1, 100))(t)
	if asked := n.methods["eth_getTransactionReceipt"]; asked != 1 {
		t.Errorf("%d receipts were asked for, want that of the creation", asked)
	}
	for i := range whole {
		if _, creates := whole[i].Fact.(order.Created); !creates {
			whole[i].At.Initiator = chain.Address{}
		}
	}
	if !reflect.DeepEqual(whole, got) {
		t.Errorf("EventsOfLogs = %+v, want %+v", got, whole)
	}
}

// TestTellersAreThoseWhoseWordWasTaken reads a transaction's events by its hash, lists them again together with other
// blocks, and verifies the list.
func TestTellersAreThoseWhoseWordWasTaken(t *testing.T) {
	terms, _ := delivery()
	first, second := newNode(1000), newNode(1000)
	tx := first.add(t, 500, true, fulfilledLog(t, terms))
	second.add(t, 500, true, fulfilledLog(t, terms))
	c := serveAll(t, testChain, first, second)
	block := hash(t, blockHash(500))
	tellers := func() []string { return slices.Sorted(slices.Values(c.Tellers(tx, block))) }
	if got := tellers(); len(got) != 0 {
		t.Errorf("reported by %q before any was asked", got)
	}
	must.Get(c.EventsIn(t.Context(), tx))(t)
	if got := tellers(); len(got) != 1 {
		t.Errorf("reported by %q, want the one endpoint that gave the receipt", got)
	}
	events, err := c.Events(t.Context(), 400, 600)
	if err != nil || len(events) != 1 {
		t.Fatalf("Events() = %+v, %v", events, err)
	}
	must.Get(c.Verify(t.Context(), 400, 600, events))(t)
	if got := tellers(); !slices.Equal(got, []string{"node-1", "node-2"}) {
		t.Errorf("reported by %q after both readings", got)
	}
	if got := c.Tellers(tx, hash(t, blockHash(501))); len(got) != 0 {
		t.Errorf("reported in another block by %q", got)
	}
}
