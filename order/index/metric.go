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

// gauges are what is read of an index whenever measurements are collected.
type gauges struct {
	lag metric.Float64ObservableGauge

	head, indexed, proven, quarantined, backfill, leading, stopped, unsettled, stale, announcers, announced, unknown metric.Int64ObservableGauge
}

func newGauges(meter metric.Meter) (g gauges, err error) {
	g.lag, err = meter.Float64ObservableGauge("crossgate.index.lag", metric.WithUnit("s"),
		metric.WithDescription("Age of the index of a chain: events before that are in it."))
	add := func(name, description string) metric.Int64ObservableGauge {
		gauge, invalid := meter.Int64ObservableGauge(name, metric.WithDescription(description))
		err = errors.Join(err, invalid)
		return gauge
	}
	g.head = add("crossgate.index.head", "Number of the newest block that a chain reported.")
	g.indexed = add("crossgate.index.block", "Number of the newest block whose events are stored.")
	g.proven = add("crossgate.index.proven_block",
		"Number of the newest block up to which a second reading confirms what is stored.")
	g.quarantined = add("crossgate.index.quarantined_blocks",
		"Blocks left out of the index because no endpoint gives what they hold.")
	g.backfill = add("crossgate.index.backfill_blocks",
		"Blocks before the first one that is read which could hold orders: what a backfill has left.")
	g.leading = add("crossgate.index.leading", "1 at the replica that follows a chain, 0 at those that wait to.")
	g.stopped = add("crossgate.index.stopped", "1 while endpoints contradict what is final of a chain, so that nothing is read of it.")
	g.unsettled = add("crossgate.index.unsettled_orders",
		"Orders that differ from what the contracts store, and that no endpoint shows otherwise.")
	g.stale = add("crossgate.index.head_stale", "1 while the newest block of a chain is older than 20 usual times between blocks, and a minute.")
	g.announcers = add("crossgate.index.announcers", "Connections by which endpoints of a chain announce its heads.")
	g.announced = add("crossgate.index.announced_head", "Number of the newest block that endpoints announced of a chain.")
	g.unknown = add("crossgate.index.unknown_chain_orders",
		"Orders that give or take on a chain which is not known, by that chain.")
	return g, err
}

// observe has the place of every follower read whenever measurements are collected, until stop is called.
func (x *Index) observe() (stop func() error, err error) {
	meter := otel.Meter("crossgate/order/index")
	g, err := newGauges(meter)
	if err != nil {
		return nil, err
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		x.measure(o, g)
		return nil
	}, g.lag, g.head, g.indexed, g.proven, g.quarantined, g.backfill, g.leading, g.stopped, g.unsettled, g.stale, g.announcers, g.announced, g.unknown)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

func (x *Index) measure(o metric.Observer, g gauges) {
	now := time.Now()
	for _, each := range x.Basis().Chains {
		if each.Head == 0 {
			continue // nothing is known of it yet
		}
		of := chainAttribute(each.Chain)
		o.ObserveInt64(g.head, int64(each.Head), of)
		o.ObserveInt64(g.indexed, int64(each.Indexed), of)
		o.ObserveFloat64(g.lag, each.By(now).Seconds(), of)
		o.ObserveInt64(g.proven, int64(each.Proven), of)
		o.ObserveInt64(g.quarantined, int64(each.Quarantined.Count), of)
		o.ObserveInt64(g.stale, int64(min(each.Stale, 1)), of)
		if each.From.Number > 0 {
			first := x.byChain[each.Chain].facts.FirstBlock
			o.ObserveInt64(g.backfill, int64(each.From.Number-min(first, each.From.Number)), of)
		}
	}
	for _, each := range x.followers {
		o.ObserveInt64(g.leading, each.leading.Load(), chainAttribute(each.chain))
		stopped := int64(0)
		if each.sync.stoppedBy() != nil {
			stopped = 1
		}
		o.ObserveInt64(g.stopped, stopped, chainAttribute(each.chain))
		o.ObserveInt64(g.unsettled, each.unsettled.Load(), chainAttribute(each.chain))
	}
	for id, told := range x.Announced() {
		o.ObserveInt64(g.announcers, int64(told.Connections), chainAttribute(id))
		if told.Connections > 0 {
			o.ObserveInt64(g.announced, int64(told.Newest), chainAttribute(id))
		}
	}
	for _, each := range x.UnknownChains() {
		o.ObserveInt64(g.unknown, int64(each.Orders), chainAttribute(each.Chain))
	}
}

// countReorg counts a chain's taking back of blocks that were read.
func countReorg(ctx context.Context, id chain.ID) {
	count(ctx, id, 1, "crossgate.index.reorgs", "Reorgs that dropped blocks which had been indexed.")
}

// countFinalReorg counts reorgs of a chain that dropped blocks which were final, likewise.
func countFinalReorg(ctx context.Context, id chain.ID, times int) {
	count(ctx, id, times, "crossgate.index.final_reorgs", "Reorgs that dropped blocks which were final.")
}

// countCorrections counts events of a chain that the first reading of their blocks missed or made up. It is called with
// 0 at the start, so that the first correction shows as an increase.
func countCorrections(ctx context.Context, id chain.ID, events int) {
	count(ctx, id, events, "crossgate.index.corrections", "Events that a second reading of final blocks added or removed.")
}

// countReconciled counts orders that were compared with what the contracts store, and those that differed, likewise.
func countReconciled(ctx context.Context, id chain.ID, compared, differing int) {
	count(ctx, id, compared, "crossgate.index.compared_orders", "Orders that were compared with what the contracts store.")
	count(ctx, id, differing, "crossgate.index.differing_orders", "Orders that differed from what the contracts store.")
}

// Corrections returns for each chain how many events second readings of its final blocks have added or removed here
// since the start.
func (x *Index) Corrections() map[chain.ID]uint64 {
	all := make(map[chain.ID]uint64, len(x.followers))
	for _, f := range x.followers {
		all[f.chain] = uint64(f.prover.corrections.Load())
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
