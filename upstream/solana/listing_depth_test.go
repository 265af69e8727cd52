package solana

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestListsOfOldTransactionsAreAskedOfWhoKeepsThem reads two pages of a program's old transactions, with one endpoint
// that keeps only a thousand blocks: it lists nothing before a transaction that it does not know.
func TestListsOfOldTransactionsAreAskedOfWhoKeepsThem(t *testing.T) {
	const internal = `null,"error":{"code":-32603,"message":"Internal error"}`
	for name, row := range map[string]struct {
		says    []string // by the archive, in place of its lists, one after the other
		isWhole bool
	}{
		"the archive answers":   {nil, true},
		"its first page fails":  {[]string{internal}, true},
		"its second page fails": {[]string{"", internal, internal, internal, internal, internal, internal, internal, internal, internal}, false},
	} {
		t.Run(name, func(t *testing.T) { testListsOfOldTransactions(t, row.says, row.isWhole) })
	}
}

func testListsOfOldTransactions(t *testing.T, says []string, isWhole bool) {
	const from, to, newest = 5_000, 6_000, 1_000_000
	c := solanaAtAll(t, []string{"recent", "archive"}, func(name, method string, params []json.RawMessage) string {
		isFirst := len(params) > 1 && !strings.Contains(string(params[1]), `"before"`)
		switch {
		case method == getBlock && name == "recent":
			return `null,"error":{"code":-32001,"message":"Block 5000 cleaned up, does not exist on node"}`
		case method == getBlock:
			return emptyBlock(`1`)
		case name == "recent":
			return "[]"
		case len(says) > 0 && says[0] != "":
			defer func() { says = says[1:] }()
			return says[0]
		case len(says) > 0:
			says = says[1:]
		}
		if isFirst {
			return pageAt(from+1, signaturesAtOnce)
		}
		return "[]"
	})
	c.newest.Store(newest)
	list := &listing{program: c.programs[0]}
	err := c.readPages(t.Context(), c.rpc, []*listing{list}, from, to)
	if isWhole != (err == nil) || isWhole && (len(list.found) != signaturesAtOnce || !slices.Equal(list.by, []string{"archive", "archive"})) {
		t.Errorf("%d transactions by %v, %v", len(list.found), list.by, err)
	}
	c.rpc.OneByOne(listSignatures, func(alone *jsonrpc.Client) bool {
		list := &listing{program: c.programs[0]}
		err := c.readPages(t.Context(), alone, []*listing{list}, from, to)
		if alone.Name() == "recent" && err == nil {
			t.Errorf("a list of %d transactions counts where the endpoint has no history", len(list.found))
		}
		return false
	})
}

// TestAnEndpointWithoutBlocksIsAVoice uses one that does not offer them: another one's show what a list must reach.
func TestAnEndpointWithoutBlocksIsAVoice(t *testing.T) {
	const from, to = 5_000, 6_000
	c := solanaAtAll(t, []string{"blockless", "archive"}, func(name, method string, params []json.RawMessage) string {
		switch {
		case method == getBlock && name == "blockless":
			return `null,"error":{"code":-32601,"message":"Method not found"}`
		case method == getBlock:
			return emptyBlock(`1`)
		case strings.Contains(string(params[1]), `"before"`):
			return "[]"
		}
		return pageAt(from+1, 3)
	})
	c.newest.Store(to)
	c.rpc.OneByOne(listSignatures, func(alone *jsonrpc.Client) bool {
		list := &listing{program: c.programs[0]}
		if err := c.readPages(t.Context(), alone, []*listing{list}, from, to); err != nil || len(list.found) != 3 {
			t.Errorf("%s lists %d transactions, %v", alone.Name(), len(list.found), err)
		}
		return false
	})
}

// solanaAtAll returns the chain of endpoints that answer by their name.
func solanaAtAll(t *testing.T, names []string, answer func(name, method string, params []json.RawMessage) string) *Chain {
	t.Helper()
	known, _ := chain.Documented().Chain(chain.Solana)
	var mu sync.Mutex
	var endpoints []*upstream.Endpoint
	for _, name := range names {
		endpoints = append(endpoints, pooltest.Endpoint(t, name, pooltest.Near(rpctest.Handler(func(c rpctest.Call) string {
			mu.Lock()
			defer mu.Unlock()
			if c.Method == "getGenesisHash" {
				return fmt.Sprintf(`"result":%q`, known.Genesis.Format(chain.SVM))
			}
			return `"result":` + answer(name, c.Method, c.Params)
		}))))
	}
	return New(known, jsonrpc.New(upstream.NewPool("solana", endpoints...)))
}

// TestHistoryBeginsBeforeWhatNodesStillHold uses an endpoint that keeps only the newest block: what is before the origin
// counts as read.
func TestHistoryBeginsBeforeWhatNodesStillHold(t *testing.T) {
	c := solanaAt(t, func(string, []json.RawMessage) string { return "400000000" })
	for first, want := range map[uint64]uint64{166_833_820: 166_833_820, 0: 0, 500_000_000: 0} {
		c.chain.FirstBlock = first
		if got, err := c.Origin(t.Context()); err != nil || got != want {
			t.Errorf("with orders from slot %d on, Origin() = %d, %v, want %d", first, got, err, want)
		}
	}
}

