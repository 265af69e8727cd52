// Package ledger stores what chains reported about orders in a database: events, the orders folded from them, and how
// far each chain is read. One kind of transaction (Tx) adds and removes events, folds and lists the affected orders
// again, and notifies other replicas. Swaps within a chain are events too, with their own table.
package ledger

import (
	"context"
	"database/sql"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Ledger is the stored state of orders: events, folded orders, their log, and how far each chain has been read.
type Ledger struct {
	*store.DB
	Keep time.Duration // maximum age of log entries, and of history that they report; 0: nothing is logged
}

// Checkpoint is how far one chain has been followed: its events from block First to Block are stored.
type Checkpoint struct {
	First, FirstTime uint64
	Block, BlockTime uint64
	Reorgs           uint64 // how many times events were withdrawn
	// Blocks from ProvenFrom to before ProvenEnd were read a second time, or prove their own contents.
	ProvenFrom, ProvenEnd uint64
	SingleFrom            uint64 // proven blocks from here on nevertheless rest on a single endpoint; 0: none do
	Settled               uint64 // newest block that no single endpoint may withdraw (proof.SettledAt)
	WasLevel              uint64 // 1 once everything that the chain had was stored
}

// Checkpoint returns how far a chain has been followed; known is false if it never was.
func (l Ledger) Checkpoint(ctx context.Context, id chain.ID) (c Checkpoint, known bool, err error) {
	known, err = l.QueryRow(ctx,
		[]any{&c.First, &c.FirstTime, &c.Block, &c.BlockTime, &c.Reorgs, &c.ProvenFrom, &c.ProvenEnd, &c.SingleFrom, &c.Settled, &c.WasLevel},
		`SELECT first_block, first_time, block, block_time, reorgs, proven_from, proven_end, single_from, settled, was_level FROM checkpoints WHERE chain = $1`, id)
	return c, known, err
}

// Level records that everything that a chain had is stored, and the newest settled block; 0: unknown.
func (l Ledger) Level(ctx context.Context, under store.Lease, id chain.ID, settled uint64) error {
	return l.UpdateUnder(ctx, under, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE checkpoints SET was_level = 1,
			settled = CASE WHEN settled < $2 AND block >= $2 THEN $2 ELSE settled END WHERE chain = $1`, int64(id), int64(settled))
		return err
	})
}

// Block identifies a block that was read before it was final.
type Block struct {
	Number uint64
	Hash   chain.Hash
}

// KeptBlock returns the newest block below a number that was not final when it was read.
func (l Ledger) KeptBlock(ctx context.Context, id chain.ID, below uint64) (b Block, found bool, err error) {
	found, err = l.QueryRow(ctx, []any{&b.Number, store.HashColumn(&b.Hash)},
		`SELECT number, hash FROM blocks WHERE chain = $1 AND number < $2 ORDER BY number DESC LIMIT 1`, id, below)
	return b, found, err
}

// ChainBlock is a block of a chain.
type ChainBlock struct {
	Chain chain.ID
	Block
}

// Known returns which of the given blocks, read before they were final, are stored. The result may include others of
// the same chains and numbers.
func (l Ledger) Known(ctx context.Context, blocks []ChainBlock) (map[ChainBlock]bool, error) {
	kept := make(map[ChainBlock]bool, len(blocks))
	if len(blocks) == 0 {
		return kept, nil
	}
	var chains, numbers []int64
	for _, b := range blocks {
		chains, numbers = append(chains, int64(b.Chain)), append(numbers, int64(b.Number))
	}
	stored, err := store.All(ctx, l, func(rows *sql.Rows, b *ChainBlock) error {
		return rows.Scan(&b.Chain, &b.Number, store.HashColumn(&b.Hash))
	}, `SELECT chain, number, hash FROM blocks WHERE chain = ANY($1) AND number = ANY($2)`, chains, numbers)
	for _, b := range stored {
		kept[b] = true
	}
	return kept, err
}

// ProvenTo returns the block up to which a chain is proven from its first read block, 0 if none.
func (c Checkpoint) ProvenTo() uint64 {
	end := c.ProvenEnd
	if c.SingleFrom > 0 {
		end = min(end, c.SingleFrom)
	}
	if end > c.ProvenFrom && c.ProvenFrom <= c.First {
		return end - 1
	}
	return 0
}

// IsSingle reports whether some of the proven blocks nevertheless rest on a single endpoint.
func (c Checkpoint) IsSingle() bool { return c.SingleFrom > 0 && c.SingleFrom < c.ProvenEnd }

// IsProven reports whether more than one endpoint confirmed a block.
func (c Checkpoint) IsProven(number uint64) bool {
	return number >= c.ProvenFrom && number < c.ProvenEnd && (c.SingleFrom == 0 || number < c.SingleFrom)
}

// AnchorBefore returns the newest anchor before a block: its number and hash.
func (l Ledger) AnchorBefore(ctx context.Context, id chain.ID, before uint64) (b order.Block, found bool, err error) {
	found, err = l.QueryRow(ctx, []any{&b.Number, store.HashColumn(&b.Hash)},
		`SELECT number, hash FROM anchors WHERE chain = $1 AND number < $2 ORDER BY number DESC LIMIT 1`, id, int64(before))
	return b, found, err
}

// Anchor stores an anchor if it is the newest or far from the one before it. The previously newest anchor is deleted if
// it is close to the one before it.
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

// AnchorsApart is the minimum number of blocks between two anchors, except before the newest.
const AnchorsApart = 1000

// Contents is everything that was read of a range of blocks.
type Contents struct {
	Range
	Events []order.Event
	End    order.Block // the range's last block, or its first if history is read

	IsSingle    bool               // history that rests on a single endpoint
	Quarantined []QuarantinedBlock // blocks left out
}
