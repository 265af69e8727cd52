package follow

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order/ledger"
	"crossgate/store"
)

// UnknownChain is a chain that orders name and the registry does not hold: nothing is followed or searched there.
type UnknownChain struct {
	Chain  chain.ID
	Orders uint64 // that give or take there, as far as the index has seen them
}

// UnknownChains returns the chains that orders name and nobody knows, ascending, as they were counted last.
func (c *Chains) UnknownChains() []UnknownChain { return c.Unknown.all() }

// CountedEvery is how often orders of unknown chains are counted again.
const CountedEvery = 15 * time.Minute

// unknownChains counts orders that name chains which the registry does not hold.
type unknownChains struct {
	registry chain.Registry
	logger   *slog.Logger

	mu     sync.Mutex
	orders map[chain.ID]uint64
}

func newUnknownChains(o Options) *unknownChains {
	return &unknownChains{registry: o.Chains, logger: o.Logger, orders: map[chain.ID]uint64{}}
}

func (u *unknownChains) all() []UnknownChain {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make([]UnknownChain, 0, len(u.orders))
	for id, orders := range u.orders {
		all = append(all, UnknownChain{id, orders})
	}
	slices.SortFunc(all, func(a, b UnknownChain) int { return cmp.Compare(a.Chain, b.Chain) })
	return all
}

// Run counts until ctx ends.
func (u *unknownChains) Run(ctx context.Context, s ledger.Ledger) {
	for {
		if err := u.count(ctx, s); err != nil && !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
			u.logger.WarnContext(ctx, "orders of unknown chains not counted", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(CountedEvery):
		}
	}
}

// count counts the orders in the store, and logs each unknown chain once.
func (u *unknownChains) count(ctx context.Context, s ledger.Ledger) error {
	counted, err := s.OrdersByChain(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(counted, func(id chain.ID, _ uint64) bool { _, known := u.registry.Chain(id); return known })
	u.mu.Lock()
	before := u.orders
	u.orders = counted
	u.mu.Unlock()
	for _, each := range u.all() {
		if before[each.Chain] == 0 {
			u.logger.WarnContext(ctx, "orders name a chain that is not known; they are incomplete until it is added to the configuration",
				"chain", each.Chain, "orders", each.Orders)
		}
	}
	return nil
}