// TestOutagesMakeNothingUnreadable unlike what no endpoint has: unreadable blocks are left out.
func TestOutagesMakeNothingUnreadable(t *testing.T) {
	const newest = 5_000
	known, _ := chain.Documented().Chain(chain.Solana)
	c := New(known, jsonrpc.New(upstream.NewPool("solana")))
	c.newest.Store(newest)
	of := func(class upstream.Class, code int) error {
		return &upstream.Error{Class: class, Err: &jsonrpc.Error{Code: code}}
	}
	for _, row := range []struct {
		err    error
		slot   uint64
		isGone bool
	}{
		{nil, 1, false},
		{of(upstream.Unreachable, 0), 1, false},
		{of(upstream.ServerError, 0), 1, false},
		{of(upstream.RateLimited, 0), 1, false},
		{of(upstream.BadAnswer, 0), 1, true},
		{of(upstream.Rejected, 0), 1, true},
		{of(upstream.Unreachable, slotSkipped), newest, true},
		{of(upstream.Rejected, blockNotAvailable), 1, true},
		{of(upstream.Rejected, blockNotAvailable), newest, false},
	} {
		if got := c.isGone(row.err, row.slot); got != row.isGone {
			t.Errorf("isGone(%v, %d) = %t", row.err, row.slot, got)
		}
	}
}

// TestAListThatBeginsAnewIsRefused uses an endpoint that ignores cursors.
func TestAListThatBeginsAnewIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		lists := 0
		c := solanaAt(t, func(method string, params []json.RawMessage) string {
			if method != listSignatures {
				return emptyBlock(`1`)
			}
			if lists++; lists == 30 {
				stop()
			}
			return pageAt(6_000, signaturesAtOnce)
		})
		if err := c.readPages(ctx, c.rpc, []*listing{{program: c.programs[0]}}, 5_000, 6_000); err == nil || lists >= 30 {
			t.Errorf("%d lists were read, %v, want an error after few", lists, err)
		}
	})
}

// TestATimeThatABlockLacksIsThatOfItsTransaction uses nodes whose blocks have no time.
func TestATimeThatABlockLacksIsThatOfItsTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		c := solanaAt(t, func(string, []json.RawMessage) string { return emptyBlock(`null`) })
		tx := &transaction{Slot: 7, BlockTime: new(int64(1_790_000_000)), message: solana.Message{
			Signature: chain.NewTxHash(bytes.Repeat([]byte{7}, 64)), Accounts: []chain.Address{chain.NativeCoin(chain.SVM)},
		}}
		read := &orderTransactions{chain: c, blocks: map[uint64]**block{7: new(&block{})}}
		if at := read.at(tx, 0); at.Time != 1_790_000_000 {
			t.Errorf("it happened at %d", at.Time)
		}
		events, err := c.Attest(t.Context(), []order.Event{{At: order.At{Block: 7, Tx: tx.message.Signature, Time: 1_790_000_000}}})
		if err != nil || events.Events[0].At.Time != 1_790_000_000 {
			t.Errorf("it is attested to have happened at %d, %v", events.Events[0].At.Time, err)
		}
	})
}

// TestNoEndpointAloneMakesAPlaceDear uses an endpoint that reports bids of a thousand lamports per unit.
func TestNoEndpointAloneMakesAPlaceDear(t *testing.T) {
	c := solanaAt(t, func(string, []json.RawMessage) string { return `[{"slot":1,"prioritizationFee":1000000000}]` })
	for _, p := range []quote.Priority{quote.Normal, quote.Aggressive} {
		price, err := c.GasPrice(t.Context(), p)
		if fee := solana.PriorityFee(solana.MaxComputeUnits, price.Bid); err != nil || fee.Cmp(chain.NewAmount(mostFee)) > 0 {
			t.Errorf("a transaction bids up to %s lamports, %v", fee, err)
		}
	}
}

// solanaAt returns Solana at one endpoint that answers with result.
func solanaAt(t *testing.T, result func(method string, params []json.RawMessage) string) *Chain {
	t.Helper()
	return solanaAtAll(t, []string{"node"}, func(_, method string, params []json.RawMessage) string { return result(method, params) })
}

// emptyBlock returns a block without content, with the given time.
func emptyBlock(time string) string {
	hash := chain.Hash{1}.Format(chain.SVM)
	return fmt.Sprintf(`{"blockhash":%q,"previousBlockhash":%q,"parentSlot":1,"blockTime":%s}`, hash, hash, time)
}

// pageAt lists count transactions of one slot.
func pageAt(slot uint64, count int) string {
	all := make([]string, count)
	for i := range all {
		raw := binary.BigEndian.AppendUint64(bytes.Repeat([]byte{7}, 56), uint64(i))
		all[i] = fmt.Sprintf(`{"signature":%q,"slot":%d,"err":null,"blockTime":1,"confirmationStatus":"finalized"}`,
			chain.NewTxHash(raw).Format(chain.SVM), slot)
	}
	return "[" + strings.Join(all, ",") + "]"
}
