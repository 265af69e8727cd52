package index

import (
	"context"
	"errors"
	"fmt"

	"crossgate/order"
	"crossgate/store"
)

const (
	// filledAtOnce is how many older orders get their delivery time in one transaction, which others wait for.
	filledAtOnce = 2000
	// filledPerLine is the share of the orders after which the log has a line about it.
	filledPerLine = 1. / 16

	fillingJob = "fill in delivery times"
)

// fillIn has older orders get their delivery times, until all have them or ctx ends. One replica does it.
func (x *Index) fillIn(ctx context.Context) {
	told := 0.
	step := func(ctx context.Context, l store.Lease) (left bool, err error) {
		next, left, err := x.jobs.fillingAt(ctx)
		if err != nil || !left {
			return false, err
		}
		done, err := x.jobs.fillDeliveryTimes(ctx, l, next, filledAtOnce)
		if done >= told+filledPerLine || done == 1 {
			told = done
			x.options.Logger.InfoContext(ctx, "delivery times of older orders are filled in", "percent", int(100*done))
		}
		return done < 1, err
	}
	for {
		_, left, err := x.jobs.fillingAt(ctx)
		if err == nil && !left {
			return
		}
		if err == nil {
			err = x.underLease(ctx, fillingJob, step)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
			x.options.Logger.WarnContext(ctx, "delivery times of older orders could not be filled in", "error", err, "retry_in", listInterval)
		}
		if !wait(ctx, listInterval) {
			return
		}
	}
}

// fillingAt is the first order that may lack its delivery time, if there is one.
func (s orderStore) fillingAt(ctx context.Context) (next order.ID, isLeft bool, err error) {
	isLeft, err = s.QueryRow(ctx, []any{store.HashColumn(&next)}, `SELECT next_id FROM delivery_time_filling`)
	return next, isLeft, err
}

// fillDeliveryTimes fills in delivery times of orders that were counted before these were kept: of atOnce, two at
// least, from one on. It returns the share that is done by then: ids are digests, so they are spread evenly.
func (s orderStore) fillDeliveryTimes(ctx context.Context, l store.Lease, next order.ID, atOnce int) (done float64, err error) {
	ids, err := queryIDs(ctx, s, `SELECT id FROM order_values WHERE id >= $1 ORDER BY id LIMIT $2`, next[:], atOnce)
	if err != nil {
		return 0, fmt.Errorf("read older orders: %w", err)
	}
	err = s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		if len(ids) > 0 {
			if err := tx.ExecEach(ctx, fillDeliveryTimes, [][]any{{next[:], ids[len(ids)-1][:]}}); err != nil {
				return err
			}
		}
		if len(ids) < atOnce {
			return tx.ExecEach(ctx, `DELETE FROM delivery_time_filling`, [][]any{{}})
		}
		return tx.ExecEach(ctx, `UPDATE delivery_time_filling SET next_id = $1`, [][]any{{ids[len(ids)-1][:]}})
	})
	if err != nil {
		return 0, fmt.Errorf("fill in delivery times: %w", err)
	}
	if len(ids) < atOnce {
		return 1, nil
	}
	return float64(ids[len(ids)-1][0]) / (1 << 8), nil
}

// fillDeliveryTimes is for orders from one id to another, both included.
const fillDeliveryTimes = `UPDATE order_values SET delivered_after = (
		SELECT CASE WHEN MAX(f.block_time) > MAX(c.block_time) THEN MAX(f.block_time) - MAX(c.block_time) ELSE 0 END
		FROM events c JOIN events f ON f.order_id = c.order_id AND f.kind = 'fulfilled'
		WHERE c.order_id = order_values.id AND c.kind = 'created' HAVING COUNT(*) > 0
	) WHERE id >= $1 AND id <= $2 AND fulfilled = 1 AND delivered_after IS NULL`
