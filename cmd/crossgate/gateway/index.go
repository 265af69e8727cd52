package gateway

import (
	"context"
	"log/slog"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/proxy"
	"crossgate/store"
	"crossgate/upstream"
)

// openStore opens the database that c names. log has the beginning and the end of its outages.
func openStore(ctx context.Context, c config.Index, log *slog.Logger) (*store.DB, error) {
	if url := c.Postgres.Reveal(); url != "" {
		return store.OpenPostgres(ctx, url, store.PostgresOptions{Wait: c.Wait, Readers: c.Connections, Logger: log})
	}
	db, err := store.OpenSQLite(ctx, c.Path)
	if err == nil {
		db.LogOutages(log)
	}
	return db, err
}

// index makes the order index over the configured chains.
func (p *parts) index(db *store.DB, c config.Index, log *slog.Logger, o index.Observer) *index.Index {
	return index.New(db, p.sources(), p.indexOptions(c, log, o))
}

func (p *parts) indexOptions(c config.Index, log *slog.Logger, o index.Observer) index.Options {
	return index.Options{
		Chains: p.registry, Lookback: c.Lookback, Behind: c.Behind, Prices: p.unitPrices, Observer: o, Logger: log,
		Announcers: p.announcers(), WithoutSwaps: !c.Swaps,
		Search: func(ctx context.Context) (context.Context, error) {
			return upstream.Searching.For(ctx), proxy.ChargeSearch(ctx)
		},
		Pace: index.Pace{
			Asked: c.Follow.Asked, Listed: c.Follow.Listed, Idle: c.Follow.Idle, Retired: c.Follow.Retired, Looks: p.looks,
		},
	}
}

// observer drops kept answers when the index says so, and has tokens looked up while chains are asked.
type observer struct {
	gateway *Gateway // its server is made after the index and before the gateway runs
	parts   *parts
}

var _ index.Observer = observer{}

// OrdersChanged implements index.Observer.
func (o observer) OrdersChanged(changes []index.Change) { o.gateway.orders.OrdersChanged(changes) }

// BranchChanged implements index.Observer.
func (o observer) BranchChanged(id chain.ID) { o.gateway.orders.BranchChanged(id) }

// OrderSeen implements index.Observer.
func (o observer) OrderSeen(ctx context.Context, seen *order.Order) { o.parts.expectTokens(ctx, seen) }

// looks is how many times a day the plans of a chain's endpoints allow to look for news there, if half of what they
// have is kept for everything else: 0 for any number, as when one of them has no plan.
func (p *parts) looks(id chain.ID) float64 {
	known, _ := p.registry.Chain(id)
	read := p.chains[id]
	if read == nil {
		return 0
	}
	const month = 32 // days, as plans are spent
	calls := 0.0
	for _, e := range read.config.Endpoints {
		if e.Monthly == 0 {
			return 0
		}
		calls += float64(e.Monthly) / index.Project(known, time.Hour, 1).Units(e.Costs)
	}
	return calls / month / 2 * index.Project(known, time.Hour, 1).Looks
}
