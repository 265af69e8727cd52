// Package ledger keeps in a database what chains said of orders: events, the orders that they fold to, and how far each
// chain is read. Events come and go by one kind of transaction (Tx), which folds and lists anew the orders that it
// touches and notifies other replicas. Swaps within a chain are events that go the same way, into a table of their own.
package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Ledger is what the database holds of orders: events, their fold, their log, and how far each chain has been read.
type Ledger struct {
	*store.DB
	Keep time.Duration // how old the blocks and entries of the log may be; 0: nothing is logged
}

// Checkpoint is how far one chain has been followed: its events from first to block are stored.
type Checkpoint struct {
	First, FirstTime uint64
	Block, BlockTime uint64
	Reorgs           uint64 // times that events were withdrawn
	// Blocks from ProvenFrom to before ProvenEnd were read a second time, or prove themselves what they hold.
	ProvenFrom, ProvenEnd uint64
	SingleFrom            uint64 // of these, those from here on are one endpoint's word all the same; 0: none are
	WasLevel              uint64 // 1 since everything that the chain had was stored once
}

// Checkpoint returns how far a chain has been followed; known is false when it never was.
func (l Ledger) Checkpoint(ctx context.Context, id chain.ID) (c Checkpoint, known bool, err error) {
	known, err = l.QueryRow(ctx,
		[]any{&c.First, &c.FirstTime, &c.Block, &c.BlockTime, &c.Reorgs, &c.ProvenFrom, &c.ProvenEnd, &c.SingleFrom, &c.WasLevel},
		`SELECT first_block, first_time, block, block_time, reorgs, proven_from, proven_end, single_from, was_level FROM checkpoints WHERE chain = $1`, id)
	if err != nil {
		return Checkpoint{}, false, fmt.Errorf("read checkpoint of chain %d: %w", id, err)
	}
	return c, known, nil
}

// Level takes note that everything that a chain had is stored.
func (l Ledger) Level(ctx context.Context, under store.Lease, id chain.ID) error {
	err := l.UpdateUnder(ctx, under, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE checkpoints SET was_level = 1 WHERE chain = $1`, int64(id))
		return err
	})
	if err != nil {
		return fmt.Errorf("note that chain %d is level: %w", id, err)
	}
	return nil
}

// Block is a block that was read before it was final.
type Block struct {
	Number uint64
	Hash   chain.Hash
}

// KeptBlock returns the newest block below a number that was not final when it was read.
func (l Ledger) KeptBlock(ctx context.Context, id chain.ID, below uint64) (b Block, found bool, err error) {
	found, err = l.QueryRow(ctx, []any{&b.Number, store.HashColumn(&b.Hash)},
		`SELECT number, hash FROM blocks WHERE chain = $1 AND number < $2 ORDER BY number DESC LIMIT 1`, id, below)
	if err != nil {
		return Block{}, false, fmt.Errorf("read blocks of chain %d: %w", id, err)
	}
	return b, found, nil
}

// ChainBlock is a block of a chain.
type ChainBlock struct {
	Chain chain.ID
	Block
}

// Known returns those of some blocks that are stored, which were not final when they were read, and others of the same
// chains and numbers.
func (l Ledger) Known(ctx context.Context, blocks []ChainBlock) (map[ChainBlock]bool, error) {
	kept := make(map[ChainBlock]bool, len(blocks))
	if len(blocks) == 0 {
		return kept, nil
	}
	var chains, numbers []int64
	for _, b := range blocks {
		chains, numbers = append(chains, int64(b.Chain)), append(numbers, int64(b.Number))
	}
	err := l.ForEachRow(ctx, func(rows *sql.Rows) error {
		var b ChainBlock
		err := rows.Scan(&b.Chain, &b.Number, store.HashColumn(&b.Hash))
		kept[b] = true
		return err
	}, `SELECT chain, number, hash FROM blocks WHERE chain = ANY($1) AND number = ANY($2)`, chains, numbers)
	if err != nil {
		return nil, fmt.Errorf("read %d blocks: %w", len(blocks), err)
	}
	return kept, nil
}

// ProvenTo returns up to which block a chain is proven from the first block that was read on. Final blocks count as
// proven where they cannot be read a second time.
func (c Checkpoint) ProvenTo(finalized uint64, isVerifiable bool) uint64 {
	if !isVerifiable {
		return min(finalized, c.Block)
	}
	end := c.ProvenEnd
	if c.SingleFrom > 0 {
		end = min(end, c.SingleFrom)
	}
	if end > c.ProvenFrom && c.ProvenFrom <= c.First {
		return end - 1
	}
	return 0
}

// IsSingle reports whether blocks that were read a second time are one endpoint's word all the same.
func (c Checkpoint) IsSingle() bool { return c.SingleFrom > 0 && c.SingleFrom < c.ProvenEnd }

// IsProven reports whether more than one endpoint's word is known of a block.
func (c Checkpoint) IsProven(number uint64) bool {
	return number >= c.ProvenFrom && number < c.ProvenEnd && (c.SingleFrom == 0 || number < c.SingleFrom)
}

// AnchorBefore returns the newest anchor before a block: its number and hash.
func (l Ledger) AnchorBefore(ctx context.Context, id chain.ID, before uint64) (b order.Block, found bool, err error) {
	found, err = l.QueryRow(ctx, []any{&b.Number, store.HashColumn(&b.Hash)},
		`SELECT number, hash FROM anchors WHERE chain = $1 AND number < $2 ORDER BY number DESC LIMIT 1`, id, int64(before))
	if err != nil {
		return order.Block{}, false, fmt.Errorf("read anchors of chain %d: %w", id, err)
	}
	return b, found, nil
}

// Anchor stores an anchor that is the newest, or far from the one before it. The newest until now goes where it is
// near to the one before.
func (tx *Tx) Anchor(ctx context.Context, id chain.ID, b order.Block) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO anchors (chain, number, hash) SELECT $1, $2, $3
		WHERE NOT EXISTS (SELECT 1 FROM anchors WHERE chain = $1 AND number > $2)
		OR NOT EXISTS (SELECT 1 FROM anchors WHERE chain = $1 AND number > $2 - $4 AND number <= $2)
		ON CONFLICT (chain, number) DO NOTHING`, int64(id), int64(b.Number), b.Hash[:], AnchorsApart)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM anchors WHERE chain = $1 AND number < (SELECT MAX(number) FROM anchors WHERE chain = $1)
		AND EXISTS (SELECT 1 FROM anchors a WHERE a.chain = $1 AND a.number < anchors.number AND a.number > anchors.number - $2)`,
		int64(id), AnchorsApart)
	return err
}

// AnchorsApart is how many blocks there are between two anchors, but for the newest one.
const AnchorsApart = 1000

// Contents is what a range of blocks holds.
type Contents struct {
	Range
	Events []order.Event
	End    order.Block // the range's last block, or its first one where history is read

	IsSingle    bool               // history that is one endpoint's word
	Quarantined []QuarantinedBlock // left out
}
