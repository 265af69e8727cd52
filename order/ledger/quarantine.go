package ledger

import (
	"context"
	"database/sql"

	"crossgate/chain"
	"crossgate/store"
)

// QuarantinedBlock is a block that no endpoint returned complete and consistent. The blocks around it are read.
type QuarantinedBlock struct {
	Number uint64
	Reason string
	Since  uint64 // UNIX seconds

	NotAfter uint64 // UNIX seconds; upper bound of the block's time
}

// Quarantine records blocks that are left out.
func (tx *Tx) Quarantine(ctx context.Context, id chain.ID, list []QuarantinedBlock) error {
	rows := store.Arguments(list, func(b QuarantinedBlock) []any {
		return []any{int64(id), int64(b.Number), store.Text(b.Reason), int64(b.Since)}
	})
	return tx.ExecEach(ctx, `INSERT INTO quarantined_blocks (chain, number, reason, since) VALUES ($1, $2, $3, $4)
		ON CONFLICT (chain, number) DO UPDATE SET reason = excluded.reason`, rows)
}

// EndQuarantine records that a block was read. It returns ErrMoved if another process has read it.
func (tx *Tx) EndQuarantine(ctx context.Context, id chain.ID, number uint64) error {
	return tx.Change(ctx, ErrMoved, `DELETE FROM quarantined_blocks WHERE chain = $1 AND number = $2`, int64(id), int64(number))
}

// Quarantined returns the blocks of a range that were left out, ascending. NotAfter is derived from later stored
// blocks.
func (l Ledger) Quarantined(ctx context.Context, id chain.ID, r Range) ([]QuarantinedBlock, error) {
	return store.All(ctx, l, func(rows *sql.Rows, b *QuarantinedBlock) error {
		err := rows.Scan(&b.Number, &b.Reason, &b.Since, &b.NotAfter)
		b.NotAfter = min(b.NotAfter, b.Since)
		return err
	}, `SELECT number, reason, since, COALESCE(
			(SELECT block_time FROM events e WHERE e.chain = q.chain AND e.block > q.number ORDER BY e.block LIMIT 1),
			(SELECT block_time FROM checkpoints c WHERE c.chain = q.chain AND c.block >= q.number),
			since)
		FROM quarantined_blocks q WHERE chain = $1 AND number BETWEEN $2 AND $3 ORDER BY number`,
		int64(id), int64(r.From), int64(r.To))
}

// Without returns the parts of the range between blocks that are left out, which must be in ascending order.
func (r Range) Without(left []QuarantinedBlock) []Range {
	var parts []Range
	from := r.From
	for _, b := range left {
		if b.Number < from || b.Number > r.To {
			continue
		}
		if b.Number > from {
			parts = append(parts, Range{from, b.Number - 1})
		}
		from = b.Number + 1
	}
	if from <= r.To {
		parts = append(parts, Range{from, r.To})
	}
	return parts
}

// Range is a range of blocks, both ends included.
type Range struct{ From, To uint64 }

// Holds reports whether a block is in the range.
func (r Range) Holds(block uint64) bool { return r.From <= block && block <= r.To }
