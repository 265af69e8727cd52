package evm_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
)

// oddities are odd answers about single receipts that real nodes have returned (Zilliqa/zq2#2188,
// sei-protocol/sei-chain#2214 and #2230).
var oddities = map[string]func(receipt map[string]any) any{
	"a flipped bit of the filter": func(receipt map[string]any) any {
		receipt["logsBloom"] = flipped(receipt["logsBloom"].(string), 511)
		return receipt
	},
	"another block's hash": func(receipt map[string]any) any {
		receipt["blockHash"] = "0x" + strings.Repeat("f0", 32)
		return receipt
	},
	"no receipt": func(map[string]any) any { return nil },
}

// TestAnOddReceiptStopsNothing follows a ledger through one endpoint with an odd answer about one transaction with
// orders: following continues, the block is named, and it is read once the endpoint is fixed and the index restarts.
func TestAnOddReceiptStopsNothing(t *testing.T) {
	recorded := readRecordings(t)[0]
	var odd nodeLog
	for _, l := range recorded.logs {
		if strings.EqualFold(l.address, recorded.Contracts.DlnSource.String()) {
			odd = l
		}
	}
	var of struct{ TransactionHash string }
	must.Do(t, json.Unmarshal(odd.raw, &of))
	for name, change := range oddities {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
				p := &provider{recording: recorded, alter: func(method, members string) string {
					return changed(method, members, of.TransactionHash, change)
				}}
				described := recorded.describe()
				db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
				defer db.Close()
				follow := func() (logged string) {
					var said lockedBuffer
					source := serveAll(t, described, p)
					x := query.New(follow.New(db, map[chain.ID]order.Source{described.ID: source}, follow.Options{
						Chains: chain.NewRegistry(described), Pace: follow.Pace{Asked: time.Millisecond}, Logger: slog.New(slog.NewTextHandler(&said, nil)),
					}), query.Options{})
					stop := runIndex(t, x)
					defer stop()
					until(t, func() bool {
						return x.Basis().Chains[0].Indexed == recorded.Head && (p.alter != nil || strings.Contains(said.String(), "quarantined block read"))
					})
					return said.String()
				}
				logged := follow()
				if want := fmt.Sprintf("block=%d ", odd.block); !strings.Contains(logged, want) || !strings.Contains(logged, "quarantined") {
					t.Errorf("nobody names block %d: %s", odd.block, logged)
				}
				p.mu.Lock()
				p.alter = nil
				p.mu.Unlock()
				follow()
			})
		})
	}
}

