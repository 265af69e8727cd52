package gateway

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/proxy/web"
	"crossgate/store"
	"crossgate/upstream"
)

// openStore opens the database that c configures, and waits for a PostgreSQL that does not answer yet. A PostgreSQL's
// outages are logged to log.
func openStore(ctx context.Context, c config.Index, wait time.Duration, log *slog.Logger) (*store.DB, error) {
	if url := c.Postgres.Reveal(); url != "" {
		return store.OpenPostgres(ctx, url, store.PostgresOptions{Wait: wait, Readers: c.Connections, Logger: log})
	}
	return store.OpenSQLite(ctx, c.Path)
}

// Database returns the location of c's database.
func Database(c config.Config) store.Location {
	return store.Location{Postgres: c.Index.Postgres.Reveal(), Path: c.Index.Path}
}

// WithBooks opens the database of c and its chains while work runs, also beside a running gateway. It adds its spending
// of monthly plans to the database, where that gateway sees it.
func WithBooks(ctx context.Context, c config.Config, log *slog.Logger, work func(*audit.Books) error) error {
	p, err := build(c, log, nil)
	if err != nil {
		return err
	}
	defer p.close()
	store, err := openStore(ctx, c.Index, 0, log)
	if err != nil {
		return err
	}
	plans := newPlanSaver(store, func() []*endpoint { return p.endpoints }, log)
	plans.update(ctx)
	stopCounting := plans.start(ctx)
	err = work(audit.Of(p.follow(store, c, log, nil)))
	stopCounting()
	return errors.Join(err, store.Close())
}

func (p *parts) follow(db *store.DB, c config.Config, log *slog.Logger, o follow.Observer) *follow.Chains {
	sources := make(map[chain.ID]order.Source, len(p.chains))
	for id, each := range p.chains {
		sources[id] = each.orders
	}
	return follow.New(db, sources, p.followOptions(c.Index, log, o))
}

func (p *parts) followOptions(c config.Index, log *slog.Logger, o follow.Observer) follow.Options {
	announcers := make(map[chain.ID][]follow.Announcer)
	for id, each := range p.chains {
		announcers[id] = each.announcers
	}
	return follow.Options{
		Chains: p.registry, Lookback: c.Lookback, Keep: eventsKept, Prices: p.unitPrices, Observer: o, Logger: log,
		Announcers: announcers, Pace: follow.Pace{Asked: c.Asked, Looks: p.looks},
	}
}

func index(followed *follow.Chains, c config.Index) *query.Index {
	return query.New(followed, query.Options{
		Behind: c.Behind,
		Search: func(ctx context.Context) (context.Context, error) {
			return upstream.Searching.For(ctx), proxy.ChargeSearch(ctx)
		},
	})
}

// observer purges cached answers when the index changes, and looks up an order's tokens while its chains are queried.
type observer struct {
	gateway *Gateway // its server is built after the index and before the gateway runs
	parts   *parts
}

var _ follow.Observer = observer{}

// OrdersChanged implements follow.Observer.
func (o observer) OrdersChanged(changes []order.Change) {
	o.gateway.orders.OrdersChanged(changes)
	o.gateway.feed.Look()
}

// BranchChanged implements follow.Observer.
func (o observer) BranchChanged(id chain.ID) { o.gateway.orders.BranchChanged(id) }

// OrderSeen implements follow.Observer. It reads the order's tokens while the rest of the order is still being read.
func (o observer) OrderSeen(ctx context.Context, seen *order.Order) {
	o.parts.tokens.Expect(ctx, orders.TokensOf(seen)...)
}

// looks returns how many polls a day the plans of a chain's endpoints allow, with half of their requests reserved for
// everything else. 0 means unlimited, which is the case if any endpoint has no plan.
func (p *parts) looks(id chain.ID) float64 {
	known, _ := p.registry.Chain(id)
	read := p.chains[id]
	if read == nil {
		return 0
	}
	return looksOf(known, read.config)
}

func looksOf(c chain.Chain, own config.Chain) float64 {
	const month = 32 // days, as plans are spent
	calls, each := 0.0, follow.Project(c, time.Hour, 1)
	for _, e := range own.Endpoints {
		if e.Monthly == 0 {
			return 0
		}
		calls += float64(e.Monthly) / each.Units(e.Costs)
	}
	return calls / month / 2 * each.Looks
}

// Sum returns the load of following several chains, without a plan.
func Sum(loads ...web.Load) (sum web.Load) {
	cost, isPriced := 0.0, len(loads) > 0
	for _, l := range loads {
		sum.CallsPerDay += l.CallsPerDay
		sum.CallsPerMonth += l.CallsPerMonth
		sum.UnitsPerMonth += l.UnitsPerMonth
		if isPriced = isPriced && l.USDPerMonth != nil; isPriced {
			cost += *l.USDPerMonth
		}
	}
	if isPriced {
		sum.USDPerMonth = &cost
	}
	return sum
}

// Loads projects the load of following a chain while clients never request its orders, and while they always do.
func Loads(c chain.Chain, own config.Chain, i config.Index) (unasked, asked web.Load) {
	pace := follow.Pace{Asked: i.Asked}.WithDefaults()
	pace.Looks = func(chain.ID) float64 { return looksOf(c, own) }
	return loadOf(c, own, pace.Of(c, follow.Unasked)), loadOf(c, own, pace.Of(c, follow.AskedAboutOrders))
}

// loadOf projects the load of following a chain at a poll interval.
func loadOf(c chain.Chain, own config.Chain, every time.Duration) web.Load {
	const days = 30
	p := follow.Project(c, every, len(own.Endpoints))
	isPlanned := !slices.ContainsFunc(own.Endpoints, func(e config.Endpoint) bool { return e.Monthly == 0 })
	costs := own.Endpoints[0].Costs
	if costs == nil && !isPlanned {
		costs = map[string]int{"eth_getLogs": 60, "*": 20}
	}
	units := p.Units(costs)
	l := web.Load{CallsPerDay: uint64(p.Total()), CallsPerMonth: uint64(days * p.Total()), UnitsPerMonth: uint64(days * units)}
	for _, e := range own.Endpoints {
		if isPlanned {
			l.Monthly += uint64(math.Round(float64(e.Monthly) * units / p.Units(e.Costs)))
		}
	}
	if at := slices.IndexFunc(own.Endpoints, func(e config.Endpoint) bool { return e.Price > 0 }); at >= 0 {
		l.USDPerMonth = new(days * p.Units(own.Endpoints[at].Costs) * own.Endpoints[at].Price / 1e6)
	}
	return l
}
