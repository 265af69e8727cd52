package query

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// identify returns events with the senders of their transactions. A backfill stores many events without, since each
// transaction takes a call and most orders are never requested: those of a requested order are read now, and stored. It
// returns a gap of one block for each transaction that cannot be read, and in single the chains on which a single
// endpoint reported one. Such senders are stored only if everything about the chain rests on a single endpoint.
func (x *Index) identify(
	ctx context.Context, events []order.Event,
) (identified []order.Event, gaps []order.Gap, single []chain.ID) {
	unread := map[chain.TxHash]order.At{} // one event of each transaction
	for _, e := range events {
		if e.At.Initiator.IsAbsent() {
			unread[e.At.Tx] = e.At
		}
	}
	if len(unread) == 0 {
		return events, nil, nil
	}
	ctx, span := tracer().Start(ctx, "order.identify")
	defer span.End()
	var mu sync.Mutex
	var found, lasting []order.Event
	var reading sync.WaitGroup
	for tx, at := range unread {
		reading.Go(func() {
			read, err := x.initiated(ctx, tx, at)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				x.Logger.WarnContext(ctx, "initiator of a transaction not read", "chain", at.Chain, "block", at.Block, "error", err)
				gaps = append(gaps, order.Gap{Chain: at.Chain, From: at.Block, To: at.Block})
			}
			found = append(found, read.Events...)
			if read.Standing == order.Single {
				single = append(single, at.Chain)
			}
			if read.Standing > order.Single || x.Basis().Of(at.Chain).Single {
				lasting = append(lasting, read.Events...)
			}
		})
	}
	reading.Wait()
	if err := x.store.Identify(ctx, lasting); err != nil && !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
		x.Logger.WarnContext(ctx, "initiators not stored; reading them again with the next request", "error", err)
	}
	return ledger.Alike(events, found), gaps, single
}

// initiated reads the events of a transaction, one of them known to be at a place, and verifies their senders.
func (x *Index) initiated(ctx context.Context, tx chain.TxHash, at order.At) (order.Evidence, error) {
	source := x.Source(at.Chain)
	if source == nil {
		return order.Evidence{}, fmt.Errorf("chain %d is not configured", at.Chain)
	}
	read, err := source.EventsIn(ctx, tx)
	if err == nil && ledger.InitiatorAt(at, read.Events).IsAbsent() {
		err = fmt.Errorf("chain %d: transaction %s is not in block %d", at.Chain, tx, at.Block)
	}
	return x.attest(ctx, at.Chain, read.Events), err
}

func (x *Index) attest(ctx context.Context, on chain.ID, events []order.Event) order.Evidence {
	read := order.Attest(ctx, x.Source(on), events)
	x.warn(ctx, on, read.Wrong)
	return read
}

func (x *Index) agreed(ctx context.Context, on chain.ID, read order.Evidence) order.Evidence {
	read = order.Agreed(ctx, x.Source(on), read)
	x.warn(ctx, on, read.Wrong)
	return read
}

func (x *Index) warn(ctx context.Context, on chain.ID, wrong []string) {
	if f := x.Of(on); f != nil {
		f.Blame(ctx, wrong)
	}
}
