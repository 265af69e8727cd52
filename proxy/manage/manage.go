// Package manage contains the paths about orders other than their creation: what any transaction would create, and the
// transactions that cancel an order or its external call, or pay for deliveries.
package manage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/wire"
)

// Forecaster predicts what a transaction on its chain would create (swap.Simulator).
type Forecaster interface {
	// Forecast returns the orders in log order, or one refusal; creation.ErrOtherFunction if there is neither, and
	// creation.ErrMalformed if the bytes are not a transaction of the chain.
	Forecast(context.Context, creation.Transaction) ([]creation.Forecast, error)
}

// Appraiser warns about orders based on prices and on what their accounts accept (crosschain.Estimator).
type Appraiser interface {
	Appraise(context.Context, order.Terms) []creation.Warning
	// Refundable returns creation.ErrNoPayee if a cancel's refund would fail.
	Refundable(context.Context, order.Terms) error
}

// Options are the services that the paths use.
type Options struct {
	Appraiser   Appraiser
	Forecasters map[chain.ID]Forecaster
	Settlers    map[chain.ID]Settler // by take chain
	// Relay answers a page's requests about TRON, because its wallets provide no node; nil if TRON is not served.
	Relay func(ctx context.Context, asked []byte) (answer []byte, err error)
}

type paths struct {
	orders  *orders.Orders
	options func() Options // returns the current ones
	chains  chain.Registry
	limit   time.Duration
	encoder wire.Encoder
}

// Mount adds the paths to a server. Orders that exist come from existing.
func Mount(server *proxy.Server, existing *orders.Orders, options func() Options) {
	chains := server.Options.Chains
	p := &paths{orders: existing, options: options, chains: chains, limit: server.Options.SwapLimit, encoder: wire.Encoder{Chains: chains}}
	p.verifyRoute().Mount(server)
	p.cancelRoute().Mount(server)
	p.cancelCallRoute().Mount(server)
	p.unlockRoute().Mount(server)
	server.MountForm("/wallet/tron", proxy.SwapCost, func(c *gin.Context) { p.relay(server, c) })
}

func (p *paths) relay(server *proxy.Server, c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), p.limit)
	defer cancel()
	answer, relay := []byte(nil), p.options().Relay
	asked, err := proxy.ReadBody(c)
	if err == nil && relay == nil {
		err = proxy.ChainNotServed.Because("")
	} else if err == nil {
		answer, err = relay(ctx, asked)
	}
	if err != nil {
		server.TurnAway(c, proxy.ProblemOf(err))
		return
	}
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "application/json", answer)
}

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

const unlockBeneficiary = "unlockBeneficiary" // parameter and member

// payment asks for the transaction that pays for orders to an unlockBeneficiary on their give chain.
type payment struct {
	ids   []order.ID
	asked proxy.Query
}

// unlockRoute answers with the transaction that pays a taker for deliveries. Anyone may ask: it says who may send it.
func (p *paths) unlockRoute() proxy.Route[payment] {
	return proxy.Route[payment]{
		Paths:   []string{"/v1.0/dln/order/unlock-tx"},
		Dialect: proxy.Swapping,
		Cost:    proxy.SwapCost,
		Limit:   p.limit,
		Parse:   parsePayment,
		Key: func(path string, m payment) cache.Key {
			return proxy.KeyOf(path, m.ids, m.asked.First(unlockBeneficiary))
		},
		Load: p.unlock,
	}
}

func parsePayment(c *gin.Context) (m payment, err error) {
	q := proxy.ReadQuery(c.Request.URL.RawQuery)
	text, _ := q.Required("orderIds")
	for each := range strings.SplitSeq(text, ",") {
		id, err := chain.ParseHash(each)
		if most := order.MostUnlocked(0); err != nil || slices.Contains(m.ids, id) || len(m.ids) == most {
			q.Mistake(fmt.Sprintf("orderIds must be 1 to %d different ids, 0x and 64 hex digits each, with commas between", most))
			break
		}
		m.ids = append(m.ids, id)
	}
	q.Required(unlockBeneficiary)
	m.asked = q
	return m, q.Err()
}

func (p *paths) unlock(ctx context.Context, m payment) ([]proxy.Body, cache.Life, error) {
	orders := make([]*order.Order, len(m.ids))
	for i, id := range m.ids {
		var err error
		if orders[i], err = p.order(ctx, id); err != nil {
			return nil, proxy.NoLife, err
		}
	}
	give := orders[0].Terms.Give.Chain
	beneficiary := m.asked.Account(unlockBeneficiary, p.chains.Family(give))
	if err := m.asked.Err(); err != nil {
		return nil, proxy.NoLife, err
	}
	u, err := creation.NewUnlock(orders, beneficiary)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	return p.settle(orders[0].Terms, func(s Settler) (wire.Settlement, error) {
		tx, err := s.Unlock(ctx, u)
		return wire.Settlement{Transaction: tx, Beneficiary: beneficiary, PaidOn: give}, err
	}, unlockBeneficiary)
}
