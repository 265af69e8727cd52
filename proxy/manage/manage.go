// Package manage contains the paths about orders other than their creation: what any transaction would create, and the
// transactions that cancel an order or its external call, or pay for deliveries.
package manage

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

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
