package audit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/proof"
	"crossgate/store"
)

// How much of a day's comparison with the contracts is done in one step.
const (
	reconciledAtOnce = 500 // orders in a step
	reconciledSample = 20  // additional ones that are complete and agreed before
	leastSteps       = 24  // minimum of steps a day
	mostSteps        = 288
)

// Reconcile compares stored orders with the contracts of each chain, and repairs differences: each day every order that
// is not complete on a chain, each order once when it is complete and final, and a sample of the others. Of several
// replicas, the one that follows the chain does so. It returns when ctx ends.
func Reconcile(ctx context.Context, c *follow.Chains, day time.Duration) {
	var working sync.WaitGroup
	for _, r := range Of(c).Reconcilers() {
		f := c.Of(r.ID)
		countReconciled(ctx, r.ID, 0, 0)
		working.Go(func() {
			var failure store.Failure
			for pause := day / leastSteps; order.Wait(ctx, pause, nil); {
				if f.Leading.Load() == 0 {
					continue
				}
				for range len(f.Lacking) {
					r.Again[<-f.Lacking] = true
				}
				steps, err := r.Step(ctx)
				f.Unsettled.Store(int64(len(r.Unsettled)))
				if ctx.Err() == nil && !errors.Is(err, errBusy) {
					failure.Log(ctx, r.Logger, err, "orders not compared with the contracts' states; retrying later", "orders are compared again")
				}
				pause = day / time.Duration(min(max(steps, leastSteps), mostSteps))
			}
		})
	}
	working.Wait()
}

// Reconciler compares the orders of one chain with its contracts.
type Reconciler struct {
	*follow.Reader
	Unsettled map[order.ID]bool // orders that differed from the contracts when last compared
	Again     map[order.ID]bool // orders to compare in the next step, including some unsettled ones
	after     order.ID          // last order compared
}

// Reconcilers returns reconcilers of the chains whose contracts can be asked for states.
func (b *Books) Reconcilers() (all []*Reconciler) {
	for _, r := range b.Readers {
		if r.Orders != nil {
			all = append(all, &Reconciler{Reader: r, Unsettled: map[order.ID]bool{}, Again: map[order.ID]bool{}})
		}
	}
	return all
}

// Step compares some orders, and returns how many steps it takes to compare all.
func (r *Reconciler) Step(ctx context.Context) (steps int, err error) {
	due, all, err := r.Ledger.Uncompared(ctx, r.ID, r.after, reconciledAtOnce)
	if err != nil {
		return 0, err
	}
	after := order.ID{} // zero: start over
	if len(due) == reconciledAtOnce {
		after = due[len(due)-1]
	}
	sample, err := r.Ledger.Sampled(ctx, r.ID, reconciledSample)
	if err != nil {
		return 0, err
	}
	var nameless []order.ID
	if r.after.IsAbsent() {
		if nameless, err = r.Ledger.WithoutTerms(ctx, r.ID, reconciledAtOnce); err != nil {
			return 0, err
		}
	}
	ids := slices.Concat(due, sample, nameless, slices.Collect(maps.Keys(r.Again)))
	slices.SortFunc(ids, chain.Hash.Compare)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		r.after = after
		return 0, nil
	}
	m := newMender(r.Reader, func(Progress) {})
	err = errors.Join(r.LearnAnchor(ctx), m.underLease(ctx, func(ctx context.Context, m *mender) error {
		return m.mend(ctx, ledger.Selection{Chain: r.ID, Orders: ids, StatesAlone: true})
	}))
	if left := m.repair.Left; err == nil && left != nil {
		r.after = after
		r.take(ctx, ids, left, len(m.repair.Orders))
	}
	return all/reconciledAtOnce + 1, err
}

func (r *Reconciler) take(ctx context.Context, compared []order.ID, came *Audit, corrected int) {
	const most = 50 // unsettled orders to compare again in the next step
	for _, id := range compared {
		delete(r.Unsettled, id)
	}
	for _, each := range came.Differences {
		r.Unsettled[each.Order] = true
	}
	for _, each := range came.Unchecked {
		r.Unsettled[each.Order] = true
	}
	countReconciled(ctx, r.ID, int(came.Orders), corrected+len(came.Differences))
	if corrected > 0 || len(r.Unsettled) > 0 {
		r.Logger.WarnContext(ctx, "stored orders differ from the contracts' states", "compared", came.Orders,
			"corrected", corrected, "unsettled", len(r.Unsettled))
	}
	clear(r.Again)
	for id := range r.Unsettled {
		if len(r.Again) == most {
			break
		}
		r.Again[id] = true
	}
}

// countReconciled counts orders compared with the contracts, and those that differed. Call it with 0 at the start, so
// that the first difference shows as an increase.
func countReconciled(ctx context.Context, id chain.ID, compared, differing int) {
	proof.Count(ctx, id, compared, "crossgate.index.compared_orders", "Orders compared with the contracts.")
	proof.Count(ctx, id, differing, "crossgate.index.differing_orders", "Orders that differed from the contracts when compared.")
}
