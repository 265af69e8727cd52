package evm

import (
	"fmt"
	"testing"

	"crossgate/chain"
	"crossgate/internal/recorded"
)

// TestReceiptsRoot computes the root of every block's receipts in the golden ledgers, and of no receipts.
func TestReceiptsRoot(t *testing.T) {
	none, err := receiptsRoot(nil)
	if want := "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"; err != nil || none.String() != want {
		t.Errorf("root of no receipts is %s, %v, want %s", none, err, want)
	}
	blocks := 0
	for _, native := range []int{1, 137, 146, 8453} {
		var ledger struct {
			Blocks []struct {
				header
				Transactions []chain.Hash
			}
			Receipts map[string]blockReceipt
		}
		recorded.JSON(t, fmt.Sprintf("golden/ledgers-A/ledger-A-%d.json", native), &ledger)
		for _, block := range ledger.Blocks {
			receipts := make([]blockReceipt, len(block.Transactions))
			for i, tx := range block.Transactions {
				receipts[i] = ledger.Receipts[tx.String()]
			}
			if root, err := receiptsRoot(receipts); err != nil || root != block.Receipts {
				t.Errorf("chain %d: root of block %d with %d receipts is %s, %v, want %s",
					native, block.Number, len(receipts), root, err, block.Receipts)
			}
			blocks++
		}
	}
	if blocks < 1000 {
		t.Errorf("%d blocks compared", blocks)
	}
}

func TestReceiptsRootTellsAnyChange(t *testing.T) {
	receipts := make([]blockReceipt, 300) // more than one level of the trie
	for i := range receipts {
		status := Quantity(1)
		receipts[i] = blockReceipt{Type: 2, CumulativeGas: Quantity(21000 * (i + 1)), receipt: receipt{Status: &status}}
	}
	root, err := receiptsRoot(receipts)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 127, 128, 255, 299} {
		was := receipts[i]
		receipts[i].CumulativeGas++
		if changed, err := receiptsRoot(receipts); err != nil || changed == root {
			t.Errorf("the root is the same with another receipt %d: %v", i, err)
		}
		receipts[i] = was
	}
	if shorter, err := receiptsRoot(receipts[:299]); err != nil || shorter == root {
		t.Errorf("the root is the same without the last receipt: %v", err)
	}
}

// TestProvenReceiptsKeepTheirPlaces: positions of logs are checked too, as the root does not cover them.
func TestProvenReceiptsKeepTheirPlaces(t *testing.T) {
	places := func(change func(*blockReceipt)) error {
		h := &header{Number: 7, Hash: chain.Hash{7}}
		receipts := make([]blockReceipt, 3)
		for i := range receipts {
			r := &receipts[i]
			r.TransactionHash, r.BlockHash, r.BlockNumber = chain.Hash{byte(i + 1)}, h.Hash, h.Number
			for n := range 2 {
				r.Logs = append(r.Logs, log{TransactionHash: r.TransactionHash, BlockHash: h.Hash, BlockNumber: h.Number, Index: Quantity(2*i + n)})
			}
		}
		change(&receipts[1])
		return h.checkPlaces(receipts)
	}
	for name, test := range map[string]struct {
		change func(*blockReceipt)
		isGood bool
	}{
		"as they are":             {func(*blockReceipt) {}, true},
		"numbers within receipts": {func(r *blockReceipt) { r.Logs[0].Index, r.Logs[1].Index = 0, 1 }, false},
		"another block":           {func(r *blockReceipt) { r.BlockHash = chain.Hash{8} }, false},
		"a log of another":        {func(r *blockReceipt) { r.Logs[1].TransactionHash = chain.Hash{9} }, false},
	} {
		if err := places(test.change); (err == nil) != test.isGood {
			t.Errorf("%s: %v", name, err)
		}
	}
}
