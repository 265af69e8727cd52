// Package gateway builds a running gateway from a configuration. It is the only place that knows every part.
package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"crossgate/cache/shared"
	"crossgate/config"
	"crossgate/internal/tlsfiles"
	"crossgate/order"
	"crossgate/order/feed"
	"crossgate/proxy"
	"crossgate/proxy/admin"
	"crossgate/proxy/creations"
	"crossgate/proxy/manage"
	"crossgate/proxy/mcp"
	"crossgate/proxy/orders"
	"crossgate/proxy/pages"
	"crossgate/proxy/pages/compare"
	"crossgate/proxy/quota"
	"crossgate/proxy/shadow"
	"crossgate/proxy/swaps"
	"crossgate/proxy/web"
	"crossgate/quote"
	"crossgate/store"
	"crossgate/token/catalog"
	"crossgate/webhook"
)

// Gateway is a gateway ready to run.
type Gateway struct {
	store  *store.DB
	sets   *sets
	server *proxy.Server
	orders *orders.Orders // of the server
	feed   *feed.Feed
	stream *shared.Stream // Redis stream for the feed; nil: none

	webhooks      *webhook.Deliverer
	lacksWebhooks bool          // the database lacks those of the file
	settingUp     sync.Mutex    // held while those of the file are stored
	admin         admin.Options // without the metrics
	adminTLS      *tls.Config   // nil: none
	shared        *shared.Cache // nil: none

	catalog *catalog.Catalog // of public token lists
	venues  *quote.History

	savers []*saver
	lists  *listFetcher
	cutOff *cutOff
	log    *slog.Logger

	started time.Time
}

// startWait is how long a gateway waits for a PostgreSQL that does not answer yet.
const startWait = time.Minute

// New builds the gateway that c describes and opens its store. It calls no endpoint; Run does. Mistakes in c that show
// only when its parts are built are returned as config.Mistakes.
func New(ctx context.Context, c config.Config, log *slog.Logger) (*Gateway, error) {
	public, operators, err := listenerTLS(c, log)
	if err != nil {
		return nil, err
	}
	p, err := build(c, log, nil)
	if err != nil {
		return nil, err
	}
	store, err := openStore(ctx, c.Index, startWait, log)
	if err != nil {
		return nil, err
	}
	if err := store.Own(ctx, log); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	g := &Gateway{store: store, adminTLS: operators, shared: p.shared, stream: p.stream, catalog: &catalog.Catalog{}, venues: &quote.History{}, log: log, started: time.Now()}
	g.cutOff = &cutOff{shared: p.shared, available: store.Available}
	first := newSet(p, c, g)
	if err := g.openEvents(ctx, c, p); err != nil {
		first.close()
		return nil, errors.Join(err, store.Close())
	}
	g.sets = &sets{store: store, first: first}
	g.sets.current.Store(first)
	g.savers = []*saver{newPlanSaver(store, g.sets.endpoints, log), newWinSaver(store, g.venues, log)}
	for _, each := range g.savers {
		each.update(ctx) // loads the stored state
	}
	g.lists = &listFetcher{sets: g.sets, catalog: g.catalog, log: log, states: make(map[string]listState)}
	server, err := proxy.New(proxy.Options{
		Index: func() proxy.Index { return g.sets.now().index }, Unready: g.cutOff.err, Chains: p.registry, Shared: p.shared, Quotas: quotas(c.Limits),
		Telemetry: proxy.Telemetry{Traced: c.Telemetry.Share, Clients: proxy.ClientDetail(c.Telemetry.Clients)},
		Passthrough: proxy.Passthrough{
			Origins: g.sets, MaxBytes: int64(c.Passthrough.MaxBytes), Hosts: hosts(c.Passthrough),
			Shadow: shadow.Settings(c.Passthrough.Shadow),
		},
		TLS:    public,
		Logger: log,
		Limits: proxy.Limits{
			SwapLimit: c.Swap.Deadline, MaxLoads: c.Limits.Loads, CacheBytes: int64(c.Cache.MaxBytes), Notice: c.Drain,
			Connections: c.Connections.Total, PerAddress: c.Connections.PerAddress,
		},
	})
	if err != nil {
		first.close()
		return nil, errors.Join(fmt.Errorf("public server: %w", err), store.Close())
	}
	g.server = server
	g.orders = orders.Mount(server, g.feed, g.sets.orders)
	quotes := swaps.Mount(server, g.sets.swaps)
	made := creations.Mount(server, g.orders, g.sets.estimateOrder)
	manage.Mount(server, g.orders, g.sets.managed)
	pages.Mount(server, g.orders, quotes, g.sets.pages)
	compare.Mount(server, quotes, made, g.sets.pages)
	if c.MCP {
		mcp.Mount(server)
	}
	g.admin = admin.Options{
		Server: server, Gateway: g, Pages: web.New(p.registry), Webhooks: g.webhooks.Mount, Token: c.Telemetry.Token.Reveal(),
		Listen: c.Telemetry.Admin, Logger: log,
	}
	return g, nil
}

