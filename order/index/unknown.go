package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// UnknownChain is a chain that orders name and the registry does not hold: nothing is followed or searched there.
type UnknownChain struct {
	Chain  chain.ID
	Orders uint64 // that give or take there, as far as the index has seen them
}

// UnknownChains returns the chains that orders name and nobody knows, ascending, as they were counted last.
func (x *Index) UnknownChains() []UnknownChain { return x.options.unknown.all() }

// countedEvery is how often orders of unknown chains are counted again; a chain that turns up is counted at once.
const countedEvery = 15 * time.Minute

// unknownChains counts orders that name chains which the registry does not hold.
type unknownChains struct {
	registry chain.Registry
	logger   *slog.Logger
	turnedUp chan struct{} // holds a value when an order names one that was not counted yet

	mu     sync.Mutex
	orders map[chain.ID]uint64
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

// see looks at the chains that events which were just stored name.
func (u *unknownChains) see(events []order.Event) {
	for _, e := range events {
		var terms order.Terms
		switch fact := e.Fact.(type) {
		case order.Created:
			terms = fact.Terms
		case order.Fulfilled:
			terms = fact.Terms
		default:
			continue
		}
		if u.isNew(terms.Give.Chain) || u.isNew(terms.Take.Chain) {
			select {
			case u.turnedUp <- struct{}{}:
			default:
			}
		}
	}
}

func (u *unknownChains) isNew(id chain.ID) bool {
	if _, known := u.registry.Chain(id); known {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.orders[id] == 0
}

// run counts until ctx ends.
func (u *unknownChains) run(ctx context.Context, s orderStore) {
	for {
		if err := u.count(ctx, s); err != nil && !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
			u.logger.WarnContext(ctx, "orders of unknown chains not counted", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-u.turnedUp:
		case <-time.After(countedEvery):
		}
	}
}

// count counts the orders in the store, and logs each unknown chain once.
func (u *unknownChains) count(ctx context.Context, s orderStore) error {
	counted, err := s.ordersByChain(ctx)
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

// ordersByChain counts the orders that give or take on each chain.
func (s orderStore) ordersByChain(ctx context.Context) (map[chain.ID]uint64, error) {
	counted := map[chain.ID]uint64{}
	err := s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var give, take chain.ID
		var orders uint64
		if err := rows.Scan(&give, &take, &orders); err != nil {
			return err
		}
		counted[give] += orders
		if take != give {
			counted[take] += orders
		}
		return nil
	}, `SELECT give_chain, take_chain, COUNT(*) FROM orders GROUP BY give_chain, take_chain`)
	if err != nil {
		return nil, fmt.Errorf("count orders by chain: %w", err)
	}
	return counted, nil
}
