package gateway

import (
	"context"
	"log/slog"

	"crossgate/config"
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
func (p *parts) index(store *index.Store, c config.Index, log *slog.Logger) *index.Index {
	return index.New(store, p.sources, index.Options{
		Chains: p.registry, Lookback: c.Lookback, Announce: p.expectTokens, Behind: c.Behind, Logger: log,
	})
}
