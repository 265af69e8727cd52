package gateway

import (
	"context"
	"log/slog"

	"crossgate/chain"
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

// index makes the order index over the chains that are read. told hears what changes in it; nil when nobody does.
func (p *parts) index(store *index.Store, c config.Index, log *slog.Logger, told *Gateway) *index.Index {
	o := index.Options{Chains: p.registry, Lookback: c.Lookback, Announce: p.expectTokens, Behind: c.Behind, Logger: log}
	if told != nil {
		// The face is made of the index, so it is looked up when there is something to tell: while the gateway runs.
		o.Changed = func(changes []index.Change) { told.server.Changed(changes) }
		o.Reorganised = func(id chain.ID) { told.server.Reorganised(id) }
		o.Advanced = func(id chain.ID) { told.server.Advanced(id) }
	}
	return index.New(store, p.sources(), o)
}
