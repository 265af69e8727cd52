package evm_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream/evm"
)

// ledger is a recorded chain: real contracts, run through every kind of order.
type ledger struct {
	ChainID    uint64
	DeBridgeID chain.ID
	Contracts  struct{ DlnSource, DlnDestination, Gate, Multicall3, ExternalCallAdapter string }
	Head       uint64
	Finalized  uint64
	Blocks     []struct {
		Hash, Timestamp string
	}
	Receipts, Transactions map[string]json.RawMessage
	Calls                  []struct {
		To, Data string
		Block    any
		Result   string
		Error    any
	}
	CallDefaults []struct{ To, Selector, Result string }

	logs []nodeLog // of the receipts, when they were read
}

// expectation is what a reader that shares no code with this one made of the ledgers.
type expectation struct {
	Orders []struct {
		OrderID             order.ID
		CreationTxHash      chain.TxHash
		SourceChainID       chain.ID
		TakeChainID         chain.ID
		TakeChainConfigured bool
		Record              struct {
			State                     string
			ExternalCallState         string
			CreatedSrcEventMetadata   *expectedEvent
			FulfilledDstEventMetadata *expectedEvent
			SentUnlockDstEventInfo    expectedSubmission
			ClaimedUnlockSrcEventInfo expectedSubmission
		}
	}
}

type expectedEvent struct {
	TransactionHash chain.TxHash
	BlockNumber     uint64
	BlockHash       chain.Hash
	BlockTimeStamp  uint64
	Initiator       chain.Address
}

type expectedSubmission struct {
	TransactionMetadata *expectedEvent
	SubmissionID        *chain.Hash
}

func goldenFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(evm.Recorded, "golden", "ledgers-A")
	evm.NeedRecorded(t, folder)
	return folder
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func address(t *testing.T, text string) chain.Address {
	t.Helper()
	if text == "" {
		return chain.Address{}
	}
	a, err := chain.ParseAddress(text, chain.EVM)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// goldenChains serves the recorded ledgers, with their own hashes, each as a chain.
func goldenChains(t *testing.T, folder string) (map[chain.ID]*evm.Chain, map[chain.ID]uint64) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "ledger-A-*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no ledgers in %s: %v", folder, err)
	}
	chains, heads := map[chain.ID]*evm.Chain{}, map[chain.ID]uint64{}
	for _, path := range paths {
		var l ledger
		readJSON(t, path, &l)
		chains[l.DeBridgeID] = l.node(t).serve(t, chain.Chain{
			ID: l.DeBridgeID, Native: l.ChainID, BlockTime: time.Second, Finality: 12,
			Contracts: chain.Contracts{
				DlnSource: address(t, l.Contracts.DlnSource), DlnDestination: address(t, l.Contracts.DlnDestination),
				Gate: address(t, l.Contracts.Gate), ExternalCallAdapter: address(t, l.Contracts.ExternalCallAdapter),
				Multicall: address(t, l.Contracts.Multicall3),
			},
		})
		heads[l.DeBridgeID] = l.Head
	}
	return chains, heads
}

func (l ledger) node(t *testing.T) *node {
	t.Helper()
	n := &node{
		chainID: l.ChainID, head: l.Head, finalized: l.Finalized, receipts: l.Receipts, transactions: l.Transactions, storage: l.read,
		numbers:   make(map[string]uint64),
		blockTime: func(number uint64) uint64 { return parseQuantity(l.Blocks[number].Timestamp) },
	}
	for number, block := range l.Blocks {
		n.numbers[block.Hash] = uint64(number)
	}
	if n.logs = l.logs; n.logs == nil {
		n.logs = l.readLogs(t)
	}
	return n
}

// readLogs takes the logs out of the receipts.
func (l ledger) readLogs(t *testing.T) (logs []nodeLog) {
	t.Helper()
	for _, raw := range l.Receipts {
		var receipt struct{ Logs []json.RawMessage }
		if err := json.Unmarshal(raw, &receipt); err != nil {
			t.Fatal(err)
		}
		for _, raw := range receipt.Logs {
			logs = append(logs, newNodeLog(t, raw))
		}
	}
	sortLogs(logs)
	return logs
}

func newNodeLog(t *testing.T, raw json.RawMessage) nodeLog {
	t.Helper()
	var l struct {
		Address, BlockNumber, LogIndex string
		Topics                         []string
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		t.Fatal(err)
	}
	var topic string
	if len(l.Topics) > 0 {
		topic = l.Topics[0]
	}
	return nodeLog{
		block: parseQuantity(l.BlockNumber), index: parseQuantity(l.LogIndex), address: l.Address, topic: topic, raw: raw,
	}
}

func sortLogs(logs []nodeLog) {
	slices.SortFunc(logs, func(a, b nodeLog) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.index, b.index))
	})
}

