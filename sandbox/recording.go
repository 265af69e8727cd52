package sandbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethdb"

	"crossgate/sandbox/solana"
)

// recording is a history as a world has played it. It is immutable.
type recording struct {
	databases []map[string][]byte // of the chains, in the world's order
	heads     []common.Hash       // their newest blocks
	solana    *solana.Chain
	titles    map[common.Hash]string
	others    []OtherTransaction
}

// firstPlayed is the history of the first world started with Options.Recorded.
var firstPlayed struct {
	mu sync.Mutex
	*recording
}

// takeOver loads the recorded history into the world, or plays and records it if there is none yet.
func (w *World) takeOver(ctx context.Context, beginning time.Time) error {
	firstPlayed.mu.Lock()
	defer firstPlayed.mu.Unlock()
	if firstPlayed.recording == nil {
		if err := w.play(ctx, beginning); err != nil {
			return err
		}
		firstPlayed.recording = w.record()
		return nil
	}
	w.solana.ledger = firstPlayed.solana.Copy()
	w.titles, w.others = maps.Clone(firstPlayed.titles), slices.Clone(firstPlayed.others)
	for i, c := range w.chains {
		if err := c.node.load(firstPlayed.databases[i], firstPlayed.heads[i]); err != nil {
			return fmt.Errorf("chain %s: %w", c.Facts.ID, err)
		}
	}
	return nil
}

func (w *World) record() *recording {
	r := &recording{solana: w.solana.ledger.Copy(), titles: maps.Clone(w.titles), others: slices.Clone(w.others)}
	for _, c := range w.chains {
		r.databases = append(r.databases, contentOf(c.node.eth.ChainDb()))
		r.heads = append(r.heads, c.node.eth.BlockChain().CurrentBlock().Hash())
	}
	return r
}

func contentOf(database ethdb.Iteratee) map[string][]byte {
	content := map[string][]byte{}
	each := database.NewIterator(nil, nil)
	defer each.Release()
	for each.Next() {
		content[string(each.Key())] = slices.Clone(each.Value())
	}
	return content
}

// load moves a node from its genesis to the head of another node's database.
func (n *node) load(database map[string][]byte, head common.Hash) error {
	blocks, batch := n.eth.BlockChain(), n.eth.ChainDb().NewBatch()
	for key, value := range database {
		if err := batch.Put([]byte(key), value); err != nil {
			return err
		}
	}
	if err := batch.Write(); err != nil {
		return err
	}
	newest := blocks.GetBlockByHash(head)
	if _, err := blocks.SetCanonical(newest); err != nil {
		return fmt.Errorf("recorded head: %w", err)
	}
	blocks.Snapshots().Rebuild(newest.Root(), true)
	n.settle(newest.Header())
	return nil
}
