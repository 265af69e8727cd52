package follow

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"crossgate/chain"
	"crossgate/order/proof"
)

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
func (c *Chains) observe() (stop func() error, err error) {
	meter := otel.Meter("crossgate/order")
	g, err := newGauges(meter)
	if err != nil {
		return nil, err
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		c.measure(o, g)
		return nil
	}, g.lag, g.head, g.indexed, g.proven, g.quarantined, g.backfill, g.leading, g.stopped, g.unsettled, g.stale, g.announcers, g.announced, g.unknown)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

func (c *Chains) measure(o metric.Observer, g gauges) {
	now := time.Now()
	for _, f := range c.Followers {
		each := f.Basis()
		if each.Head == 0 {
			continue // nothing is known of it yet
		}
		of := proof.ChainAttribute(each.Chain)
		o.ObserveInt64(g.head, int64(each.Head), of)
		o.ObserveInt64(g.indexed, int64(each.Indexed), of)
		o.ObserveFloat64(g.lag, each.By(now).Seconds(), of)
		o.ObserveInt64(g.proven, int64(each.Proven), of)
		o.ObserveInt64(g.quarantined, int64(each.Quarantined.Count), of)
		o.ObserveInt64(g.stale, int64(min(each.Stale, 1)), of)
		if each.From.Number > 0 {
			o.ObserveInt64(g.backfill, int64(each.From.Number-min(f.FirstBlock, each.From.Number)), of)
		}
	}
	for _, each := range c.Followers {
		o.ObserveInt64(g.leading, each.Leading.Load(), proof.ChainAttribute(each.ID))
		stopped := int64(0)
		if each.Stopped() != nil {
			stopped = 1
		}
		o.ObserveInt64(g.stopped, stopped, proof.ChainAttribute(each.ID))
		o.ObserveInt64(g.unsettled, each.Unsettled.Load(), proof.ChainAttribute(each.ID))
	}
	for id, told := range c.Announced() {
		o.ObserveInt64(g.announcers, int64(told.Connections), proof.ChainAttribute(id))
		if told.Connections > 0 {
			o.ObserveInt64(g.announced, int64(told.Newest), proof.ChainAttribute(id))
		}
	}
	for _, each := range c.UnknownChains() {
		o.ObserveInt64(g.unknown, int64(each.Orders), proof.ChainAttribute(each.Chain))
	}
}

// countReorg counts a chain's taking back of blocks that were read.
func countReorg(ctx context.Context, id chain.ID) {
	proof.Count(ctx, id, 1, "crossgate.index.reorgs", "Reorgs that dropped blocks which had been indexed.")
}

// Corrections returns for each chain how many events second readings of its final blocks have added or removed here
// since the start.
func (c *Chains) Corrections() map[chain.ID]uint64 {
	all := make(map[chain.ID]uint64, len(c.Followers))
	for _, f := range c.Followers {
		all[f.ID] = f.Corrections()
	}
	return all
}

// countAnnouncerLosses counts connections by which heads are announced that were lost or could not be made. It is
// called with 0 at the start, likewise.
func countAnnouncerLosses(ctx context.Context, id chain.ID, times int) {
	proof.Count(ctx, id, times, "crossgate.index.announcer_losses",
		"Connections for announced heads that were lost or could not be made.")
}
