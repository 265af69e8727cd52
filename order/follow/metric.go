package follow

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/proof"
)

// gauges are read from each follower and its basis whenever measurements are collected. Gauges that need the chain's
// head are omitted until it is known.
var gauges = []struct {
	name, description string
	read              func(f *Follower, b *order.ChainBasis) uint64
	ofHead            bool
}{
	{"head", "Newest block of the chain.", func(_ *Follower, b *order.ChainBasis) uint64 { return b.Head }, true},
	{"block", "Newest block whose events are stored.", func(_ *Follower, b *order.ChainBasis) uint64 { return b.Indexed }, true},
	{
		"proven_block", "Newest block up to which a second reading confirmed the first.",
		func(_ *Follower, b *order.ChainBasis) uint64 { return b.Proven }, true,
	},
	{
		"quarantined_blocks", "Blocks left out of the index because no endpoint returns their content.",
		func(_ *Follower, b *order.ChainBasis) uint64 { return uint64(b.Quarantined.Count) }, true,
	},
	{
		"head_stale", "1 while the newest block of a chain is older than 20 block times and a minute.",
		func(_ *Follower, b *order.ChainBasis) uint64 { return min(b.Stale, 1) }, true,
	},
	{
		"backfill_blocks", "Blocks left for a backfill: those before the first one read that could hold orders.",
		func(f *Follower, b *order.ChainBasis) uint64 { return b.From.Number - min(f.FirstBlock, b.From.Number) }, true,
	},
	{
		"leading", "1 on the replica that follows the chain, 0 on the others.",
		func(f *Follower, _ *order.ChainBasis) uint64 { return uint64(f.Leading.Load()) }, false,
	},
	{
		"stopped", "1 while the chain is not read because endpoints contradict its final blocks.",
		func(_ *Follower, b *order.ChainBasis) uint64 { return uint64(min(len(b.Stopped), 1)) }, false,
	},
	{
		"unsettled_orders", "Orders whose state in the contracts differs from the index, unexplained by any endpoint's events.",
		func(f *Follower, _ *order.ChainBasis) uint64 { return uint64(f.Unsettled.Load()) }, false,
	},
}

// observe registers the gauges to be read whenever measurements are collected, until stop is called.
func (c *Chains) observe() (stop func() error, err error) {
	meter := otel.Meter("crossgate/order")
	var all []metric.Observable
	add := func(name, description string) metric.Int64ObservableGauge {
		gauge, invalid := meter.Int64ObservableGauge("crossgate.index."+name, metric.WithDescription(description))
		err, all = errors.Join(err, invalid), append(all, gauge)
		return gauge
	}
	made := make([]metric.Int64ObservableGauge, len(gauges))
	for i, each := range gauges {
		made[i] = add(each.name, each.description)
	}
	announcers := add("announcers", "Connections on which endpoints announce the chain's heads.")
	announced := add("announced_head", "Newest block announced by endpoints of the chain.")
	unknown := add("unknown_chain_orders", "Orders from or to a chain that is not configured, by that chain.")
	lag, invalid := meter.Float64ObservableGauge("crossgate.index.lag", metric.WithUnit("s"),
		metric.WithDescription("Age of the chain's index: all earlier events are stored."))
	if err = errors.Join(err, invalid); err != nil {
		return nil, err
	}
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, f := range c.Followers {
			of, basis := proof.ChainAttribute(f.ID), f.Basis()
			for i, each := range gauges {
				if basis.Head > 0 || !each.ofHead {
					o.ObserveInt64(made[i], int64(each.read(f, &basis)), of)
				}
			}
			if basis.Head > 0 {
				o.ObserveFloat64(lag, basis.By(time.Now()).Seconds(), of)
			}
		}
		for id, heads := range c.Announced() {
			o.ObserveInt64(announcers, int64(heads.Connections), proof.ChainAttribute(id))
			if heads.Connections > 0 {
				o.ObserveInt64(announced, int64(heads.Newest), proof.ChainAttribute(id))
			}
		}
		for id, orders := range c.UnknownChains() {
			o.ObserveInt64(unknown, int64(orders), proof.ChainAttribute(id))
		}
		return nil
	}, append(all, lag)...)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// Corrections returns, for each chain, how many events second readings of final blocks have added or removed in this
// process.
func (c *Chains) Corrections() map[chain.ID]uint64 {
	all := make(map[chain.ID]uint64, len(c.Followers))
	for _, f := range c.Followers {
		all[f.ID] = f.Corrections()
	}
	return all
}

// countAnnouncerLosses counts connections by which heads are announced that were lost or could not be made. It is
// called with 0 at the start, so that the first loss shows as an increase.
func countAnnouncerLosses(ctx context.Context, id chain.ID, times int) {
	proof.Count(ctx, id, times, "crossgate.index.announcer_losses",
		"Connections for announced heads that were lost or failed.")
}
