package query

import (
	"context"
	"errors"

	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/stats"
)

// Daily is stats.Daily with its basis. Errors are those of List, and stats.ErrUncounted.
func (x *Index) Daily(ctx context.Context, from, to uint64) (days, before []order.DailyStatistics, basis order.Basis, err error) {
	days, basis, err = statistics(ctx, x, func() (days []order.DailyStatistics, err error) {
		days, before, err = stats.Daily(ctx, x.lists.DB, from, to)
		return days, err
	})
	return days, before, basis, err
}

// AllTime is stats.AllTime with its basis. Errors are those of Daily.
func (x *Index) AllTime(ctx context.Context) (order.Statistics, order.Basis, error) {
	return statistics(ctx, x, func() (order.Statistics, error) { return stats.AllTime(ctx, x.lists.DB) })
}

// DeliveryTimes is stats.DeliveryTimes with its basis. Errors are those of Daily.
func (x *Index) DeliveryTimes(ctx context.Context, from, to uint64) ([]order.DeliveryTimes, order.Basis, error) {
	return statistics(ctx, x, func() ([]order.DeliveryTimes, error) { return stats.DeliveryTimes(ctx, x.lists.DB, from, to) })
}

// statistics calls read if the store can be read.
func statistics[T any](ctx context.Context, x *Index, read func() (T, error)) (all T, basis order.Basis, err error) {
	basis = x.Basis()
	if err = x.checkReadable(ctx); err != nil {
		return all, basis, err
	}
	if all, err = read(); !errors.Is(err, stats.ErrUncounted) {
		err = unavailable(ctx, err)
	}
	return all, basis, err
}

// Values is stats.ValuesOf; ErrUnavailable while the store cannot be read.
func (x *Index) Values(ctx context.Context, id order.ID) (v stats.Values, counted bool, err error) {
	v, counted, err = stats.ValuesOf(ctx, x.store.DB, id)
	return v, counted, unavailable(ctx, err)
}

// Deliveries returns the orders among ids that the store knows to be delivered. ErrUnavailable if it cannot be read.
func (x *Index) Deliveries(ctx context.Context, ids []order.ID) (map[order.ID]order.Delivery, error) {
	orders, err := ledger.FoldedOrders(ctx, x.store, ids)
	known := make(map[order.ID]order.Delivery, len(orders))
	for id, o := range orders {
		if o.Fulfilled != nil {
			known[id] = order.Delivery{Give: o.GiveFinal, State: o.State, At: o.Fulfilled.At.Time}
		}
	}
	return known, unavailable(ctx, err)
}
