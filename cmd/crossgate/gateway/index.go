package gateway

import (
	"context"
	"log/slog"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/store"
)

// openStore opens the database that c names. log has the beginning and the end of its outages.
func openStore(ctx context.Context, c config.Index, log *slog.Logger) (*store.DB, error) {
	if url := c.Postgres.Reveal(); url != "" {
		return store.OpenPostgres(ctx, url, store.PostgresOptions{Wait: c.Wait, Readers: c.Connections, Logger: log})
	}
	return store.OpenSQLite(ctx, c.Path)
}

// index makes the order index over the configured chains.
func (p *parts) index(db *store.DB, c config.Index, log *slog.Logger, o index.Observer) *index.Index {
	return index.New(db, p.sources(), index.Options{
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
