package follow

import (
	"context"

	"crossgate/chain"
	"crossgate/order"
)

// Observer hears from an index about changes that end earlier answers, and about coming needs of answers. Its methods
// are called by several goroutines and must return at once: followers and requests wait for them.
type Observer interface {
	// OrdersChanged reports orders about which something new was stored, by this process or by another one on the same
	// PostgreSQL; nil when any order may have changed.
	OrdersChanged(changes []order.Change)
	// BranchChanged reports that blocks of a chain may have been dropped, before any answer is given on its new branch:
	// answers whose basis is not final may be wrong.
	BranchChanged(id chain.ID)
	// OrderSeen reports an order whose chains are about to be asked what became of it, so that what else has to be
	// known of it can be fetched at the same time.
	OrderSeen(ctx context.Context, o *order.Order)
}

// unobserved is the Observer of an index that was given none.
type unobserved struct{}

func (unobserved) OrdersChanged([]order.Change)            {}
func (unobserved) BranchChanged(chain.ID)                  {}
func (unobserved) OrderSeen(context.Context, *order.Order) {}
