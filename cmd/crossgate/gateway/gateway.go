// Package gateway makes a running gateway of a configuration. It is the only place that knows every
// part; cmd/crossgate and cmd/sandbox are its two callers.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"crossgate/config"
	"crossgate/order/index"
	"crossgate/proxy"
	"crossgate/upstream"
)

// Gateway is a gateway ready to run.
type Gateway struct {
	parts  *parts
	store  *index.Store
	index  *index.Index
	server *proxy.Server
	behind time.Duration // lag from which a chain counts as behind

	stopObserving func() error
}

// New builds the gateway that c describes and opens its store. Nothing is called until Run. What c gets
// wrong that only the parts can tell is config.Mistakes.
func New(ctx context.Context, c config.Config, log *slog.Logger) (*Gateway, error) {
	p, err := build(c)
	if err != nil {
		return nil, err
	}
	store, err := openStore(ctx, c.Index)
	if err != nil {
		return nil, err
	}
	p.shelf = tokenShelf{store, log}
	orders := p.index(store, c.Index, log)
	estimator := p.estimator(c, log)
	g := &Gateway{parts: p, store: store, index: orders, behind: c.Index.Behind}
	server, err := proxy.New(proxy.Options{
		Orders:           orders.Find,
		Order:            orders.ByID,
		Lag:              orders.Lag,
		Behind:           c.Index.Behind,
		Settled:          orders.Settled,
		Locked:           orders.Locked,
		Estimate:         estimator.Estimate,
		Serves:           estimator.Serves,
		Listed:           p.tokens.Listed,
		Tokens:           p.tokens.Lookup,
		USD:              p.tokens.USD,
		Chains:           p.registry,
		Dependencies:     g.dependencies,
		CacheBytes:       int64(c.Cache.MaxBytes),
		Notice:           c.Drain,
		SwapLimit:        c.Swap.Deadline,
		TrustTraceparent: c.Telemetry.TrustTraceparent,
		Traced:           sampled(c.Telemetry.Share),
		Logger:           log,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("http face: %w", err), store.Close())
	}
	g.server = server
	if g.stopObserving, err = upstream.Observe(p.endpoints...); err != nil {
		return nil, errors.Join(fmt.Errorf("instruments: %w", err), g.Close())
	}
	return g, nil
}

// Run serves on listener and follows the chains until ctx ends. The followers stop after the last
// request has been answered. Run ends with Close.
func (g *Gateway) Run(ctx context.Context, listener net.Listener) error {
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	followed := make(chan error, 1)
	go func() { followed <- g.index.Run(following) }()
	served := g.server.Run(ctx, listener)
	stop()
	return errors.Join(served, <-followed, g.Close())
}

// RunAdmin serves operators on listener until ctx ends: measurements of t, the state of every dependency, profiles.
func (g *Gateway) RunAdmin(ctx context.Context, listener net.Listener, t *Telemetry) error {
	return g.server.RunAdmin(ctx, listener, t.Metrics())
}

// AwaitIndexed returns when every followed chain has been read up to its head once, or when ctx ends.
func (g *Gateway) AwaitIndexed(ctx context.Context) error {
	const interval = 10 * time.Millisecond
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for !g.isIndexed() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the order index: %w", ctx.Err())
		}
	}
	return nil
}

func (g *Gateway) isIndexed() bool {
	for _, lag := range g.index.Lag() {
		if lag.Head == 0 || lag.Indexed < lag.Head {
			return false
		}
	}
	return true
}

// Close frees a gateway that is not running.
func (g *Gateway) Close() error {
	g.server.Close()
	g.parts.close()
	var err error
	if g.stopObserving != nil {
		err = g.stopObserving()
	}
	return errors.Join(err, g.store.Close())
}

// Check returns what is wrong with c that shows only when its parts are made: config.Mistakes, or nil.
func Check(c config.Config) error {
	_, err := build(c)
	return err
}
