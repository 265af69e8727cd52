package sandbox

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/internal/must"
)

// TestNoBlockIsTooOldForAReorg is about go-ethereum's freezer, which moves blocks once a minute that the database says are
// final: a log whose receipt was null after that, because a reorg was deeper, stopped an index.
func TestNoBlockIsTooOldForAReorg(t *testing.T) {
	w := must.Get(Start(t.Context(), Options{}))(t)
	defer w.Close()
	c := w.chains[0]
	must.Do(t, w.Mine(t.Context(), c.Facts.ID, 20))
	var finalized *types.Header
	must.Do(t, c.node.client.Client().CallContext(t.Context(), &finalized, "eth_getBlockByNumber", "finalized", false))
	if want := c.node.head() - c.node.finality.finalized; finalized.Number.Uint64() != want {
		t.Errorf("finalized is block %s, want %d", finalized.Number, want)
	}
	if told := rawdb.ReadFinalizedBlockHash(c.node.eth.ChainDb()); told != (common.Hash{}) {
		t.Errorf("the freezer takes everything up to %s", told)
	}
}
