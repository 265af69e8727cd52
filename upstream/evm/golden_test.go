package evm_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/upstream/evm"
)

// ledger is a recorded chain: real contracts, run through every kind of order.
type ledger struct {
	ChainID    uint64
	DeBridgeID chain.ID
	Contracts  struct{ DlnSource, DlnDestination, Gate, Multicall3, ExternalCallAdapter chain.Address }
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

	logs []nodeLog // of the receipts
}

func goldenFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(evm.Recorded, "golden", "ledgers-A")
	evm.NeedRecorded(t, folder)
	return folder
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func (l ledger) node() *node {
	n := &node{
		logs: l.logs, chainID: l.ChainID, head: l.Head, finalized: l.Finalized, receipts: l.Receipts, transactions: l.Transactions, storage: l.read,
		numbers:   make(map[string]uint64),
		blockTime: func(number uint64) uint64 { return parseQuantity(l.Blocks[number].Timestamp) },
	}
	for number, block := range l.Blocks {
		n.numbers[block.Hash] = uint64(number)
	}
	return n
}

// readLogs takes the logs out of the receipts.
func (l ledger) readLogs(t *testing.T) (logs []nodeLog) {
	t.Helper()
	for _, raw := range l.Receipts {
		var receipt struct{ Logs []json.RawMessage }
		must.Do(t, json.Unmarshal(raw, &receipt))
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
	must.Do(t, json.Unmarshal(raw, &l))
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
