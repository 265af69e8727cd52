package manage

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/wire"
)

// Finder knows orders (query.Index).
type Finder interface {
	// ByID returns one order; order.ErrNotFound when it was not indexed; query.ErrUnavailable when that cannot be
	// known.
	ByID(context.Context, order.ID) (query.Found, error)
}

// Canceller makes transactions on a take chain by which an order's authority cancels (swap.Simulator). Errors are
// those of cancels in package creation, and quote.ErrReverted.
type Canceller interface {
	Cancel(context.Context, order.ID, order.Terms) (creation.Transaction, error)
	CancelCall(ctx context.Context, id order.ID, t order.Terms, amounts ...chain.Amount) (creation.Transaction, error)
}

// cancelRoute makes the transaction that cancels an order. Who asks is not known: the transaction says who may send it.
func (p *paths) cancelRoute() proxy.Route[order.ID] {
	return p.idRoute("/v1.0/dln/order/:orderId/cancel-tx", func(ctx context.Context, o *order.Order, c Canceller) (wire.Cancel, error) {
		switch o.State {
		case order.StateFulfilled, order.StateSentUnlock, order.StateClaimedUnlock:
			return wire.Cancel{}, creation.ErrFulfilled
		case order.StateOrderCancelled, order.StateSentOrderCancel, order.StateClaimedOrderCancel:
			return wire.Cancel{}, creation.ErrCancelled
		}
		tx, err := c.Cancel(ctx, o.ID, o.Terms)
		return wire.Cancel{Transaction: tx, Beneficiary: creation.Beneficiary(o.Terms), PaidOn: o.Terms.Give.Chain}, err
	})
}

// cancelCallRoute makes the transaction that cancels the external call of a delivery.
func (p *paths) cancelCallRoute() proxy.Route[order.ID] {
	return p.idRoute("/v1.0/dln/order/:orderId/extcall-cancel-tx", func(ctx context.Context, o *order.Order, c Canceller) (wire.Cancel, error) {
		amounts := []chain.Amount{o.TakeFinal}
		if o.Fulfilled != nil && o.Fulfilled.Fact.ActualAmount != nil {
			amounts = append(amounts, *o.Fulfilled.Fact.ActualAmount)
		}
		tx, err := c.CancelCall(ctx, o.ID, o.Terms, amounts...)
		return wire.Cancel{Transaction: tx, Beneficiary: o.Terms.Authorities.Order, PaidOn: o.Terms.Take.Chain}, err
	})
}

func (p *paths) idRoute(path string, make func(context.Context, *order.Order, Canceller) (wire.Cancel, error)) proxy.Route[order.ID] {
	return proxy.Route[order.ID]{
		Paths:   []string{path},
		Methods: []string{http.MethodGet, http.MethodHead},
		Dialect: proxy.Swapping,
		Cost:    proxy.SwapCost,
		Limit:   p.limit,
		Parse: func(c *gin.Context) (order.ID, error) {
			id, err := chain.ParseHash(c.Param("orderId"))
			if err != nil {
				return order.ID{}, proxy.Swapping.Malformed(proxy.MalformedOrderID, err)
			}
			return id, nil
		},
		Key: func(path string, id order.ID) cache.Key { return cache.KeyOf(path, id[:]) },
		Load: func(ctx context.Context, id order.ID) ([]proxy.Body, cache.Life, error) {
			found, err := p.options().Orders.ByID(ctx, id)
			if errors.Is(err, order.ErrNotFound) {
				err = proxy.UnknownStatus.From(err)
			}
			if err != nil {
				return nil, proxy.NoLife, err
			}
			o := found.Order
			canceller, is := p.options().Cancellers[o.Terms.Take.Chain]
			if !is {
				return nil, proxy.NoLife, proxy.ChainNotServed.Because("")
			}
			made, err := make(ctx, o, canceller)
			if made.Chain = o.Terms.Take.Chain; err != nil {
				return nil, proxy.NoLife, refusal(err)
			}
			return proxy.OneBody(p.encoder.AppendCancel(nil, made)), proxy.NoLife, nil
		},
	}
}

// refusal is the documented error of a cancel that cannot be.
func refusal(err error) error {
	for cause, kind := range map[error]proxy.Kind{
		creation.ErrFulfilled:    proxy.OrderFulfilled,
		creation.ErrCancelled:    proxy.OrderCancelled,
		creation.ErrUnknownCall:  proxy.CallNotKnown,
		creation.ErrNoCall:       proxy.CallAbsent,
		creation.ErrCallExecuted: proxy.CallExecuted,
		creation.ErrCallNotOpen:  proxy.CallNotOpen,
		creation.ErrNotHere:      proxy.ChainNotServed,
	} {
		if errors.Is(err, cause) {
			return kind.From(err)
		}
	}
	return err
}
