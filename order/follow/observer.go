package follow

import (
	"context"

	"crossgate/chain"
	"crossgate/order"
)

// Observer is notified of changes that invalidate earlier answers, and of data that answers will need. Its methods are
// called by several goroutines and must return immediately: followers and requests wait for them.
type Observer interface {
	// OrdersChanged reports orders about which this process, or another one on the same PostgreSQL, stored something
	// new; nil if any order may have changed.
	OrdersChanged(changes []order.Change)
	// BranchChanged reports that blocks of a chain may have been dropped, before any answer is given on the new branch:
	// answers whose basis is not final may be wrong.
	BranchChanged(id chain.ID)
	// OrderSeen reports an order whose chains are about to be asked for its events, so that other data about it can be
	// fetched at the same time.
	OrderSeen(ctx context.Context, o *order.Order)
}

// unobserved is the default Observer. It ignores everything.
type unobserved struct{}

func (unobserved) OrdersChanged([]order.Change)            {}
func (unobserved) BranchChanged(chain.ID)                  {}
func (unobserved) OrderSeen(context.Context, *order.Order) {}
