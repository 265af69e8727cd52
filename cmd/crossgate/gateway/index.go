package gateway

import (
	"context"
	"log/slog"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/index"
)

// openStore opens what the configuration keeps orders in.
func openStore(ctx context.Context, c config.Index) (*index.Store, error) {
	if address := c.Postgres.Reveal(); address != "" {
		return index.OpenPostgres(ctx, address)
	}
	return index.Open(ctx, c.Path)
}

// index makes the order index over the chains that are read.
func (p *parts) index(store *index.Store, c config.Index, log *slog.Logger, o index.Observer) *index.Index {
	return index.New(store, p.sources, index.Options{
		Chains: p.registry, Lookback: c.Lookback, Behind: c.Behind, Observer: o, Logger: log,
	})
}

// observer drops kept answers when the index says so, and has tokens looked up while chains are asked.
type observer struct {
	gateway *Gateway // its server is made after the index and before the gateway runs
	parts   *parts
}

var _ index.Observer = observer{}

// OrdersChanged implements index.Observer.
func (o observer) OrdersChanged(changes []index.Change) { o.gateway.server.OrdersChanged(changes) }

// BranchChanged implements index.Observer.
func (o observer) BranchChanged(id chain.ID) { o.gateway.server.BranchChanged(id) }

// OrderSeen implements index.Observer.
func (o observer) OrderSeen(ctx context.Context, seen *order.Order) { o.parts.expectTokens(ctx, seen) }
