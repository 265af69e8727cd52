package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"crossgate/order"
	"crossgate/order/ledger"
)

const (
	// QuarantineAfter is how many times in a row a block must be unreadable before it is left out.
	QuarantineAfter = 3
	// QuarantineRetry is the interval at which blocks that were left out are requested again.
	QuarantineRetry = time.Minute
)

// quarantine records which blocks of a chain were unreadable recently, and when quarantined ones were last retried.
type quarantine struct {
	retriedAt time.Time // used only by the follower's goroutine
	retried   int       // how many were retried; used only by the follower's goroutine

	mu         sync.Mutex     // guards unreadable: ranges are read concurrently
	unreadable map[uint64]int // by block: how many times in a row it was unreadable
}

// failed counts how many times in a row a block was unreadable, and returns it as quarantined if it is in the range and
// reached the limit. Blocks are counted separately, since ranges are read concurrently and fail in any order.
func (q *quarantine) failed(err error, r ledger.Range) (block ledger.QuarantinedBlock, isDue bool) {
	bad, is := errors.AsType[*order.UnreadableError](err)
	if !is {
		return block, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unreadable[bad.Block]++
	block = ledger.QuarantinedBlock{Number: bad.Block, Reason: bad.Err.Error(), Since: uint64(time.Now().Unix())}
	return block, r.Holds(bad.Block) && q.unreadable[bad.Block] >= QuarantineAfter
}

// due returns the blocks of a range to leave out after an error: those with transactions that could not be decoded, and
// one that was unreadable too many times.
func (q *quarantine) due(err error, r ledger.Range) []ledger.QuarantinedBlock {
	list := asideOf(err)
	if bad, isDue := q.failed(err, r); isDue {
		list = append(list, bad)
	}
	return list
}

// LeaveOut quarantines blocks of a range whose second reading failed, and reports whether any were due. Otherwise it
// returns why the reading failed.
func (c *Chain) LeaveOut(ctx context.Context, r ledger.Range, why error) (isLeft bool, err error) {
	list := c.quarantine.due(why, r)
	if len(list) == 0 {
		return false, why
	}
	c.Logger.WarnContext(ctx, "blocks quarantined: second reading failed; retrying later", "error", why)
	_, err = c.Ledger.Write(ctx, c.Lease, func(tx *ledger.Tx) error { return tx.Quarantine(ctx, c.ID, list) })
	return true, err
}

func (q *quarantine) succeeded(r ledger.Range) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.unreadable, func(number uint64, _ int) bool { return r.Holds(number) })
}

// retryIsDue reports whether to retry quarantined blocks, and if so starts the next interval.
func (q *quarantine) retryIsDue() bool {
	if time.Since(q.retriedAt) < QuarantineRetry {
		return false
	}
	q.retriedAt = time.Now()
	return true
}

// Events returns the events of a range, as read by read. It leaves out blocks that were unreadable too many times.
func (c *Chain) Events(
	ctx context.Context, r ledger.Range, read func(ctx context.Context, from, to uint64) ([]order.Event, error),
) (events []order.Event, left []ledger.QuarantinedBlock, err error) {
	parts := []ledger.Range{r}
	for len(parts) > 0 {
		part := parts[0]
		got, err := read(ctx, part.From, part.To)
		if bad, isDue := c.quarantine.failed(err, part); isDue {
			c.Logger.WarnContext(ctx, "block quarantined: no endpoint returns its content; skipped, retrying later",
				"block", bad.Number, "error", bad.Reason)
			left = append(left, bad)
			parts = append(part.Without([]ledger.QuarantinedBlock{bad}), parts[1:]...)
			continue
		}
		if aside := asideOf(err); len(aside) > 0 {
			c.Logger.WarnContext(ctx, "transactions skipped; retrying them later", "error", err)
			left, err = append(left, aside...), nil
		}
		if err != nil {
			return nil, nil, err
		}
		c.quarantine.succeeded(part)
		events, parts = append(events, got...), parts[1:]
	}
	return events, left, nil
}

// asideOf returns the blocks of transactions that could not be decoded; the others in these blocks were read.
func asideOf(err error) (left []ledger.QuarantinedBlock) {
	aside, is := errors.AsType[*order.AsideError](err)
	if !is {
		return nil
	}
	for _, each := range aside.Transactions {
		reason := fmt.Sprintf("transaction %s only: %s", each.Tx, each.Err)
		left = append(left, ledger.QuarantinedBlock{Number: each.Block, Reason: reason, Since: uint64(time.Now().Unix())})
	}
	return left
}

const quarantineRetries = 16

// RetryQuarantined requests some of the quarantined blocks again if that is due. It returns the changes, even with an
// error.
func (c *Chain) RetryQuarantined(ctx context.Context) (changes []order.Change, err error) {
	if !c.quarantine.retryIsDue() {
		return nil, nil
	}
	position, _, err := c.Ledger.Checkpoint(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	list, err := c.Ledger.Quarantined(ctx, c.ID, ledger.Range{From: position.First, To: position.Block})
	if err != nil {
		return nil, err
	}
	for range min(quarantineRetries, len(list)) {
		b := list[c.quarantine.retried%len(list)]
		c.quarantine.retried++
		events, err := c.readQuarantined(ctx, b.Number, position)
		if errors.As(err, new(*order.UnreadableError)) || len(asideOf(err)) > 0 {
			continue
		}
		if err != nil {
			return changes, fmt.Errorf("read quarantined block %d: %w", b.Number, err)
		}
		known, err := c.Ledger.EventsBetween(ctx, c.ID, ledger.Range{From: b.Number, To: b.Number})
		if err != nil {
			return changes, err
		}
		changed, err := c.Ledger.Write(ctx, c.Lease, func(tx *ledger.Tx) error {
			if err := tx.EndQuarantine(ctx, c.ID, b.Number); err != nil {
				return err
			}
			return tx.Correct(ctx, ledger.Correct(known, events))
		})
		if errors.Is(err, ledger.ErrMoved) {
			continue // another process has read it
		}
		if err != nil {
			return changes, err
		}
		changes = append(changes, changed...)
		c.Logger.InfoContext(ctx, "quarantined block read", "block", b.Number, "events", len(events))
	}
	return changes, nil
}

// readQuarantined reads a quarantined block. If those around it are proven, it reads the block twice: there a single
// endpoint is not enough, and the second reading is right where the first one cannot be read.
func (c *Chain) readQuarantined(ctx context.Context, number uint64, position ledger.Checkpoint) ([]order.Event, error) {
	events, err := c.Source.Events(ctx, number, number)
	if number >= position.ProvenEnd || err != nil && !errors.As(err, new(*order.UnreadableError)) {
		return events, err
	}
	proof, err := c.VerifyBlock(ctx, number, position, events)
	return proof.Events, err
}
