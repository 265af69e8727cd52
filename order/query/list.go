package query

import (
	"context"

	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/list"
)

// List returns the part of a list that begins at skip, counted from 0, with at most take items. Orders whose creation
// is not known are in no list. It returns *UnreachableError if a reorg dropped blocks that are not withdrawn yet,
// ErrUnavailable if the store cannot be read, and ErrEmpty if no chain was ever read to its head.
func (x *Index) List(ctx context.Context, k list.Kind, f list.Filter, skip, take uint64) (l List, basis order.Basis, err error) {
	basis = x.Basis()
	if err = x.checkReadable(ctx); err == nil {
		l, err = listFrom(ctx, x.lists, k, f, skip, take)
		err = unavailable(ctx, err)
	}
	return l, basis, err
}

// List is a part of the orders and swaps that a filter matches.
type List struct {
	Items []Item
	Total uint64 // of the whole list
}

// Item is an order or a swap: the other field is nil.
type Item struct {
	Order *order.Order
	Swap  *order.Swap
}

// listFrom reads part of a list from a ledger.
func listFrom(ctx context.Context, from ledger.Ledger, k list.Kind, f list.Filter, skip, take uint64) (List, error) {
	page, err := list.Find(ctx, from.DB, k, f, skip, take)
	if err != nil {
		return List{}, err
	}
	var orders, swaps []order.ID
	for _, each := range page.Items {
		if each.IsSwap {
			swaps = append(swaps, each.ID)
		} else {
			orders = append(orders, each.ID)
		}
	}
	events, err := ledger.EventsOfAll(ctx, from, orders)
	if err != nil {
		return List{}, err
	}
	made, err := from.SwapsByID(ctx, swaps)
	l := List{Total: page.Total}
	for _, each := range page.Items { // anything that a reorg has withdrawn meanwhile is left out
		if o, _ := order.Fold(events[each.ID]); o != nil && o.Created != nil {
			l.Items = append(l.Items, Item{Order: o})
		}
		if swap := made[each.ID]; swap != nil {
			l.Items = append(l.Items, Item{Swap: swap})
		}
	}
	return l, err
}