// read answers as the recorded contracts did at block.
func (l ledger) read(to, data string, block uint64) string {
	answer := ""
	for _, c := range l.Calls {
		at, numbered := c.Block.(float64)
		if strings.EqualFold(c.To, to) && c.Data == data && (!numbered || uint64(at) <= block) {
			answer = c.Result
			if c.Error != nil {
				answer = "!execution reverted"
			}
		}
	}
	for _, c := range l.CallDefaults {
		if answer == "" && strings.EqualFold(c.To, to) && strings.HasPrefix(data, c.Selector) {
			answer = c.Result
		}
	}
	return cmp.Or(answer, "!execution reverted")
}

func TestRecordedOrders(t *testing.T) {
	folder := goldenFolder(t)
	chains, heads := goldenChains(t, folder)
	var expected expectation
	readJSON(t, filepath.Join(folder, "expected-A.json"), &expected)

	byOrder := map[order.ID][]order.Event{}
	for id, c := range chains {
		events, err := c.Events(t.Context(), 0, heads[id])
		if err != nil {
			t.Fatalf("Events of chain %d: %v", id, err)
		}
		for _, e := range events {
			byOrder[e.Order] = append(byOrder[e.Order], e)
		}
	}
	for _, want := range expected.Orders {
		got, ok := order.Fold(byOrder[want.OrderID])
		if !ok {
			t.Errorf("order %s is not in the events", want.OrderID)
			continue
		}
		record := want.Record
		if got.State.String() != record.State || got.Call.String() != record.ExternalCallState {
			t.Errorf("order %s is %s, %s, want %s, %s", want.OrderID, got.State, got.Call, record.State, record.ExternalCallState)
		}
		compareAt(t, want.OrderID, got.Created, record.CreatedSrcEventMetadata)
		compareAt(t, want.OrderID, got.Fulfilled, record.FulfilledDstEventMetadata)
		compareAt(t, want.OrderID, got.SentUnlock, record.SentUnlockDstEventInfo.TransactionMetadata)
		compareAt(t, want.OrderID, got.ClaimedUnlock, record.ClaimedUnlockSrcEventInfo.TransactionMetadata)
		if got.ClaimedUnlock != nil && got.ClaimedUnlock.Fact.Submission != *record.ClaimedUnlockSrcEventInfo.SubmissionID {
			t.Errorf("order %s was claimed by message %s, want %s", want.OrderID, got.ClaimedUnlock.Fact.Submission, record.ClaimedUnlockSrcEventInfo.SubmissionID)
		}
	}
}

func compareAt[F order.Fact](t *testing.T, id order.ID, got *order.Seen[F], want *expectedEvent) {
	t.Helper()
	if got == nil || want == nil {
		if (got == nil) != (want == nil) {
			t.Errorf("order %s: step seen: %v, want %v", id, got != nil, want != nil)
		}
		return
	}
	at := got.At
	if at.Tx != want.TransactionHash || at.Block != want.BlockNumber || at.BlockHash != want.BlockHash ||
		at.Time != want.BlockTimeStamp || at.Initiator != want.Initiator {
		t.Errorf("order %s: step at %+v, want %+v", id, at, *want)
	}
}

// What one order's transactions and storage lead to must be what reading all logs leads to.
func TestRecordedHistories(t *testing.T) {
	folder := goldenFolder(t)
	chains, _ := goldenChains(t, folder)
	var expected expectation
	readJSON(t, filepath.Join(folder, "expected-A.json"), &expected)
	for _, want := range expected.Orders {
		read, err := chains[want.SourceChainID].EventsIn(t.Context(), want.CreationTxHash)
		created := read.Events
		if err != nil {
			t.Errorf("EventsIn(%s): %v", want.CreationTxHash, err)
			continue
		}
		if !slices.ContainsFunc(created, func(e order.Event) bool { return e.Order == want.OrderID }) {
			t.Errorf("EventsIn(%s) lacks order %s", want.CreationTxHash, want.OrderID)
		}
		read, err = chains[want.SourceChainID].History(t.Context(), want.OrderID, order.GiveSide, created[0].At.Time)
		events := read.Events
		if err != nil {
			t.Errorf("History of order %s on its give chain: %v", want.OrderID, err)
		}
		if take, configured := chains[want.TakeChainID]; configured {
			read, err := take.History(t.Context(), want.OrderID, order.TakeSide, created[0].At.Time)
			taken := read.Events
			if err != nil {
				t.Errorf("History of order %s on its take chain: %v", want.OrderID, err)
			}
			events = append(events, taken...)
		}
		for _, e := range created {
			if e.Order == want.OrderID {
				events = append(events, e)
			}
		}
		if got, ok := order.Fold(events); !ok || got.State.String() != want.Record.State || got.Call.String() != want.Record.ExternalCallState {
			t.Errorf("order %s found by its history: %+v, want %s", want.OrderID, got, want.Record.State)
		}
	}
}
