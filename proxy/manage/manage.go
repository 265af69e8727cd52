// Package manage has the paths about an order beside its making: what any transaction would create, and the
// transactions that cancel an order or its external call, and that have deliveries paid.
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
	"crossgate/proxy/wire"
)

// Forecaster says what a transaction on its chain would create (swap.Simulator).
type Forecaster interface {
	// Forecast returns the orders in log order, or one refusal; creation.ErrOtherFunction where there is neither, and
	// creation.ErrMalformed for bytes of another form than the chain's transactions.
	Forecast(context.Context, creation.Transaction) ([]creation.Forecast, error)
}

// Appraiser warns of orders by prices and by what their accounts take (crosschain.Estimator).
type Appraiser interface {
	Appraise(context.Context, order.Terms) []creation.Warning
}

// Options are what orders are managed by.
type Options struct {
	Orders      Finder
	Appraiser   Appraiser
	Forecasters map[chain.ID]Forecaster
	Settlers    map[chain.ID]Settler // by take chain
	// Relay answers what a page asks of TRON, whose wallets reach no node from it; nil: TRON is not served.
	Relay func(ctx context.Context, asked []byte) (answer []byte, err error)
}

type paths struct {
	options func() Options // the current ones
	chains  chain.Registry
	limit   time.Duration
	encoder wire.Encoder
}

// Mount adds the paths to a server.
func Mount(server *proxy.Server, options func() Options) {
	chains := server.Options.Chains
	p := &paths{options: options, chains: chains, limit: server.Options.SwapLimit, encoder: wire.Encoder{Chains: chains}}
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
