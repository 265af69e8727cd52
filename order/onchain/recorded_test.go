package onchain_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// recordedLog is a log in a node's JSON.
type recordedLog struct {
	Address  hexBytes
	Topics   []chain.Hash
	Data     hexBytes
	LogIndex string
}

func (l recordedLog) log(t *testing.T) onchain.Log {
	t.Helper()
	index, err := strconv.ParseUint(strings.TrimPrefix(l.LogIndex, "0x"), 16, 32)
	if l.LogIndex != "" && err != nil {
		t.Fatal(err)
	}
	return onchain.Log{Address: chain.NewAddress(l.Address), Topics: l.Topics, Data: l.Data, Index: uint(index)}
}

func TestDecodeReadsRecordedEncodings(t *testing.T) {
	var recorded struct {
		OrderID order.ID
		Order   recordedTerms
		Logs    []struct {
			Event string
			recordedLog
		}
	}
	readShared(t, "facts/dln/vectors/evm_synthetic_logs.json", &recorded)
	terms := recorded.Order.terms()
	for _, l := range recorded.Logs {
		found := 0
		for _, emitter := range []chain.Address{contracts.DlnSource, contracts.DlnDestination} {
			log := l.log(t)
			log.Address = emitter
			facts, err := onchain.Decode(contracts, []onchain.Log{log})
			if err != nil {
				t.Errorf("%s: %v", l.Event, err)
			}
			for _, f := range facts {
				found++
				if f.Order != recorded.OrderID {
					t.Errorf("%s: order %s, want %s", l.Event, f.Order, recorded.OrderID)
				}
				if created, ok := f.Fact.(order.Created); ok && onchain.ID(created.Terms) != onchain.ID(terms) {
					t.Errorf("%s: terms %+v, want %+v", l.Event, created.Terms, terms)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: read %d facts, want 1", l.Event, found)
		}
	}
}

// TestDecodeReadsRecordedLedgers reads every receipt of ledgers that the protocol's own contracts wrote, and
// compares events and submissions with what an independent decoder made of them.
func TestDecodeReadsRecordedLedgers(t *testing.T) {
	var expected struct {
		Timeline []struct {
			ChainID         chain.ID
			LogIndex        uint
			TransactionHash chain.Hash
			Event           string
			OrderID         order.ID
		}
	}
	readShared(t, "golden/ledgers-A/expected-A.json", &expected)
	want := map[string]int{}
	for _, e := range expected.Timeline {
		want[fmt.Sprint(e.ChainID, e.TransactionHash, e.LogIndex, e.OrderID)]++
	}
	got := map[string]int{}
	for _, native := range []uint64{1, 137, 8453, 146} {
		var ledger struct {
			DeBridgeID chain.ID
			Contracts  struct{ DlnSource, DlnDestination, Gate, ExternalCallAdapter hexBytes }
			Receipts   map[string]struct {
				TransactionHash chain.Hash
				Logs            []recordedLog
			}
		}
		readShared(t, fmt.Sprintf("golden/ledgers-A/ledger-A-%d.json", native), &ledger)
		c := chain.Contracts{
			DlnSource:           chain.NewAddress(ledger.Contracts.DlnSource),
			DlnDestination:      chain.NewAddress(ledger.Contracts.DlnDestination),
			Gate:                chain.NewAddress(ledger.Contracts.Gate),
			ExternalCallAdapter: chain.NewAddress(ledger.Contracts.ExternalCallAdapter),
		}
		for _, receipt := range ledger.Receipts {
			logs := make([]onchain.Log, len(receipt.Logs))
			for i, l := range receipt.Logs {
				logs[i] = l.log(t)
			}
			found, err := onchain.Decode(c, logs)
			if err != nil {
				t.Errorf("chain %d, transaction %s: %v", native, receipt.TransactionHash, err)
			}
			for _, f := range found {
				if claimed, ok := f.Fact.(order.Claimed); ok && claimed.Submission.IsAbsent() {
					t.Errorf("chain %d, transaction %s: claim without submission", native, receipt.TransactionHash)
				}
				got[fmt.Sprint(ledger.DeBridgeID, receipt.TransactionHash, f.LogIndex, f.Order)]++
			}
		}
	}
	for event, n := range want {
		if got[event] != n {
			t.Errorf("event %s read %d times, want %d", event, got[event], n)
		}
	}
	t.Logf("%d events read, %d expected on the timeline", len(got), len(want))
}
