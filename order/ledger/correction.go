package ledger

import (
	"context"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// InitiatorAt returns the sender of the transaction with an event at a place, taken from the same event among others;
// absent if that is not among them.
func InitiatorAt(at order.At, events []order.Event) chain.Address {
	for _, e := range events {
		if e.At.Chain == at.Chain && e.At.BlockHash == at.BlockHash && e.At.LogIndex == at.LogIndex && e.At.Tx == at.Tx {
			return e.At.Initiator
		}
	}
	return chain.Address{}
}

// Identify stores the senders of events that were stored without.
func (l Ledger) Identify(ctx context.Context, events []order.Event) error {
	initiators := make([]chain.Address, len(events))
	for i, e := range events {
		initiators[i] = e.At.Initiator
	}
	return l.Update(ctx, func(tx *store.Tx) error {
		numbers, err := tx.AddressNumbers(ctx, initiators...)
		if err != nil {
			return err
		}
		rows := store.Arguments(events, func(e order.Event) []any {
			return []any{numbers[e.At.Initiator], int64(e.At.Chain), int64(e.At.Block), int64(e.At.LogIndex), e.At.BlockHash[:]}
		})
		return tx.ExecEach(ctx, `UPDATE events SET initiator = $1
			WHERE chain = $2 AND block = $3 AND log_index = $4 AND block_hash = $5 AND initiator = 0`, rows)
	})
}

// Applied returns stored events with the correction applied, in block and log order.
func (c Correction) Applied(stored []order.Event) []order.Event {
	kept := slices.DeleteFunc(slices.Clone(stored), func(e order.Event) bool {
		return slices.ContainsFunc(c.Wrong, func(wrong order.Event) bool { return isSamePlace(e, wrong) })
	})
	return order.Sorted(append(kept, c.Missing...))
}

// WithdrawAnswers makes gateways that follow the chain drop their cached answers about it: they see that events were
// withdrawn. It returns ErrMoved if others were withdrawn meanwhile.
func (tx *Tx) WithdrawAnswers(ctx context.Context, id chain.ID, position Checkpoint) error {
	return tx.Change(ctx, ErrMoved, `UPDATE checkpoints SET reorgs = reorgs + 1 WHERE chain = $1 AND reorgs = $2`,
		int64(id), int64(position.Reorgs))
}

// Prove records that a chain proven before r.From is now, after reading r, proven before end; blocks from singleFrom on
// rest on a single endpoint. It returns ErrMoved if it was not proven before r.From, or a reorg dropped part of r.
func (tx *Tx) Prove(ctx context.Context, id chain.ID, r Range, end, singleFrom uint64) error {
	return tx.Change(ctx, ErrMoved, `UPDATE checkpoints SET proven_end = $1, single_from = $5 WHERE chain = $2 AND proven_end = $3 AND block >= $4`,
		int64(end), int64(id), int64(r.From), int64(r.To), int64(singleFrom))
}

// JoinProven adds a range to the proven blocks if it adjoins them. It returns ErrMoved if a reorg dropped part of it.
func (tx *Tx) JoinProven(ctx context.Context, id chain.ID, r Range) error {
	return tx.Change(ctx, ErrMoved, `UPDATE checkpoints SET
		proven_from = CASE WHEN $1 < proven_from AND $2 >= proven_from THEN $1 ELSE proven_from END,
		proven_end = CASE WHEN $1 <= proven_end AND $2 > proven_end THEN $2 ELSE proven_end END
		WHERE chain = $3 AND first_block <= $1 AND block + 1 >= $2`, int64(r.From), int64(r.To+1), int64(id))
}

// Refilled returns the stored events of a range whose places are taken by events in others.
func Refilled(stored, others []order.Event, r Range) []order.Event {
	return slices.DeleteFunc(Within(stored, r), func(e order.Event) bool {
		return !slices.ContainsFunc(others, func(other order.Event) bool { return isSamePlace(e, other) })
	})
}

func isSamePlace(a, b order.Event) bool {
	return a.At.Chain == b.At.Chain && a.At.Block == b.At.Block && a.At.LogIndex == b.At.LogIndex
}

// WithEvent adds an event to those of one order, unless there is one at its place.
func WithEvent(events []order.Event, e order.Event) []order.Event {
	if slices.ContainsFunc(events, func(other order.Event) bool { return isSamePlace(e, other) }) {
		return events
	}
	return append(events, e)
}

// Correction is a set of changes that make the store correct.
type Correction struct {
	Missing []order.Event // in the blocks but not stored
	Wrong   []order.Event // stored but not in the blocks
}

func (c Correction) IsEmpty() bool { return len(c.Missing) == 0 && len(c.Wrong) == 0 }

// Correct compares the stored events of blocks with the proven ones.
func Correct(stored, proven []order.Event) Correction {
	have, want := textsOf(Alike(stored, proven), rowOf), textsOf(proven, rowOf)
	return Correction{Wrong: lacking(stored, have, want), Missing: lacking(proven, want, have)}
}

// Alike returns stored events, with missing initiators taken from proven ones.
func Alike(stored, proven []order.Event) []order.Event {
	events := slices.Clone(stored)
	for i := range events {
		if e := &events[i]; e.At.Initiator.IsAbsent() {
			e.At.Initiator = InitiatorAt(e.At, proven)
		}
	}
	return events
}

// lacking returns the events whose texts are not among others.
func lacking(events []order.Event, texts, others []string) (lack []order.Event) {
	known := make(map[string]bool, len(others))
	for _, text := range others {
		known[text] = true
	}
	for i, e := range events {
		if !known[texts[i]] {
			lack = append(lack, e)
		}
	}
	return lack
}

// rowOf returns an event as a text that is equal for events stored as equal rows.
func rowOf(e order.Event) string {
	if s, is := e.Swap(); is {
		return fmt.Sprint(swapRow(s)...)
	}
	return fmt.Sprint(eventRow(e, e.At.Initiator.Bytes(), e.Order[:], nil, nil)...)
}

func textsOf(events []order.Event, text func(order.Event) string) []string {
	texts := make([]string, len(events))
	for i, e := range events {
		texts[i] = text(e)
	}
	return texts
}

// Correct applies a correction, however old, to the stored events of a chain. Another process may have applied some.
func (tx *Tx) Correct(ctx context.Context, c Correction) error {
	tx.isNews = true
	for _, e := range slices.Concat(c.Wrong, c.Missing) {
		err := tx.remove(ctx, `chain = $1 AND block = $2 AND log_index = $3`, int64(e.At.Chain), int64(e.At.Block), int64(e.At.LogIndex))
		if err != nil {
			return err
		}
	}
	tx.Add(c.Missing...)
	return nil
}

// Within returns the events in a range.
func Within(events []order.Event, r Range) []order.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e order.Event) bool { return !r.Holds(e.At.Block) })
}
