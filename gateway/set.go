package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/audit"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/manage"
	"crossgate/proxy/orders"
	"crossgate/proxy/pages"
	"crossgate/proxy/shadow"
	"crossgate/proxy/swaps"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/tokenlist"
	"crossgate/webhook"
)

// set is everything built from one configuration: endpoints and their health, adapters, the order index over the
// chains, the swap estimator. It does not change: a new configuration makes a new set. The store of orders, the
// listeners and the cache outlive it.
type set struct {
	config    config.Config
	parts     *parts
	index     *query.Index
	estimator *quote.Estimator
	orders    *crosschain.Estimator // for orders to be created
	replaced  chan struct{}         // closed once next is set
	next      *set                  // the set that replaced this one

	stopObserving []func()
}

func newSet(p *parts, c config.Config, g *Gateway) *set {
	p.shelf.store, p.shelf.catalog, p.shelf.registry, p.shelf.log = g.store, g.catalog, p.registry, g.log
	estimator := p.estimator(c, g.log, g.venues)
	return &set{
		config: c, parts: p, index: index(p.follow(g.store, c, g.log, observer{g, p}), c.Index), estimator: estimator, orders: p.orderEstimator(c, estimator),
		stopObserving: []func(){upstream.Observe(p.called()...), estimator.Observe()}, replaced: make(chan struct{}),
	}
}

func (s *set) close() {
	s.estimator.Close()
	s.parts.close()
	for _, stop := range s.stopObserving {
		stop()
	}
}

// sets holds the current set, which a reload replaces.
type sets struct {
	store   *store.DB
	first   *set
	current atomic.Pointer[set]
}

// now returns the current set. A caller may use it while it produces one answer.
func (s *sets) now() *set { return s.current.Load() }

func (s *sets) orders() orders.Options {
	now := s.now()
	return orders.Options{Orders: now.index, Swaps: now.index, Statistics: now.index, Venues: s.venues, Tokens: now.parts.tokens}
}

func (s *sets) swaps() swaps.Options {
	now := s.now()
	return swaps.Options{Estimator: now.estimator, Tokens: now.parts.tokens}
}

// managed returns the options for checking, cancelling and unlocking orders.
func (s *sets) managed() manage.Options {
	now := s.now()
	o := manage.Options{Appraiser: now.orders, Forecasters: map[chain.ID]manage.Forecaster{}, Settlers: map[chain.ID]manage.Settler{}}
	for id, c := range now.parts.chains {
		if c.manage != nil {
			o.Forecasters[id], o.Settlers[id] = c.manage, c.manage
		}
		if c.relay != nil {
			o.Relay = c.relay
		}
	}
	return o
}

// estimateOrder implements creations.Estimate.
func (s *sets) estimateOrder(ctx context.Context, r crosschain.Request) (crosschain.Estimate, error) {
	return s.now().orders.Estimate(ctx, r)
}

func (s *sets) pages() pages.Options {
	now := s.now()
	return pages.Options{Details: now.index, Tokens: now.parts.tokens, Logo: tokenlist.Logo}
}

// follow runs the index of the current set until ctx ends, which is after the last request. A replaced set stops before
// its successor starts, so that no chain is followed twice, and is closed when its last request must have ended.
func (s *sets) follow(ctx context.Context) error {
	const longestAnswer = time.Minute
	var retiring sync.WaitGroup
	defer retiring.Wait()
	for now := s.first; ; now = now.next {
		following, stop := context.WithCancel(ctx)
		followed := make(chan error, 1)
		go func() {
			var comparing sync.WaitGroup
			comparing.Go(func() {
				audit.Reconcile(upstream.Background.For(following), now.index.Chains, cmp.Or(now.config.Index.Day, 24*time.Hour))
			})
			defer comparing.Wait()
			followed <- now.index.Run(following)
		}()
		select {
		case <-ctx.Done():
		case <-now.replaced:
		}
		stop()
		err := <-followed
		select {
		case <-now.replaced:
		default:
			return err
		}
		retiring.Go(func() {
			select {
			case <-ctx.Done():
			case <-time.After(longestAnswer):
			}
			now.close()
		})
	}
}

