package index

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"crossgate/order"
	"crossgate/store"
)

// How much of a day's comparison with the contracts is done at once.
const (
	reconciledAtOnce = 500 // orders
	reconciledSample = 20  // beside them, that are over and agreed before
	leastSteps       = 24  // a day
	mostSteps        = 288
)

// reconcile compares what is stored with what the contracts of each chain store, and repairs what differs: every order
// that is not over on a chain once in a day, each once when it is over and final, and some of the others. Of several
// replicas the one does it that follows the chain. It returns when ctx ends.
func (x *Index) reconcile(ctx context.Context) {
	var working sync.WaitGroup
	for _, f := range x.followers {
		r := &reconciler{follower: newFollower(x.jobs.DB, f.chain, f.source, x.options), day: x.options.Day}
		countReconciled(ctx, f.chain, 0, 0)
		if a := (&auditor{job: r.job}); a.cannotTell(order.GiveSide) && a.cannotTell(order.TakeSide) {
			continue
		}
		working.Go(func() {
			for pause := r.day / leastSteps; wait(ctx, pause); {
				if f.leading.Load() == 0 {
					continue
				}
				steps, err := r.step(x.options.Background(ctx))
				f.unsettled.Store(int64(len(r.unsettled)))
				if err != nil && ctx.Err() == nil && !errors.Is(err, errRepairing) {
					r.logger.WarnContext(ctx, "orders not compared with what the contracts store; they are next time", "error", err)
				}
				pause = r.day / time.Duration(min(max(steps, leastSteps), mostSteps))
			}
		})
	}
	working.Wait()
}

// reconciler compares the orders of one chain with its contracts.
type reconciler struct {
	*follower
	day       time.Duration
	after     order.ID          // that was compared last
	unsettled map[order.ID]bool // which differ from the contracts, and could not be read otherwise
}

// step compares some orders, and returns how many steps all take.
func (r *reconciler) step(ctx context.Context) (steps int, err error) {
	due, all, err := r.store.uncompared(ctx, r.job, r.after)
	if err != nil {
		return 0, err
	}
	after := order.ID{} // from the beginning again
	if len(due) == reconciledAtOnce {
		after = due[len(due)-1]
	}
	sample, err := r.store.sampled(ctx, r.job)
	if err != nil {
		return 0, err
	}
	ids := slices.Concat(due, sample, slices.Collect(maps.Keys(r.unsettled)))
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return 0, nil
	}
	m := &mender{follower: r.follower, report: func(Progress) {}}
	err = errors.Join(r.learnAnchor(ctx), m.underLease(ctx, func(ctx context.Context, m *mender) error {
		return m.mend(ctx, Selection{Chain: r.chain, Orders: ids, statesAlone: true})
	}))
	if left := m.repair.Left; err == nil && left != nil {
		r.after = after
		r.take(ctx, left, len(m.repair.Orders))
	}
	return all/reconciledAtOnce + 1, err
}

// take takes note of what a comparison came to.
func (r *reconciler) take(ctx context.Context, came *Audit, corrected int) {
	const most = 50 // that are compared again at once
	r.unsettled = map[order.ID]bool{}
	for _, each := range came.Differences {
		r.unsettled[each.Order] = true
	}
	for _, each := range came.Unchecked {
		r.unsettled[each.Order] = true
	}
	countReconciled(ctx, r.chain, int(came.Orders), corrected+len(came.Differences))
	if corrected > 0 || len(r.unsettled) > 0 {
		r.logger.WarnContext(ctx, "stored orders differ from what the contracts store", "compared", came.Orders,
			"corrected", corrected, "unsettled", len(r.unsettled))
	}
	for id := range r.unsettled {
		if len(r.unsettled) <= most {
			break
		}
		delete(r.unsettled, id)
	}
}

// uncompared returns the next orders of a chain that are to be compared, and how many there are in all.
func (s orderStore) uncompared(ctx context.Context, j job, after order.ID) (ids []order.ID, all int, err error) {
	const due = ` FROM orders WHERE compared < 3 AND (give_chain = $1 AND compared IN (0, 2) OR take_chain = $1 AND compared IN (0, 1))`
	if _, err = s.QueryRow(ctx, []any{&all}, `SELECT COUNT(*)`+due, int64(j.chain)); err == nil {
		ids, err = queryIDs(ctx, s, `SELECT id`+due+` AND id > $2 ORDER BY id LIMIT $3`, int64(j.chain), after[:], reconciledAtOnce)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("select orders of chain %d to be compared: %w", j.chain, err)
	}
	return ids, all, nil
}

// sampled returns some orders of a chain that were compared.
func (s orderStore) sampled(ctx context.Context, j job) ([]order.ID, error) {
	var from order.ID
	if _, err := rand.Read(from[:]); err != nil {
		return nil, err
	}
	ids, err := queryIDs(ctx, s, `SELECT id FROM orders WHERE id > $2 AND (give_chain = $1 AND compared IN (1, 3) OR take_chain = $1 AND compared > 1)
		ORDER BY id LIMIT $3`, int64(j.chain), from[:], reconciledSample)
	if err != nil {
		return nil, fmt.Errorf("select a sample of the orders of chain %d: %w", j.chain, err)
	}
	return ids, nil
}

// noteCompared takes note of sides of orders that are over and agree with the contracts. A new event ends it.
func (s orderStore) noteCompared(ctx context.Context, l store.Lease, sides []side) error {
	if len(sides) == 0 {
		return nil
	}
	rows := make([][]any, len(sides))
	for i, each := range sides {
		bit := 1
		if each.side == order.TakeSide {
			bit = 2
		}
		rows[i] = []any{bit, each.id[:], 3 - bit}
	}
	return s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		return tx.ExecEach(ctx, `UPDATE orders SET compared = compared + $1 WHERE id = $2 AND compared IN (0, $3)`, rows)
	})
}
