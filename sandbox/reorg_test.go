package sandbox

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"

	"crossgate/chain"
)

// TestNoBlockIsTooOldForAReorg is about go-ethereum's freezer, which moves blocks once a minute that the database says are
// final: a log whose receipt was null after that, because a reorg was deeper, stopped an index.
func TestNoBlockIsTooOldForAReorg(t *testing.T) {
	w, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c := w.chains[0]
	if err := w.Mine(t.Context(), c.Facts.ID, 20); err != nil {
		t.Fatal(err)
	}
	var finalized *types.Header
	if err := c.node.client.Client().CallContext(t.Context(), &finalized, "eth_getBlockByNumber", "finalized", false); err != nil {
		t.Fatal(err)
	}
	if want := c.node.head() - c.node.finality.finalized; finalized.Number.Uint64() != want {
		t.Errorf("finalized is block %s, want %d", finalized.Number, want)
	}
	if told := rawdb.ReadFinalizedBlockHash(c.node.eth.ChainDb()); told != (common.Hash{}) {
		t.Errorf("the freezer takes everything up to %s", told)
	}
}

// placed is a log, or a receipt, with where it says that it is.
type placed struct {
	TransactionHash, BlockHash common.Hash
	BlockNumber                string
}

// TestEveryLogHasItsReceiptAfterReorgs replaces blocks again and again while others read: what a chain then says of its
// transactions must agree, whichever call is asked, on a chain of each dialect.
func TestEveryLogHasItsReceiptAfterReorgs(t *testing.T) {
	w, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i, id := range []chain.ID{1, chain.Tron} {
		c, err := w.known(id)
		if err != nil {
			t.Fatal(err)
		}
		client, err := rpc.DialContext(t.Context(), c.RPC)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		stop := keepReading(t.Context(), client)
		dice := rand.New(rand.NewPCG(1, uint64(i)))
		for round := range 15 {
			shake(t, w, c, dice)
			logs, receipts, err := readReceipts(t.Context(), client)
			if err != nil || len(logs) == 0 {
				t.Fatalf("chain %s, round %d: %d logs, %v", id, round, len(logs), err)
			}
			for i, each := range logs {
				if receipts[i] != each {
					t.Fatalf("chain %s, round %d: the log %+v has the receipt %+v", id, round, each, receipts[i])
				}
			}
		}
		stop()
	}
}

// shake replaces blocks by ones with or without their transactions, and adds some.
func shake(t *testing.T, w *World, c *Chain, dice *rand.Rand) {
	t.Helper()
	if err := w.reorg(t.Context(), c.Facts.ID, 1+dice.Uint64N(min(12, c.node.head())), dice.IntN(4) > 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Mine(t.Context(), c.Facts.ID, dice.IntN(3)); err != nil {
		t.Fatal(err)
	}
	act, body := decoded((*World).controlSwap), `{"chainId":1,"amount":"0.5"}`
	if !c.hasPublicRouter() {
		act = decoded((*World).controlCreate)
		body = `{"chainId":100000026,"takeChainId":137,"giveToken":"USDT","giveAmount":"1","takeToken":"DAI","takeAmount":"0.9"}`
	}
	for range dice.IntN(3) {
		// The next swap after a reorg that dropped it is the same transaction again, hash and all.
		if _, err := act(w, t.Context(), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
}

// readReceipts reads all logs of a chain, and for each the receipt of its transaction.
func readReceipts(ctx context.Context, client *rpc.Client) (logs, receipts []placed, err error) {
	search := map[string]any{"fromBlock": "0x0", "toBlock": "latest"}
	if err := client.CallContext(ctx, &logs, "eth_getLogs", search); err != nil {
		return nil, nil, err
	}
	receipts = make([]placed, len(logs))
	calls := make([]rpc.BatchElem, len(logs))
	for i, each := range logs {
		calls[i] = rpc.BatchElem{Method: "eth_getTransactionReceipt", Args: []any{each.TransactionHash}, Result: new(json.RawMessage)}
	}
	const most = 100 // of a batch, on TRON
	for some := range slices.Chunk(calls, most) {
		if err := client.BatchCallContext(ctx, some); err != nil {
			return nil, nil, err
		}
	}
	for i, call := range calls {
		if call.Error != nil {
			return nil, nil, call.Error
		}
		if err := json.Unmarshal(*call.Result.(*json.RawMessage), &receipts[i]); err != nil {
			return nil, nil, err
		}
	}
	return logs, receipts, nil
}

// keepReading asks until stop: what a node remembers of a branch must not outlive it.
func keepReading(ctx context.Context, client *rpc.Client) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		for ctx.Err() == nil {
			_, _, _ = readReceipts(ctx, client) // of a chain that changes meanwhile
		}
	})
	return func() {
		cancel()
		reading.Wait()
	}
}
