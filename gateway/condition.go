package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/release"
	"crossgate/proxy/admin"
	"crossgate/proxy/web"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

const storePatience = 2 * time.Second

// Condition returns the state of all dependencies in numbers, and the records of venues.
func (g *Gateway) Condition(ctx context.Context) web.Condition {
	used := g.sets.now()
	shown := web.Condition{Release: release.Current().String(), Started: g.started}
	if store := g.storeState(ctx); !store.OK {
		shown.Store = store.State
	}
	now := time.Now()
	basis, announced, corrections := used.index.Basis(), used.index.Announced(), used.index.Corrections()
	var unasked, asked []web.Load
	for _, c := range basis.Chains {
		each := web.ChainCondition{
			ChainBasis: c, Late: true, Corrections: corrections[c.Chain],
			Announcers: announced[c.Chain].Endpoints, Announcing: announced[c.Chain].Connections, Announced: announced[c.Chain].Newest,
		}
		if c.Head > 0 {
			each.Behind = c.By(now)
			each.Late = basis.IsBehind(&c, each.Behind) || c.Stopped != ""
		}
		each.Unasked, each.Asked = used.loads(c.Chain)
		shown.Chains = append(shown.Chains, each)
		unasked, asked = append(unasked, each.Unasked), append(asked, each.Asked)
	}
	shown.Unasked, shown.Asked = Sum(unasked...), Sum(asked...)
	unknown := used.index.UnknownChains()
	for _, id := range slices.Sorted(maps.Keys(unknown)) {
		shown.Unknown = append(shown.Unknown, web.UnknownChain{Chain: id, Orders: unknown[id]})
	}
	for _, own := range used.parts.services {
		service := web.Service{Name: own.Name(), Of: own.of}
		for _, health := range own.Health() {
			shown := web.Endpoint{Health: health}
			if own.rpc != nil {
				shown.Limits = LimitsInWords(own.rpc.Capabilities(health.Endpoint).Known())
			}
			service.Endpoints = append(service.Endpoints, shown)
		}
		shown.Services = append(shown.Services, service)
	}
	for _, record := range used.estimator.Records() {
		shown.Venues = append(shown.Venues, web.Venue{Record: record})
	}
	if shown.Store == "" {
		shown.Webhooks = g.shownWebhooks(ctx)
	}
	return shown
}

// shownWebhooks returns the subscribers, or none if the database does not list them in time.
func (g *Gateway) shownWebhooks(ctx context.Context) (shown []web.Webhook) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	hooks, err := g.webhooks.Hooks(ctx)
	if err != nil {
		g.log.WarnContext(ctx, "webhooks not listed", "error", err)
	}
	for _, h := range hooks {
		shown = append(shown, web.Webhook{Hook: h})
	}
	return shown
}

// Pulse returns the part of the condition that the status page's history samples.
func (g *Gateway) Pulse() admin.Pulse {
	used, now, p := g.sets.now(), time.Now(), admin.Pulse{Lag: -1}
	for _, c := range used.index.Basis().Chains {
		if c.Head > 0 {
			p.Lag = max(p.Lag, c.By(now))
		}
	}
	for _, endpoint := range used.parts.endpoints {
		health := endpoint.Health()
		if p.Calls += health.Rate; !health.CanBeAsked {
			p.Unusable++
		}
	}
	return p
}

func (s *set) loads(id chain.ID) (unasked, asked web.Load) {
	known, _ := s.parts.registry.Chain(id)
	at := slices.IndexFunc(s.config.Chains, func(c config.Chain) bool { return c.ID == id })
	if at < 0 {
		return unasked, asked
	}
	return Loads(known, s.config.Chains[at], s.config.Index)
}

// Dependencies returns the state of everything that the gateway needs: the database, the shared cache, the chains,
// their endpoints and the token lists.
func (g *Gateway) Dependencies(ctx context.Context) []admin.Dependency {
	used := g.sets.now()
	all := []admin.Dependency{g.storeState(ctx)}
	if g.shared != nil {
		state, ok := g.shared.Status()
		all = append(all, admin.Dependency{Kind: "cache", Name: "shared", OK: ok, State: state})
	}
	now := time.Now()
	basis := used.index.Basis()
	for _, c := range basis.Chains {
		each := admin.Dependency{Kind: "chain", Name: c.Chain.String(), State: "head not known yet"}
		if c.Head > 0 {
			each.OK = !basis.IsBehind(&c, c.By(now)) && c.Stale == 0
			each.State = fmt.Sprintf("indexed to block %d of %d, %s behind", c.Indexed, c.Head, c.Age(now).Round(time.Second))
			if c.Stale > 0 {
				each.State += ", stale: its newest block is of " + time.Unix(int64(c.Stale), 0).UTC().Format(time.RFC3339)
			}
		}
		if c.Stopped != "" {
			each.OK, each.State = false, each.State+", stopped: "+c.Stopped
		}
		if q := c.Quarantined; q.Count > 0 {
			each.State += fmt.Sprintf(", %d blocks quarantined, the oldest is %d", q.Count, q.First)
		}
		all = append(all, each)
	}
	for _, endpoint := range used.parts.endpoints {
		health := endpoint.Health()
		state := fmt.Sprintf("%s, %.0f %% of recent calls failed", health.Standing, 100*health.Failing)
		if health.Head != "" {
			state += ", head " + health.Head + " blocks from the others"
		}
		if health.Reason != "" {
			state += ", last failure at " + health.Failed.UTC().Format(time.RFC3339) + ": " + health.Reason
		}
		all = append(all, admin.Dependency{Kind: "endpoint", Name: endpoint.of + "/" + health.Endpoint, OK: health.CanBeAsked, State: state})
	}
	return append(all, g.lists.dependencies(used.parts.lists)...)
}

func (g *Gateway) storeState(ctx context.Context) admin.Dependency {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	if err := g.store.Probe(ctx); err != nil {
		state := err.Error()
		if g.cutOff.err() != nil {
			state = errCutOff.Error() + ": " + state
		}
		return admin.Dependency{Kind: "store", Name: "index", State: state}
	}
	if err := g.store.Writable(); err != nil {
		return admin.Dependency{Kind: "store", Name: "index", State: "reachable, but " + err.Error()}
	}
	return admin.Dependency{Kind: "store", Name: "index", OK: true, State: "reachable"}
}

// Endpoint returns the named endpoint of a chain (by its id), a venue or a price service in the running configuration,
// or nil.
func (g *Gateway) Endpoint(of, name string) *upstream.Endpoint {
	if found := g.sets.now().parts.endpoint(of, name); found != nil {
		return found.Endpoint
	}
	return nil
}

// LimitsInWords describes the limits of an endpoint.
func LimitsInWords(known jsonrpc.Limits) (words []string) {
	say := func(form string, n uint64) {
		if n > 0 {
			words = append(words, fmt.Sprintf(form, web.Count(n)))
		}
	}
	say("searches %s blocks", known.Span)
	say("takes %s calls at once", known.Batch)
	for _, part := range slices.Sorted(maps.Keys(known.Depths)) {
		words = append(words, part+": newest "+web.Count(known.Depths[part]))
	}
	for _, what := range known.Lacks {
		words = append(words, "no "+what)
	}
	return words
}
