package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

const (
	// quarantineAfter is how often a block has to be unreadable in a row before it is left out.
	quarantineAfter = 3
	// quarantineRetry is how long after that it is asked for again, and after each time.
	quarantineRetry = time.Minute
)

// QuarantinedBlock is a block that no endpoint could give as it must be. The blocks around it are read.
type QuarantinedBlock struct {
	Number uint64
	Reason string
	Since  uint64 // UNIX seconds

	notAfter uint64 // UNIX seconds; the block was made by then
}

// quarantine is which blocks of a chain were unreadable lately, and when those that are left out were asked for again.
type quarantine struct {
	logger    *slog.Logger
	retriedAt time.Time // only the follower's goroutine knows it, and
	retried   int       // how many were asked for again

	mu         sync.Mutex     // ranges are read at the same time
	unreadable map[uint64]int // how often in a row each block was
}

// failed counts how often a block was unreadable in a row, and returns it as quarantined once that is often enough.
// Blocks are counted each for itself: ranges that are read at the same time fail in any sequence.
func (q *quarantine) failed(err error) (block QuarantinedBlock, isDue bool) {
	bad, is := errors.AsType[*order.UnreadableError](err)
	if !is {
		return block, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unreadable[bad.Block]++
	block = QuarantinedBlock{Number: bad.Block, Reason: bad.Err.Error(), Since: uint64(time.Now().Unix())}
	return block, q.unreadable[bad.Block] >= quarantineAfter
}

// due are the blocks of a range to leave out for an error in reading it: those of transactions that are not understood,
// and one that was unreadable often enough.
func (q *quarantine) due(err error, r blocks) []QuarantinedBlock {
	list := asideOf(err)
	if bad, isDue := q.failed(err); isDue && bad.Number >= r.from && bad.Number <= r.to {
		list = append(list, bad)
	}
	return list
}

// succeeded takes note of a range that was read.
func (q *quarantine) succeeded(r blocks) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.unreadable, func(number uint64, _ int) bool { return number >= r.from && number <= r.to })
}

// retryIsDue reports whether blocks that are left out are to be asked for again, and counts on it that they are.
func (q *quarantine) retryIsDue() bool {
	if time.Since(q.retriedAt) < quarantineRetry {
		return false
	}
	q.retriedAt = time.Now()
	return true
}

// eventsOf reads the events of a range by read. A block that has been unreadable often enough is left out.
func (q *quarantine) eventsOf(
	ctx context.Context, r blocks, read func(ctx context.Context, from, to uint64) ([]order.Event, error),
) (events []order.Event, left []QuarantinedBlock, err error) {
	parts := []blocks{r}
	for len(parts) > 0 {
		part := parts[0]
		got, err := read(ctx, part.from, part.to)
		if bad, isDue := q.failed(err); isDue && bad.Number >= part.from && bad.Number <= part.to {
			q.logger.WarnContext(ctx, "block quarantined: no endpoint gives what it holds; it is left out and asked for again",
				"block", bad.Number, "error", bad.Reason)
			left = append(left, bad)
			parts = append(part.without([]QuarantinedBlock{bad}), parts[1:]...)
			continue
		}
		if aside := asideOf(err); len(aside) > 0 {
			q.logger.WarnContext(ctx, "transactions put aside; they are asked for again", "error", err)
			left, err = append(left, aside...), nil
		}
		if err != nil {
			return nil, nil, err
		}
		q.succeeded(part)
		events, parts = append(events, got...), parts[1:]
	}
	return events, left, nil
}

// asideOf are the blocks of transactions that were put aside, whose other transactions were read.
func asideOf(err error) (left []QuarantinedBlock) {
	aside, is := errors.AsType[*order.AsideError](err)
	if !is {
		return nil
	}
	for _, each := range aside.Transactions {
		reason := fmt.Sprintf("transaction %s, alone: %s", each.Tx, each.Err)
		left = append(left, QuarantinedBlock{Number: each.Block, Reason: reason, Since: uint64(time.Now().Unix())})
	}
	return left
}

// quarantineBlocks writes blocks that are left out of the range that a transaction stores.
func quarantineBlocks(ctx context.Context, tx *store.Tx, id chain.ID, list []QuarantinedBlock) error {
	rows := make([][]any, len(list))
	for i, b := range list {
		rows[i] = []any{int64(id), int64(b.Number), b.Reason, int64(b.Since)}
	}
	return tx.ExecEach(ctx, `INSERT INTO quarantined_blocks (chain, number, reason, since) VALUES ($1, $2, $3, $4)
		ON CONFLICT (chain, number) DO UPDATE SET reason = excluded.reason`, rows)
}