func quotas(l config.Limits) quota.Options {
	keys := make([]quota.Key, len(l.Keys))
	for i, k := range l.Keys {
		keys[i] = quota.Key{Name: k.Name, Key: k.Key.Reveal(), Quota: quota.Quota(k.Quota)}
	}
	return quota.Options{Address: quota.Quota(l.Address), Keys: keys, TrustedProxies: l.Proxies}
}

// Run serves on listener and follows the chains until ctx ends. The followers stop after the last response; their plan
// spending is written last. Run closes the gateway.
func (g *Gateway) Run(ctx context.Context, listener net.Listener) error {
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	var stops []func()
	for _, each := range g.savers {
		stops = append(stops, each.start(ctx))
	}
	followed := make(chan error, 1)
	var running sync.WaitGroup
	for _, run := range []func(context.Context){g.lists.run, g.runEvents, g.runShared} {
		running.Go(func() { run(following) })
	}
	go func() { followed <- g.sets.follow(following) }()
	served := g.server.Run(ctx, listener)
	stop()
	err := errors.Join(served, <-followed)
	running.Wait()
	for _, write := range stops {
		write()
	}
	return errors.Join(err, g.Close())
}

func (g *Gateway) runShared(ctx context.Context) {
	if g.shared == nil {
		return
	}
	var looking sync.WaitGroup
	looking.Go(func() {
		for order.Wait(ctx, attestInterval, nil) {
			g.cutOff.look(ctx)
		}
	})
	g.shared.Run(ctx)
	looking.Wait()
}

// RunAdmin serves the admin API on listener until ctx ends: the metrics of t, the state of every dependency, profiles.
func (g *Gateway) RunAdmin(ctx context.Context, listener net.Listener, t *Telemetry) error {
	o := g.admin
	o.Metrics = t.Metrics()
	if g.adminTLS != nil {
		listener = tls.NewListener(listener, g.adminTLS)
	}
	return admin.Run(ctx, listener, o)
}

// AwaitIndexed waits until every followed chain is indexed up to its head, or until ctx ends.
func (g *Gateway) AwaitIndexed(ctx context.Context) error {
	const interval = 10 * time.Millisecond
	isBehind := func(c order.ChainBasis) bool { return c.Head == 0 || c.Indexed < c.Head }
	for slices.ContainsFunc(g.sets.now().index.Basis().Chains, isBehind) {
		if !order.Wait(ctx, interval, nil) {
			return fmt.Errorf("wait for the order index: %w", ctx.Err())
		}
	}
	return nil
}

// Close releases the resources of a gateway that is not running.
func (g *Gateway) Close() error {
	g.server.Close()
	g.sets.now().close()
	return g.store.Close()
}

// Check returns the mistakes in c that show only when its parts are built, as config.Mistakes, or nil.
func Check(c config.Config) error {
	var mistakes, further config.Mistakes
	_, _, err := listenerTLS(c, slog.New(slog.DiscardHandler))
	errors.As(err, &mistakes)
	if err := Database(c).Check(); err != nil {
		mistakes = mistakes.With(config.Mistakes{c.Mistake("index.postgres", err.Error())})
	}
	p, err := build(c, nil, nil)
	if errors.As(err, &further) {
		mistakes = mistakes.With(further)
	} else {
		p.close()
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	return nil
}

// secure returns the TLS configuration of a listener, or nil if t has no certificate. path is t's key in c.
func secure(c config.Config, path string, t config.TLS, log *slog.Logger) (*tls.Config, error) {
	if t.CertFile == "" {
		return nil, nil
	}
	made, err := tlsfiles.Files{Own: t.CertFile, Key: t.KeyFile, Authorities: t.ClientCAFile}.Server(log)
	if err != nil {
		return nil, config.Mistakes{c.Mistake(path, err.Error())}
	}
	return made, nil
}

func listenerTLS(c config.Config, log *slog.Logger) (public, operators *tls.Config, err error) {
	if public, err = secure(c, "tls", c.TLS, log); err != nil {
		return nil, nil, err
	}
	operators, err = secure(c, "telemetry.tls", c.Telemetry.TLS, log)
	return public, operators, err
}
