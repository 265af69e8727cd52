package evm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream/evm"
)

const (
	stretched = 1000 // blocks per recorded block
	keptState = 128  // blocks
)

var numbered = regexp.MustCompile(`"blockNumber":\s*"0x([0-9a-f]+)"`)

// stretch moves the blocks of a recorded ledger a thousand blocks apart, on a node that keeps the state of only the
// newest blocks.
func (l ledger) stretch(t *testing.T) *node {
	t.Helper()
	n := l.node()
	move := func(raw json.RawMessage) json.RawMessage {
		return numbered.ReplaceAllFunc(raw, func(found []byte) []byte {
			number := parseQuantity("0x" + string(numbered.FindSubmatch(found)[1]))
			return fmt.Appendf(nil, `"blockNumber":"0x%x"`, number*stretched)
		})
	}
	receipts, logs := make(map[string]json.RawMessage), slices.Clone(n.logs)
	for hash, raw := range n.receipts {
		receipts[hash] = move(raw)
	}
	for i := range logs {
		logs[i].block, logs[i].raw = logs[i].block*stretched, move(logs[i].raw)
	}
	n.receipts, n.logs = receipts, logs
	n.head, n.finalized, n.archive = l.Head*stretched, l.Finalized*stretched, l.Head*stretched-keptState
	n.blockTime = func(number uint64) uint64 {
		at := number / stretched
		begins, ends := parseQuantity(l.Blocks[at].Timestamp), parseQuantity(l.Blocks[min(at+1, l.Head)].Timestamp)
		return begins + (ends-begins)*(number%stretched)/stretched
	}
	n.storage = func(to, data string, block uint64) string { return l.read(to, data, block/stretched) }
	return n
}

// TestOrdersOlderThanTheStateAreFoundInLogs: every order of the ledgers is complete on nodes with 128 blocks of state.
func TestOrdersOlderThanTheStateAreFoundInLogs(t *testing.T) {
	recordings, truth := readRecordings(t), readTruth(t)
	chains := map[chain.ID]*evm.Chain{}
	for _, r := range recordings {
		described := r.describe()
		described.BlockTime, described.Contracts.Multicall = time.Second, chain.Address{}
		chains[r.DeBridgeID] = r.stretch(t).serve(t, described)
	}
	complete := 0
	for _, want := range truth.Orders {
		read, err := chains[want.SourceChainID].EventsIn(t.Context(), want.CreationTxHash)
		events := read.Events
		if err != nil {
			t.Errorf("EventsIn(%s): %v", want.CreationTxHash, err)
			continue
		}
		events = slices.DeleteFunc(events, func(e order.Event) bool { return e.Order != want.OrderID })
		since := events[0].At.Time
		given, err := chains[want.SourceChainID].History(t.Context(), want.OrderID, order.GiveSide, since)
		events = append(events, given.Events...)
		if take, configured := chains[want.TakeChainID]; configured {
			taken, takeErr := take.History(t.Context(), want.OrderID, order.TakeSide, since)
			events, err = append(events, taken.Events...), errors.Join(err, takeErr)
		}
		got, _ := order.Fold(events)
		if err != nil || got.State.String() != want.Record.State || got.Call.String() != want.Record.ExternalCallState {
			t.Errorf("order %s is %v, %v (%v), want %s, %s", want.OrderID, got.State, got.Call, err, want.Record.State, want.Record.ExternalCallState)
			continue
		}
		complete++
	}
	t.Logf("%d of %d orders are complete", complete, len(truth.Orders))
}

// TestLogsThatNobodyKeepsAreSaidToBeMissing uses a node without the logs of older blocks: the events of newer blocks
// are returned, together with the blocks that may hold more.
func TestLogsThatNobodyKeepsAreSaidToBeMissing(t *testing.T) {
	terms, id := delivery()
	n := newNode(1_000_000)
	n.archive, n.pruned = 999_900, 800_000
	n.keep(500_060, 900_000)
	n.add(t, 500_060, true, fulfilledLog(t, terms))
	n.add(t, 900_000, true, unlockLog(t, id))
	read, err := n.serve(t, testChain).History(t.Context(), id, order.TakeSide, n.blockTime(500_000))
	partial, is := errors.AsType[*order.PartialError](err)
	if !is || partial.From > 500_060 || partial.To < 799_999 || partial.To >= 900_000 {
		t.Fatalf("History() = %v, want the blocks before 800000 to be missing", err)
	}
	if len(read.Events) != 1 || read.Events[0].At.Block != 900_000 {
		t.Errorf("History() = %+v, want the unlock", read.Events)
	}
}