// Reload replaces the running configuration by c, or returns why it does not: store.ErrUnavailable if the database does
// not answer or takes no changes. Requests are not disturbed. It logs changed keys that need a restart: listeners,
// database, memory, telemetry and the like. Changed chain facts need one too, but make Reload refuse c as a whole: its
// endpoints may be meant for the new facts.
func (g *Gateway) Reload(c config.Config) error {
	was := g.sets.now()
	before, after := was.config.Registry(), c.Registry()
	for _, each := range slices.Concat(before.All(), after.All()) {
		known, _ := before.Chain(each.ID)
		if next, _ := after.Chain(each.ID); !reflect.DeepEqual(known, next) {
			return fmt.Errorf("reload: the changed facts of chain %d need a restart", each.ID)
		}
	}
	given := c
	if kept := keepStarted(was.config, &c); len(kept) > 0 {
		if err := Check(given); err != nil { // the restart would fail
			return fmt.Errorf("reload: %w", err)
		}
		g.log.Warn("configuration partly reloaded: these keys need a restart", "keys", strings.Join(kept, ", "))
	}
	p, err := build(c, g.log, was.parts)
	if err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	next := newSet(p, c, g)
	if !reflect.DeepEqual(was.config.Events.Webhooks, c.Events.Webhooks) { // all else needs no database
		g.settingUp.Lock()
		defer g.settingUp.Unlock()
		err := g.configureWebhooks(context.Background(), c.Events.Webhooks)
		if err != nil && !errors.Is(err, webhook.ErrTaken) && !errors.Is(err, store.ErrUnavailable) { // not a mistake in c
			err = fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		}
		if err != nil {
			next.close()
			return fmt.Errorf("reload: %w", err)
		}
	}
	g.sets.current.Store(next) // requests in flight keep the previous set
	was.next = next
	close(was.replaced)
	g.server.SetLimits(quotas(c.Limits), c.Limits.Loads)
	g.server.SetClients(proxy.ClientDetail(c.Telemetry.Clients))
	g.server.SetHosts(hosts(c.Passthrough))
	g.server.SetShadow(shadow.Settings(c.Passthrough.Shadow))
	return nil
}

// keepStarted resets the keys of c that a running gateway cannot change, and returns those that differed.
func keepStarted(was config.Config, c *config.Config) (kept []string) {
	keep := func(name string, was, now any) {
		target := reflect.ValueOf(now).Elem()
		kept = append(kept, changedKeys(name, reflect.ValueOf(was), target)...)
		target.Set(reflect.ValueOf(was))
	}
	keep("listen", was.Listen, &c.Listen)
	keep("tls", was.TLS, &c.TLS)
	keep("connections", was.Connections, &c.Connections)
	keep("drain", was.Drain, &c.Drain)
	keep("mcp", was.MCP, &c.MCP)
	keep("index", was.Index, &c.Index)
	keep("events.redis", was.Events.Redis, &c.Events.Redis)
	keep("cache", was.Cache, &c.Cache)
	c.Swap.Window, c.Swap.Deadline = was.Swap.Window, was.Swap.Deadline
	was.Telemetry.Level, was.Telemetry.Clients = c.Telemetry.Level, c.Telemetry.Clients
	keep("telemetry", was.Telemetry, &c.Telemetry)
	keep("passthrough.maxBytes", was.Passthrough.MaxBytes, &c.Passthrough.MaxBytes)
	return kept
}

// changedKeys returns the key name if two values of it differ, or, for a section, the keys in it that do.
func changedKeys(name string, was, now reflect.Value) (changed []string) {
	if reflect.DeepEqual(was.Interface(), now.Interface()) {
		return nil
	}
	if was.Kind() != reflect.Struct || was.Type() == reflect.TypeFor[config.Secret]() {
		return []string{name}
	}
	for field, value := range was.Fields() {
		if key := field.Tag.Get("yaml"); key != "" {
			changed = append(changed, changedKeys(name+"."+key, value, now.FieldByIndex(field.Index))...)
		}
	}
	return changed
}
