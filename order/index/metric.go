package index

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"crossgate/chain"
)

// chainAttribute names a chain by the API's number.
func chainAttribute(id chain.ID) metric.MeasurementOption {
	return metric.WithAttributes(attribute.Int64("crossgate.chain.id", int64(id)))
}

// observe has the place of every follower read whenever measurements are collected, until stop is called.
func (x *Index) observe() (stop func() error, err error) {
	meter := otel.Meter("crossgate/order/index")
	var errs [11]error
	head, err := meter.Int64ObservableGauge("crossgate.index.head",
		metric.WithDescription("Number of the newest block that a chain reported."))
	errs[0] = err
	indexed, err := meter.Int64ObservableGauge("crossgate.index.block",
		metric.WithDescription("Number of the newest block whose events are stored."))
	errs[1] = err
	lag, err := meter.Float64ObservableGauge("crossgate.index.lag", metric.WithUnit("s"),
		metric.WithDescription("Age of the index of a chain: events before that are in it."))
	errs[2] = err
	proven, err := meter.Int64ObservableGauge("crossgate.index.proven_block",
		metric.WithDescription("Number of the newest block up to which a second reading confirms what is stored."))
	errs[3] = err
	quarantined, err := meter.Int64ObservableGauge("crossgate.index.quarantined_blocks",
		metric.WithDescription("Blocks left out of the index because no endpoint gives what they hold."))
	errs[4] = err
	unknown, err := meter.Int64ObservableGauge("crossgate.index.unknown_chain_orders",
		metric.WithDescription("Orders that give or take on a chain which is not known, by that chain."))
	errs[6] = err
	announcers, err := meter.Int64ObservableGauge("crossgate.index.announcers",
		metric.WithDescription("Connections by which endpoints of a chain announce its heads."))
	errs[7] = err
	announced, err := meter.Int64ObservableGauge("crossgate.index.announced_head",
		metric.WithDescription("Number of the newest block that endpoints announced of a chain."))
	errs[8] = err
	leading, err := meter.Int64ObservableGauge("crossgate.index.leading",
		metric.WithDescription("1 at the replica that follows a chain, 0 at those that wait to."))
	errs[9] = err
	backfill, err := meter.Int64ObservableGauge("crossgate.index.backfill_blocks",
		metric.WithDescription("Blocks before the first one that is read which could hold orders: what a backfill has left."))
	errs[10] = err
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := time.Now()
		for _, each := range x.Basis().Chains {
			if each.Head == 0 {
				continue // nothing is known of it yet
			}
			of := chainAttribute(each.Chain)
			o.ObserveInt64(head, int64(each.Head), of)
			o.ObserveInt64(indexed, int64(each.Indexed), of)
			o.ObserveFloat64(lag, each.By(now).Seconds(), of)
			o.ObserveInt64(proven, int64(each.Proven), of)
			o.ObserveInt64(quarantined, int64(each.Quarantined.Count), of)
			if each.From.Number > 0 {
				first := x.byChain[each.Chain].facts.FirstBlock
				o.ObserveInt64(backfill, int64(each.From.Number-min(first, each.From.Number)), of)
			}
		}
		for _, each := range x.followers {
			o.ObserveInt64(leading, each.leading.Load(), chainAttribute(each.chain))
		}
		for id, told := range x.Announced() {
			o.ObserveInt64(announcers, int64(told.Connections), chainAttribute(id))
			if told.Connections > 0 {
				o.ObserveInt64(announced, int64(told.Newest), chainAttribute(id))
			}
		}
		for _, each := range x.UnknownChains() {
			o.ObserveInt64(unknown, int64(each.Orders), chainAttribute(each.Chain))
		}
		return nil
	}, head, indexed, lag, proven, quarantined, unknown, announcers, announced, leading, backfill)
	errs[5] = err
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// countReorg counts a chain's taking back of blocks that were read.
func countReorg(ctx context.Context, id chain.ID) {
	count(ctx, id, 1, "crossgate.index.reorgs", "Reorgs that dropped blocks which had been indexed.")
}

// countCorrections counts events of a chain that the first reading of their blocks missed or made up. It is called with
// 0 at the start, so that the first correction shows as an increase.
func countCorrections(ctx context.Context, id chain.ID, events int) {
	count(ctx, id, events, "crossgate.index.corrections", "Events that a second reading of final blocks added or removed.")
}

// Corrections returns for each chain how many events second readings of its final blocks have added or removed here
// since the start.
func (x *Index) Corrections() map[chain.ID]uint64 {
	all := make(map[chain.ID]uint64, len(x.followers))
	for _, f := range x.followers {
		all[f.chain] = uint64(f.corrections.Load())
	}
	return all
}

// countAnnouncerLosses counts connections by which heads are announced that were lost or could not be made. It is
// called with 0 at the start, likewise.
func countAnnouncerLosses(ctx context.Context, id chain.ID, times int) {
	count(ctx, id, times, "crossgate.index.announcer_losses",
		"Connections for announced heads that were lost or could not be made.")
}

// count adds to a counter, which is asked for each time, like the tracer: what is counted here is rare enough.
func count(ctx context.Context, id chain.ID, times int, name, description string) {
	counter, invalid := otel.Meter("crossgate/order/index").Int64Counter(name, metric.WithDescription(description))
	if invalid != nil {
		return // a provider that refuses this name refuses to count
	}
	counter.Add(ctx, int64(times), chainAttribute(id))
}