// quarantined lists the blocks of a range that were left out, in ascending order. When each was made at the latest
// follows from what is stored of later blocks.
func (s orderStore) quarantined(ctx context.Context, id chain.ID, r blocks) (list []QuarantinedBlock, err error) {
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var b QuarantinedBlock
		if err := rows.Scan(&b.Number, &b.Reason, &b.Since, &b.notAfter); err != nil {
			return err
		}
		b.notAfter = min(b.notAfter, b.Since)
		list = append(list, b)
		return nil
	}, `SELECT number, reason, since, COALESCE(
			(SELECT block_time FROM events e WHERE e.chain = q.chain AND e.block > q.number ORDER BY e.block LIMIT 1),
			(SELECT block_time FROM checkpoints c WHERE c.chain = q.chain AND c.block >= q.number),
			since)
		FROM quarantined_blocks q WHERE chain = $1 AND number BETWEEN $2 AND $3 ORDER BY number`,
		int64(id), int64(r.from), int64(r.to))
	if err != nil {
		return nil, fmt.Errorf("read quarantined blocks of chain %d: %w", id, err)
	}
	return list, nil
}

// without are the parts of the range between blocks that are left out, which are in ascending order.
func (r blocks) without(left []QuarantinedBlock) []blocks {
	var parts []blocks
	from := r.from
	for _, b := range left {
		if b.Number < from || b.Number > r.to {
			continue
		}
		if b.Number > from {
			parts = append(parts, blocks{from, b.Number - 1})
		}
		from = b.Number + 1
	}
	if from <= r.to {
		parts = append(parts, blocks{from, r.to})
	}
	return parts
}

// quarantineRetries is how many blocks that were left out are asked for at a time.
const quarantineRetries = 16

// retryQuarantined asks once in a while for the blocks that were left out, for some of many.
func (f *follower) retryQuarantined(ctx context.Context) error {
	if !f.quarantine.retryIsDue() {
		return nil
	}
	position, _, err := f.store.checkpoint(ctx, f.chain)
	if err != nil {
		return err
	}
	list, err := f.store.quarantined(ctx, f.chain, blocks{position.first, position.block})
	if err != nil {
		return err
	}
	for i := range min(quarantineRetries, len(list)) {
		b := list[(f.quarantine.retried+i)%len(list)]
		events, err := f.readQuarantined(ctx, b.Number, position)
		if errors.As(err, new(*order.UnreadableError)) || len(asideOf(err)) > 0 {
			continue
		}
		if err != nil {
			return fmt.Errorf("read quarantined block %d: %w", b.Number, err)
		}
		known, err := f.store.eventsBetween(ctx, f.chain, blocks{b.Number, b.Number})
		if err != nil {
			return err
		}
		missing, err := correct(known, events)
		if err != nil {
			return err
		}
		changes, err := f.store.correct(ctx, f.lease, f.chain, missing, func(tx *store.Tx) error {
			gone, err := tx.ExecContext(ctx, `DELETE FROM quarantined_blocks WHERE chain = $1 AND number = $2`, int64(f.chain), int64(b.Number))
			return changedOne(gone, err)
		})
		if err != nil {
			return err
		}
		f.report(changes)
		f.logger.InfoContext(ctx, "quarantined block read", "block", b.Number, "events", len(events))
	}
	f.quarantine.retried += quarantineRetries
	return f.learnQuarantined(ctx)
}

// readQuarantined reads a block that was left out, and a second time where those around it are proven.
func (f *follower) readQuarantined(ctx context.Context, number uint64, position checkpoint) ([]order.Event, error) {
	events, err := f.source.Events(ctx, number, number)
	verifier, can := f.source.(order.Verifier)
	if err != nil || !can || number >= position.provenEnd {
		return events, err
	}
	proof, err := verifier.Verify(ctx, number, number, events)
	return proof.Events, err
}

// learnQuarantined reads which blocks are left out: this process or another one has quarantined them.
func (f *follower) learnQuarantined(ctx context.Context) error {
	list, err := f.store.quarantined(ctx, f.chain, blocks{0, math.MaxInt64})
	if err != nil {
		return err
	}
	f.sync.leaveOut(list)
	return nil
}
