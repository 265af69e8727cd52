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
	// QuarantineAfter is how often a block has to be unreadable in a row before it is left out.
	QuarantineAfter = 3
	// QuarantineRetry is how long after that it is asked for again, and after each time.
	QuarantineRetry = time.Minute
)

// quarantine is which blocks of a chain were unreadable lately, and when those that are left out were asked for again.
type quarantine struct {
	retriedAt time.Time // only the follower's goroutine knows it, and
	retried   int       // how many were asked for again

	mu         sync.Mutex     // ranges are read at the same time
	unreadable map[uint64]int // how often in a row each block was
}

// failed counts how often a block was unreadable in a row, and returns one of the range as quarantined once that is
// often enough.
// Blocks are counted each for itself: ranges that are read at the same time fail in any sequence.
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

// due are the blocks of a range to leave out for an error in reading it: those of transactions that are not understood,
// and one that was unreadable often enough.
func (q *quarantine) due(err error, r ledger.Range) []ledger.QuarantinedBlock {
	list := asideOf(err)
	if bad, isDue := q.failed(err, r); isDue {
		list = append(list, bad)
	}
	return list
}

// succeeded takes note of a range that was read.
func (q *quarantine) succeeded(r ledger.Range) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.unreadable, func(number uint64, _ int) bool { return r.Holds(number) })
}

// retryIsDue reports whether blocks that are left out are to be asked for again, and counts on it that they are.
func (q *quarantine) retryIsDue() bool {
	if time.Since(q.retriedAt) < QuarantineRetry {
		return false
	}
	q.retriedAt = time.Now()
	return true
}

// Events reads the events of a range by read. A block that has been unreadable often enough is left out.
func (c *Chain) Events(
	ctx context.Context, r ledger.Range, read func(ctx context.Context, from, to uint64) ([]order.Event, error),
) (events []order.Event, left []ledger.QuarantinedBlock, err error) {
	parts := []ledger.Range{r}
	for len(parts) > 0 {
		part := parts[0]
		got, err := read(ctx, part.From, part.To)
		if bad, isDue := c.quarantine.failed(err, part); isDue {
			c.Logger.WarnContext(ctx, "block quarantined: no endpoint gives what it holds; it is left out and asked for again",
				"block", bad.Number, "error", bad.Reason)
			left = append(left, bad)
			parts = append(part.Without([]ledger.QuarantinedBlock{bad}), parts[1:]...)
			continue
		}
		if aside := asideOf(err); len(aside) > 0 {
			c.Logger.WarnContext(ctx, "transactions put aside; they are asked for again", "error", err)
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

// asideOf are the blocks of transactions that were put aside, whose other transactions were read.
func asideOf(err error) (left []ledger.QuarantinedBlock) {
	aside, is := errors.AsType[*order.AsideError](err)
	if !is {
		return nil
	}
	for _, each := range aside.Transactions {
		reason := fmt.Sprintf("transaction %s, alone: %s", each.Tx, each.Err)
		left = append(left, ledger.QuarantinedBlock{Number: each.Block, Reason: reason, Since: uint64(time.Now().Unix())})
	}
	return left
}

// quarantineRetries is how many blocks that were left out are asked for at a time.
const quarantineRetries = 16

// RetryQuarantined asks once in a while for the blocks that were left out, for some of many. It returns what changed,
// also beside an error.
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
		if err != nil {
			return changes, err
		}
		changes = append(changes, changed...)
		c.Logger.InfoContext(ctx, "quarantined block read", "block", b.Number, "events", len(events))
	}
	return changes, nil
}

// readQuarantined reads a block that was left out, and a second time where those around it are proven: there one
// endpoint's word is not enough.
func (c *Chain) readQuarantined(ctx context.Context, number uint64, position ledger.Checkpoint) ([]order.Event, error) {
	events, err := c.Source.Events(ctx, number, number)
	verifier, can := c.Verifier()
	if err != nil || !can || number >= position.ProvenEnd {
		return events, err
	}
	proof, err := c.VerifyBlock(ctx, verifier, number, position, events)
	return proof.Events, err
}
