package manage

import (
	"context"
	"errors"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/wire"
)

// Settler builds transactions on a take chain with which an order's authority cancels or is paid for a delivery
// (swap.Simulator). Errors are those of cancels and unlocks in package creation, and quote.ErrReverted.
type Settler interface {
	Cancel(context.Context, order.ID, order.Terms) (creation.Transaction, error)
	CancelCall(ctx context.Context, id order.ID, t order.Terms, amounts ...chain.Amount) (creation.Transaction, error)
	Unlock(context.Context, creation.Unlock) (creation.Transaction, error)
}

// cancelRoute answers with the transaction that cancels an order. Anyone may ask: it says who may send it.
func (p *paths) cancelRoute() proxy.Route[order.ID] {
	return p.idRoute("/v1.0/dln/order/:orderId/cancel-tx", func(ctx context.Context, o *order.Order, c Settler) (wire.Settlement, error) {
		err := creation.CanCancel(o.Terms, o.State)
		if err == nil {
			err = p.options().Appraiser.Refundable(ctx, o.Terms)
		}
		if err != nil {
			return wire.Settlement{}, err
		}
		tx, err := c.Cancel(ctx, o.ID, o.Terms)
		return wire.Settlement{Transaction: tx, Beneficiary: creation.Beneficiary(o.Terms), PaidOn: o.Terms.Give.Chain}, err
	})
}

// cancelCallRoute answers with the transaction that cancels the external call of a delivery.
func (p *paths) cancelCallRoute() proxy.Route[order.ID] {
	return p.idRoute("/v1.0/dln/order/:orderId/extcall-cancel-tx", func(ctx context.Context, o *order.Order, c Settler) (wire.Settlement, error) {
		amounts := []chain.Amount{o.TakeFinal}
		if o.Fulfilled != nil && o.Fulfilled.Fact.ActualAmount != nil {
			amounts = append(amounts, *o.Fulfilled.Fact.ActualAmount)
		}
		tx, err := c.CancelCall(ctx, o.ID, o.Terms, amounts...)
		if errors.Is(err, creation.ErrCallNotOpen) && (o.Call == order.Completed || o.Call == order.Failed) {
			err = creation.ErrCallExecuted // with the fill: EVM's adapter stores nothing then
		}
		return wire.Settlement{Transaction: tx, Beneficiary: o.Terms.Authorities.Order, PaidOn: o.Terms.Take.Chain}, err
	})
}

func (p *paths) idRoute(path string, make func(context.Context, *order.Order, Settler) (wire.Settlement, error)) proxy.Route[order.ID] {
	return proxy.Route[order.ID]{
		Paths:   []string{path},
		Dialect: proxy.Swapping,
		Cost:    proxy.SwapCost,
		Limit:   p.limit,
		Parse:   func(c *gin.Context) (order.ID, error) { return orders.ParseOrderID(c, proxy.Swapping) },
		Key:     func(path string, id order.ID) cache.Key { return cache.KeyOf(path, id[:]) },
		Load: func(ctx context.Context, id order.ID) ([]proxy.Body, cache.Life, error) {
			o, err := p.order(ctx, id)
			if err != nil {
				return nil, proxy.NoLife, err
			}
			return p.settle(o.Terms, func(c Settler) (wire.Settlement, error) { return make(ctx, o, c) }, "cancelBeneficiary")
		},
	}
}

func (p *paths) order(ctx context.Context, id order.ID) (*order.Order, error) {
	found, err := p.orders.ByID(ctx, id)
	if errors.Is(err, order.ErrNotFound) {
		err = proxy.UnknownStatus.From(err)
	}
	return found.Order, err
}

// settle answers with a transaction on the take chain.
func (p *paths) settle(t order.Terms, make func(Settler) (wire.Settlement, error), paid string) ([]proxy.Body, cache.Life, error) {
	settler, is := p.options().Settlers[t.Take.Chain]
	if !is {
		return nil, proxy.NoLife, proxy.ChainNotServed.Because("")
	}
	made, err := make(settler)
	if made.Chain = t.Take.Chain; err != nil {
		return nil, proxy.NoLife, err
	}
	return proxy.OneBody(p.encoder.AppendSettlement(nil, made, paid)), proxy.NoLife, nil
}