// TestWhatOneEndpointSpoilsIsRight reads a ledger through an endpoint that is wrong about a transaction, and an honest
// one: the first reading is right, or the second one corrects it; the second names the endpoint.
func TestWhatOneEndpointSpoilsIsRight(t *testing.T) {
	recorded := readRecordings(t)[0]
	honest := &provider{recording: recorded}
	want := must.Get(serveAll(t, recorded.describe(), honest, honest).Events(t.Context(), 0, recorded.Head))(t)
	denied := want[len(want)-1].At
	unsealed := func(_, members string) string {
		return rewriteOf(members, func(result any) any {
			if told, is := result.(map[string]any); is {
				delete(told, "stateRoot")
			}
			return result
		})
	}
	denies := func(method, members string) string {
		return rewriteOf(unsealed(method, members), func(result any) any {
			switch told := result.(type) {
			case []any:
				return slices.DeleteFunc(told, func(each any) bool { return each.(map[string]any)["blockHash"] == denied.BlockHash.String() })
			case map[string]any:
				if told["hash"] == denied.BlockHash.String() {
					told["receiptsRoot"] = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421" // of none
				}
			}
			return result
		})
	}
	for name, test := range map[string]struct {
		alter  func(method, members string) string
		beside func(method, members string) string // by the honest endpoint, which has no header that gives its hash
		lacks  string                              // method that the honest endpoint does not have
		wrong  []string                            // that a second reading names
		isOff  bool                                // the first reading is
	}{
		"a list of another fork and a spoilt receipt": {alter: func(method, members string) string {
			if method == "eth_getLogs" {
				before, after, _ := strings.Cut(members, `"blockHash":"0x`)
				return before + `"blockHash":"0x` + strings.Repeat("f0", 32) + after[64:]
			}
			return changed(method, members, "", oddities["a flipped bit of the filter"])
		}, wrong: []string{"node-1"}},
		"a block without logs by a forged root":                                     {alter: denies, wrong: []string{"node-1"}},
		"a block without logs by a forged root that no other endpoint can disprove": {alter: denies, beside: unsealed, lacks: "eth_getBlockReceipts", wrong: []string{"node-1"}},
		"senders of creations": {alter: func(method, members string) string {
			return rewriteOf(members, ofReceipts(func(receipt map[string]any) any {
				if slices.ContainsFunc(want, func(e order.Event) bool {
					return is[order.Created](e) && e.At.Tx.String() == receipt["transactionHash"]
				}) {
					receipt["from"] = "0x" + strings.Repeat("ab", 20)
				}
				return receipt
			}))
		}, wrong: []string{"node-1"}, isOff: true},
		"searches that revert": {alter: func(method, members string) string {
			if method == "eth_getLogs" {
				return `"error":{"code":3,"message":"execution reverted","data":"0x08c379a0"}`
			}
			return members
		}},
		"submissions of claims": {alter: func(method, members string) string {
			return rewriteOf(members, ofReceipts(func(receipt map[string]any) any {
				for _, each := range receipt["logs"].([]any) {
					if l := each.(map[string]any); strings.EqualFold(l["address"].(string), recorded.Contracts.Gate.String()) {
						l["data"] = flipped(l["data"].(string), 0)
					}
				}
				return receipt
			}))
		}, wrong: []string{"node-1"}, isOff: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
				c := serveAll(t, recorded.describe(), &provider{recording: recorded, alter: test.alter}, &provider{recording: recorded, alter: test.beside, refuses: func(c rpctest.Call) string {
					if c.Method == test.lacks {
						return rpctest.Fault(-32601, "the method does not exist")
					}
					return ""
				}})
				got, err := c.Events(t.Context(), 0, recorded.Head)
				if isOff := !reflect.DeepEqual(got, want); err != nil || isOff != test.isOff {
					t.Errorf("read are %d events, %v, others than the ledger's %d: %t", len(got), err, len(want), isOff)
				}
				p, err := c.Verify(t.Context(), 0, recorded.Head, got)
				if err != nil || !reflect.DeepEqual(p.Events, want) || !slices.Equal(p.Wrong, test.wrong) {
					t.Errorf("Verify() = %d events, %v by %v, want the ledger's %d", len(p.Events), err, p.Wrong, len(want))
				}
			})
		})
	}
}

// TestEvidenceEndsWithTheBlocksThatItIsAbout reads blocks one by one and, as after a reorg, again in a range, of which
// both endpoints lack the logs: the first reading is no evidence of the second.
func TestEvidenceEndsWithTheBlocksThatItIsAbout(t *testing.T) {
	recorded := readRecordings(t)[0]
	var isCut atomic.Bool
	cut := func(c rpctest.Call) string {
		if c.Method == "eth_getLogs" && isCut.Load() && strings.Contains(string(c.Params[0]), "fromBlock") {
			return `"result":[]`
		}
		return ""
	}
	c := serveAll(t, recorded.describe(), &provider{recording: recorded, refuses: cut}, &provider{recording: recorded, refuses: cut})
	read := func(from, head uint64) []order.Event {
		recorded.head = head
		must.Get(c.Head(t.Context()))(t)
		return must.Get(c.Events(t.Context(), from, head))(t)
	}
	last := recorded.logs[len(recorded.logs)-1].block
	want := read(last-1, last)
	isCut.Store(true)
	first := slices.DeleteFunc(read(last-1, last+3), func(e order.Event) bool { return e.At.Block > last })
	p := must.Get(c.Verify(t.Context(), last-1, last, first))(t)
	if len(want) == 0 || len(first) > 0 || len(p.Events) != len(want) {
		t.Errorf("the blocks have %d events, the range %d, and Verify() returns %d", len(want), len(first), len(p.Events))
	}
}

func is[F order.Fact](e order.Event) (is bool) {
	_, is = e.Fact.(F)
	return is
}

// rewriteOf is rewrite of an object's members.
func rewriteOf(members string, change func(any) any) string {
	told := rewrite("{"+members+"}", change)
	return told[1 : len(told)-1]
}

// changed applies a change to a transaction's receipt wherever it occurs in an answer.
func changed(method, members, tx string, change func(map[string]any) any) string {
	if !strings.Contains(method, "Receipt") || !strings.Contains(members, tx) {
		return members
	}
	var told struct{ Result any }
	if err := json.Unmarshal([]byte("{"+members+"}"), &told); err != nil {
		return members
	}
	switch result := told.Result.(type) {
	case map[string]any:
		told.Result = change(result)
	case []any:
		for i, each := range result {
			if receipt := each.(map[string]any); receipt["transactionHash"] == tx || tx == "" {
				result[i] = change(receipt)
			}
		}
	}
	text, _ := json.Marshal(told.Result)
	return `"result":` + string(text)
}
