package proxy_test

import (
	"context"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/order/stats"
	"crossgate/proxy/orders"
)

// answering implements Orders with functions.
type answering struct {
	world   *world
	find    func(context.Context, chain.TxHash) ([]*order.Order, error)
	byID    func(context.Context, order.ID) (*order.Order, error)
	locked  func(context.Context, chain.Address) ([]order.LockedChain, error)
	list    func(f list.Filter, skip, take uint64) (query.List, error)
	isFinal func(*order.Order) bool
	unread  bool // chain 8453 reports everything from blocks that were not read

	late    error         // why answers are slow
	allTime time.Duration // duration of AllTime
}

func (a *answering) Tellers(id chain.ID, tx chain.TxHash, block chain.Hash) []string {
	return a.world.tellers[id.String()+" "+tx.String()+" "+block.String()]
}

func (a *answering) Basis() order.Basis {
	a.world.mu.Lock()
	defer a.world.mu.Unlock()
	b := order.Basis{At: time.Now(), All: true, Behind: time.Minute, Chains: slices.Clone(a.world.basis)}
	for i := range b.Chains {
		b.Chains[i].Unread = a.unread && b.Chains[i].Chain == 8453
	}
	return b
}

// found restricts a basis to the chains of an order.
func (a *answering) found(o *order.Order, from order.Basis) query.Found {
	b := order.Basis{At: from.At, Behind: from.Behind}
	for _, id := range []chain.ID{o.Terms.Take.Chain, o.Terms.Give.Chain} { // sorted by ID
		c := order.ChainBasis{Chain: id}
		if at := slices.IndexFunc(from.Chains, func(c order.ChainBasis) bool { return c.Chain == id }); at >= 0 {
			c = from.Chains[at]
		}
		c.Final = a.isFinal(o)
		b.Chains = append(b.Chains, c)
	}
	return query.Found{Order: o, Basis: b}
}

func (a *answering) Find(ctx context.Context, tx chain.TxHash) (found []query.Found, searched order.Basis, err error) {
	searched = a.Basis()
	orders, err := a.find(ctx, tx)
	for _, o := range orders {
		found = append(found, a.found(o, searched))
	}
	return found, searched, err
}

func (a *answering) FindIn(ctx context.Context, tx chain.TxHash, ids ...order.ID) ([]query.Found, order.Basis, error) {
	found, searched, err := a.Find(ctx, tx)
	isOther := func(o query.Found) bool { return len(ids) > 0 && !slices.Contains(ids, o.ID) }
	return slices.DeleteFunc(found, isOther), searched, err
}

func (a *answering) IDsIn(ctx context.Context, tx chain.TxHash) (ids []order.ID, at order.At, basis order.Basis, err error) {
	found, basis, err := a.Find(ctx, tx)
	for _, o := range found {
		ids, at, basis = append(ids, o.ID), o.Created.At, o.Basis
	}
	return ids, at, basis, err
}

func (a *answering) Late(chain.TxHash) error { return a.late }

func (a *answering) ByID(ctx context.Context, id order.ID) (query.Found, error) {
	searched := a.Basis()
	o, err := a.byID(ctx, id)
	if err != nil {
		return query.Found{Basis: searched}, err
	}
	return a.found(o, searched), nil
}

func (a *answering) Locked(ctx context.Context, who chain.Address) ([]order.LockedChain, order.Basis, error) {
	basis := a.Basis()
	locked, err := a.locked(ctx, who)
	return locked, basis, err
}

func (a *answering) Daily(_ context.Context, from, _ uint64) (days, before []order.DailyStatistics, basis order.Basis, err error) {
	row := order.DailyStatistics{Day: from, Give: 1, Take: 8453, Statistics: order.Statistics{Created: 2, Given: order.USD{Micros: 1_500_000, Orders: 1}}}
	return []order.DailyStatistics{row}, []order.DailyStatistics{row}, order.Basis{}, nil
}

func (a *answering) AllTime(context.Context) (order.Statistics, order.Basis, error) {
	time.Sleep(a.allTime)
	return order.Statistics{Created: 2}, order.Basis{}, nil
}

// List returns all swaps and then all orders, unsorted: sorting is the index's job.
func (a *answering) List(_ context.Context, k list.Kind, f list.Filter, skip, take uint64) (l query.List, basis order.Basis, err error) {
	basis = a.Basis()
	if k != list.Orders {
		a.world.asked.Add(1)
		for i, s := range a.world.swaps {
			if f.Search == nil || f.Search.Tx == s.At.Tx || f.Search.Order == s.ID {
				l.Items = append(l.Items, query.Item{Swap: &a.world.swaps[i]})
			}
		}
		l.Total = uint64(len(l.Items))
	}
	if k != list.Swaps {
		listed, failed := a.list(f, skip, take)
		l.Items, l.Total, err = append(l.Items, listed.Items...), l.Total+listed.Total, failed
	}
	modes := map[list.Kind]orders.ListMode{list.Orders: orders.CrossChain, list.Swaps: orders.SameChain, list.Both: "Mixed"}
	a.world.asks(orders.Part{Filter: f, Skip: skip, Take: take, Mode: modes[k]})
	return l, basis, err
}

// listOf returns a complete list of orders.
func listOf(orders ...*order.Order) (l query.List) {
	for _, o := range orders {
		l.Items = append(l.Items, query.Item{Order: o})
	}
	l.Total = uint64(len(orders))
	return l
}

func (a *answering) DeliveryTimes(context.Context, uint64, uint64) ([]order.DeliveryTimes, order.Basis, error) {
	return []order.DeliveryTimes{{Give: 1, Take: 8453, Orders: 2, P50: 12, P95: 90}}, order.Basis{}, nil
}

func (a *answering) Deliveries(_ context.Context, ids []order.ID) (map[order.ID]order.Delivery, error) {
	known := map[order.ID]order.Delivery{}
	for _, id := range ids {
		if d, is := a.world.deliveries[id]; is {
			known[id] = d
		}
	}
	return known, nil
}

func (a *answering) Values(_ context.Context, id order.ID) (v stats.Values, counted bool, err error) {
	v, counted = a.world.values[id]
	return v, counted, nil
}

// ordersOf returns the orders that a server under test answers from.
func ordersOf(o *parts) *answering { return o.Orders.(*answering) }
