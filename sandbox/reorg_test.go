package sandbox

import (
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum"
)

// TestEveryLogHasItsReceiptAfterReorgs replaces blocks again and again: what the chain then says of its transactions
// must agree, whichever call is asked.
func TestEveryLogHasItsReceiptAfterReorgs(t *testing.T) {
	w, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c, dice := w.chains[0], rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		depth, again := 1+dice.Uint64N(min(12, c.node.head())), dice.IntN(4) > 0
		if err := w.reorg(t.Context(), c.Facts.ID, depth, again); err != nil {
			t.Fatal(err)
		}
		if err := w.Mine(t.Context(), c.Facts.ID, dice.IntN(3)); err != nil {
			t.Fatal(err)
		}
		for range dice.IntN(3) {
			// The next one after a reorg that dropped it is the same transaction again, hash and all.
			if _, err := decoded((*World).controlSwap)(w, t.Context(), []byte(`{"chainId":1,"amount":"0.5"}`)); err != nil {
				t.Fatal(err)
			}
		}
		logs, err := c.node.client.FilterLogs(t.Context(), ethereum.FilterQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range logs {
			receipt, err := c.node.client.TransactionReceipt(t.Context(), each.TxHash)
			if err != nil || receipt.BlockHash != each.BlockHash {
				t.Fatalf("round %d (depth %d, again %t): the log of %s in block %d: receipt %v, %v",
					round, depth, again, each.TxHash, each.BlockNumber, receipt, err)
			}
		}
	}
}
