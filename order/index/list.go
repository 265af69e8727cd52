package index

import (
	"context"
	"errors"
	"fmt"
	"time"

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

var (
	// ErrUnlisted says that orders are being listed that were indexed before there were lists.
	ErrUnlisted = errors.New("orders that were indexed earlier are not listed yet")
	// ErrWithoutSwaps says that swaps within a chain are not indexed here.
	ErrWithoutSwaps = errors.New("swaps within a chain are not indexed")
)

// List returns the part of a list that begins at skip, counted from 0, and holds at most take. Orders whose creation is
// not known are in no list. Where swaps are listed, the basis says from where each chain was read for them.
// *UnreachableError when a reorg dropped blocks that could not be withdrawn yet; ErrUnavailable while the store cannot
// be read, ErrUnlisted while not all orders in it are listed; ErrEmpty when nothing was ever read of any chain;
// ErrWithoutSwaps.
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
	if l, err = x.lists.list(ctx, k, f, skip, take); err != nil && !errors.Is(err, ErrUnlisted) {
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
	if k != list.Swaps {
		if behind, err := s.unlisted(ctx); err != nil || behind {
			return List{}, errors.Join(err, ErrUnlisted)
		}
	}
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

// Orders that are not listed yet are listed so many in one transaction, with a pause after it in which followers can
// write, and are looked for again after an interval when there are none.
const (
	listedAtOnce = 500
	listPause    = 10 * time.Millisecond
	listInterval = 3 * time.Second
)

// listSome lists some of the orders that are not, and reports whether others may be left.
func (s orderStore) listSome(ctx context.Context, l store.Lease) (left bool, err error) {
	if found, err := s.unlisted(ctx); err != nil || !found {
		return false, err
	}
	err = s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		ids, err := queryIDs(ctx, tx, `SELECT DISTINCT order_id FROM unlisted ORDER BY order_id LIMIT $1`, listedAtOnce)
		if err != nil {
			return err
		}
		orders, err := foldedOrders(ctx, tx, ids)
		if err != nil {
			return err
		}
		rows := make([][]any, len(ids))
		for i, id := range ids {
			rows[i] = []any{id[:]}
			if _, hasTerms := orders[id]; !hasTerms {
				orders[id] = nil
			}
		}
		if err := relist(ctx, tx, orders, nil, nil); err != nil {
			return err
		}
		left = len(ids) == listedAtOnce
		return errors.Join(tx.ExecEach(ctx, `INSERT INTO uncounted (order_id) VALUES ($1)`, rows),
			tx.ExecEach(ctx, `DELETE FROM unlisted WHERE order_id = $1`, rows))
	})
	if err != nil {
		return false, fmt.Errorf("list orders: %w", err)
	}
	return left, nil
}

// unlisted reports whether there are orders that are not listed as they are.
func (s orderStore) unlisted(ctx context.Context) (found bool, err error) {
	_, err = s.QueryRow(ctx, []any{&found}, `SELECT EXISTS (SELECT 1 FROM unlisted)`)
	return found, err
}
