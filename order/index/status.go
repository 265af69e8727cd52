package index

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// Status is what the store holds of one chain.
type Status struct {
	Chain chain.ID
	Lag
	From   BlockTime // where the chain's history begins in the store; block 0 when all of it was read
	Known  bool      // anything was
	Proven uint64    // newest block up to which, from From on, a second reading confirms the first; 0: none, or not known
	Orders uint64    // created here
	Locked uint64    // of them, delivered and not paid
	Err    error     // why the head is not known

	Quarantined []QuarantinedBlock // ascending
}

// Status returns what the store holds of every chain, and asks each for its newest block.
func (x *Index) Status(ctx context.Context) ([]Status, error) {
	all, positions := make([]Status, len(x.followers)), make([]checkpoint, len(x.followers))
	for i, f := range x.followers {
		position, known, err := x.jobs.checkpoint(ctx, f.chain)
		if err != nil {
			return nil, err
		}
		all[i] = Status{Chain: f.chain, From: BlockTime{position.first, position.firstTime}, Known: known}
		all[i].Indexed, all[i].IndexedTime = position.block, position.blockTime
		if all[i].Quarantined, err = x.jobs.quarantined(ctx, f.chain, blocks{0, math.MaxInt64}); err != nil {
			return nil, err
		}
		positions[i] = position
	}
	if err := x.jobs.count(ctx, all); err != nil {
		return nil, err
	}
	var asking sync.WaitGroup
	for i, f := range x.followers {
		asking.Go(func() {
			head, err := f.source.Head(ctx)
			all[i].Head, all[i].Err = head.Latest.Number, err
			_, isVerifiable := f.source.(order.Verifier)
			all[i].Proven = positions[i].provenTo(head.Finalized, isVerifiable)
			if err == nil && all[i].Indexed >= all[i].Head {
				all[i].Level = time.Now()
			}
		})
	}
	asking.Wait()
	return all, nil
}

// count fills in how many orders the chains hold.
func (s orderStore) count(ctx context.Context, all []Status) error {
	err := s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id chain.ID
		var orders, waiting uint64
		if err := rows.Scan(&id, &orders, &waiting); err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(s Status) bool { return s.Chain == id })
		if i >= 0 {
			all[i].Orders, all[i].Locked = orders, waiting
		}
		return nil
	}, `SELECT give_chain, COUNT(*), SUM(CASE WHEN locked = $1 THEN 1 ELSE 0 END)
		FROM orders GROUP BY give_chain`, int64(locked))
	if err != nil {
		return fmt.Errorf("count orders: %w", err)
	}
	return nil
}
