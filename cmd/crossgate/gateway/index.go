package gateway

import (
	"context"
	"log/slog"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/index"
	"crossgate/store"
)

// openStore opens the database that c names.
func openStore(ctx context.Context, c config.Index) (*store.DB, error) {
	if url := c.Postgres.Reveal(); url != "" {
		return store.OpenPostgres(ctx, url)
	}
	return store.OpenSQLite(ctx, c.Path)
}

// index makes the order index over the configured chains. observer is told of what changes in it; nil when nobody is.
func (p *parts) index(db *store.DB, c config.Index, log *slog.Logger, observer *Gateway) *index.Index {
	o := index.Options{Chains: p.registry, Lookback: c.Lookback, Announce: p.expectTokens, Behind: c.Behind, Logger: log}
	if observer != nil {
		// The server is built on the index, so it is looked up at the time of an event: while the gateway runs.
		o.Changed = func(changes []index.Change) { observer.server.Changed(changes) }
		o.Reorganised = func(id chain.ID) { observer.server.Reorganised(id) }
		o.Advanced = func(id chain.ID) { observer.server.Advanced(id) }
	}
	return index.New(db, p.sources(), o)
}
