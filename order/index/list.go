package index

import (
	"context"
	"errors"
	"fmt"

	"crossgate/order"
	"crossgate/order/list"
	"crossgate/store"
)

// List is a part of the orders and swaps that a filter matches.
type List struct {
	Items []Item
	Total uint64 // of all parts
}

// Item is an order or a swap: the other one is nil.
type Item struct {
	Order *order.Order
	Swap  *order.Swap
}

// ErrWithoutSwaps says that swaps within a chain are not indexed here.
var ErrWithoutSwaps = errors.New("swaps within a chain are not indexed")

// List returns the part of a list that begins at skip, counted from 0, and holds at most take. Orders whose creation is
// not known are in no list. Where swaps are listed, the basis says from where each chain was read for them.
// *UnreachableError when a reorg dropped blocks that could not be withdrawn yet; ErrUnavailable while the store cannot
// be read; ErrEmpty when nothing was ever read of any chain; ErrWithoutSwaps.
func (x *Index) List(ctx context.Context, k list.Kind, f list.Filter, skip, take uint64) (l List, basis Basis, err error) {
	basis = x.Basis()
	if k != list.Orders && x.store.withoutSwaps {
		return List{}, basis, ErrWithoutSwaps
	}
	if err := x.checkReadable(ctx); err != nil {
		return List{}, basis, fmt.Errorf("list: %w", err)
	}
	if k != list.Orders {
		if err := x.store.limitToSwaps(ctx, &basis); err != nil {
			return List{}, basis, err
		}
	}
	if l, err = x.lists.list(ctx, k, f, skip, take); err != nil {
		err = unavailable(ctx, fmt.Errorf("list: %w", err))
	}
	return l, basis, err
}

// limitToSwaps has a basis begin where each chain was read for swaps.
func (s orderStore) limitToSwaps(ctx context.Context, basis *Basis) error {
	from, err := s.swapsFrom(ctx)
	if err != nil {
		return unavailable(ctx, err)
	}
	for i := range basis.Chains {
		c := &basis.Chains[i]
		first, known := from[c.Chain]
		if !known {
			first = BlockTime{c.Indexed + 1, c.IndexedTime}
		}
		if first.Number > c.From.Number {
			c.From = first
		}
	}
	return nil
}

func (s orderStore) list(ctx context.Context, k list.Kind, f list.Filter, skip, take uint64) (List, error) {
	page, err := list.Find(ctx, s.DB, k, f, skip, take)
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
	events, err := eventsOfAll(ctx, s, orders)
	if err != nil {
		return List{}, err
	}
	made, err := s.swapsByID(ctx, swaps)
	l := List{Total: page.Total}
	for _, each := range page.Items { // what a reorg has taken away meanwhile is left out
		if o, _ := order.Fold(events[each.ID]); o != nil && o.Created != nil {
			l.Items = append(l.Items, Item{Order: o})
		}
		if swap := made[each.ID]; swap != nil {
			l.Items = append(l.Items, Item{Swap: swap})
		}
	}
	return l, err
}

// relist lists orders and swaps anew: orders as they are now, nil where nothing is known of their terms.
func relist(ctx context.Context, tx *store.Tx, orders map[order.ID]*order.Order, swaps, withdrawn []order.Swap) error {
	rows := make(map[order.ID]*list.Row, len(orders)+len(swaps))
	for id, o := range orders {
		if rows[id] = nil; o != nil && o.Created != nil {
			rows[id] = list.OfOrder(o)
		}
	}
	for _, s := range withdrawn {
		rows[s.ID] = nil
	}
	for _, s := range swaps {
		rows[s.ID] = list.OfSwap(s)
	}
	return list.Replace(ctx, tx, rows)
}
