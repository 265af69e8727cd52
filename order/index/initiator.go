package index

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// identify returns events with who sent their transactions. A backfill stores many without, since it takes a call for
// each transaction and most orders are never asked for: those of an order that is are read now, and stored. What could
// not be read is returned as gaps of one block each.
func (x *Index) identify(ctx context.Context, events []order.Event) ([]order.Event, []order.Gap) {
	unread := map[chain.TxHash]order.At{} // one event of each transaction
	for _, e := range events {
		if e.At.Initiator.IsAbsent() {
			unread[e.At.Tx] = e.At
		}
	}
	if len(unread) == 0 {
		return events, nil
	}
	ctx, span := tracer().Start(ctx, "order.identify")
	defer span.End()
	var mu sync.Mutex
	var found []order.Event
	var gaps []order.Gap
	var reading sync.WaitGroup
	for tx, at := range unread {
		reading.Go(func() {
			told, err := x.initiated(ctx, tx, at)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				x.options.Logger.WarnContext(ctx, "initiator of a transaction not read", "chain", at.Chain, "block", at.Block, "error", err)
				gaps = append(gaps, order.Gap{Chain: at.Chain, From: at.Block, To: at.Block})
			}
			found = append(found, told...)
		})
	}
	reading.Wait()
	identified := alike(events, found)
	if err := x.store.identify(ctx, found); err != nil && !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
		x.options.Logger.WarnContext(ctx, "initiators not stored; they are read again when somebody asks", "error", err)
	}
	return identified, gaps
}

// initiated returns the events of a transaction, of which one is known to be at a place.
func (x *Index) initiated(ctx context.Context, tx chain.TxHash, at order.At) ([]order.Event, error) {
	source, followed := x.sources[at.Chain]
	if !followed {
		return nil, fmt.Errorf("chain %d is not configured", at.Chain)
	}
	read, err := source.EventsIn(ctx, tx)
	if err == nil && initiatorAt(at, read.Events).IsAbsent() {
		err = fmt.Errorf("chain %d: transaction %s is not in block %d", at.Chain, tx, at.Block)
	}
	return order.Attest(ctx, source, read.Events).Events, err
}

// initiatorAt returns who sent the transaction of the event at a place, as others tell; absent where none does.
func initiatorAt(at order.At, events []order.Event) chain.Address {
	for _, e := range events {
		if e.At.Chain == at.Chain && e.At.BlockHash == at.BlockHash && e.At.LogIndex == at.LogIndex && e.At.Tx == at.Tx {
			return e.At.Initiator
		}
	}
	return chain.Address{}
}

// identify stores who sent the transactions of events that were stored without.
func (s orderStore) identify(ctx context.Context, events []order.Event) error {
	rows := make([][]any, len(events))
	for i, e := range events {
		rows[i] = []any{store.Blob(e.At.Initiator.Bytes()), int64(e.At.Chain), int64(e.At.Block), int64(e.At.LogIndex), e.At.BlockHash[:]}
	}
	err := s.Update(ctx, func(tx *store.Tx) error {
		return tx.ExecEach(ctx, `UPDATE events SET initiator = $1
			WHERE chain = $2 AND block = $3 AND log_index = $4 AND block_hash = $5 AND length(initiator) = 0`, rows)
	})
	if err != nil {
		return fmt.Errorf("store initiators: %w", err)
	}
	return nil
}
