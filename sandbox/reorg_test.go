package sandbox

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
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
