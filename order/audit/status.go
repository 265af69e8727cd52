package audit

import (
	"context"
	"math"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// Status is what the store has of one chain.
type Status struct {
	Chain chain.ID
	order.Lag
	From   order.BlockTime // where the chain's history begins in the store; block 0 if the store has all of it
	Known  bool            // false if nothing was read
	Proven uint64          // newest block that, from From on, a second reading confirms; 0: none or unknown
	Orders uint64          // created on this chain
	Locked uint64          // of these, delivered but not yet paid for
	Err    error           // why the head is unknown

	Quarantined []ledger.QuarantinedBlock // ascending
}

// Status returns what the store has of every chain, and asks each chain for its newest block.
func (b *Books) Status(ctx context.Context) ([]Status, error) {
	counted, err := b.Ledger.CountOrders(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Status, len(b.Readers))
	for i, r := range b.Readers {
		position, known, err := b.Ledger.Checkpoint(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		all[i] = Status{Chain: r.ID, From: order.BlockTime{Number: position.First, Time: position.FirstTime}, Known: known, Proven: position.ProvenTo()}
		all[i].Indexed, all[i].IndexedTime = position.Block, position.BlockTime
		if all[i].Quarantined, err = b.Ledger.Quarantined(ctx, r.ID, ledger.Range{From: 0, To: math.MaxInt64}); err != nil {
			return nil, err
		}
		for _, c := range counted {
			if c.Give == r.ID {
				all[i].Orders, all[i].Locked = all[i].Orders+c.Orders, all[i].Locked+c.Locked
			}
		}
	}
	const headLimit = 10 * time.Second
	limited, cancel := context.WithTimeout(ctx, headLimit)
	defer cancel()
	heads := each(b.Readers, func(r *follow.Reader) (head heard[order.Head]) {
		head.got, head.err = r.Source.Head(limited)
		return head
	})
	for i, head := range heads {
		all[i].Head, all[i].Err = head.got.Latest.Number, head.err
		if head.err == nil && all[i].Indexed >= all[i].Head {
			all[i].Level = time.Now()
		}
	}
	return all, nil
}
