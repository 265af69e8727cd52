package gateway

import (
	"context"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/proxy/web"
	"crossgate/release"
	"crossgate/upstream"
)

// Condition is what Dependencies lists, in numbers, and how venues have done.
func (g *Gateway) Condition(ctx context.Context) web.Condition {
	used := g.sets.now()
	told := web.Condition{Release: release.Current().String(), Started: g.started}
	if store := g.storeState(ctx); !store.OK {
		told.Store = store.State
	}
	now := time.Now()
	basis, announced, corrections := used.index.Basis(), used.index.Announced(), used.index.Corrections()
	for _, c := range basis.Chains {
		each := web.ChainCondition{
			Chain: c.Chain, Head: c.Head, Indexed: c.Indexed, Late: true, From: c.From.Number, Proven: c.Proven,
			Quarantined: c.Quarantined.Count, FirstQuarantined: c.Quarantined.First, Corrections: corrections[c.Chain],
			Announcers: announced[c.Chain].Endpoints, Announcing: announced[c.Chain].Connections, Announced: announced[c.Chain].Newest,
		}
		if c.Head > 0 {
			each.Lag = c.Age(now)
			each.Late = basis.IsBehind(&c, each.Lag) || c.Stopped != ""
		}
		each.Unasked, each.Asked = used.loads(c.Chain)
		told.Chains = append(told.Chains, each)
	}
	for _, each := range used.index.UnknownChains() {
		told.Unknown = append(told.Unknown, web.UnknownChain(each))
	}
	for _, pool := range used.parts.pools {
		service := web.Service{Name: pool.Name(), Of: used.parts.servedBy(pool)}
		for _, health := range pool.Health() {
			shown := shownEndpoint(health)
			shown.Limits = used.parts.limitsInWords(pool, health.Endpoint)
			service.Endpoints = append(service.Endpoints, shown)
		}
		told.Services = append(told.Services, service)
	}
	for _, record := range used.estimator.Records() {
		told.Venues = append(told.Venues, web.Venue(record))
	}
	return told
}

func shownEndpoint(h upstream.Health) web.Endpoint {
	breaker := "open"
	if h.IsClosed {
		breaker = "closed"
	}
	return web.Endpoint{
		Name: h.Endpoint, Standing: h.Standing, OK: h.CanBeAsked, Preferred: h.Preferred, Breaker: breaker,
		IsForced: h.Forced != "", Head: h.Head, Rate: h.Rate,
		Usual: h.Usual, Failing: h.Failing, Left: h.Left, IsLimited: h.IsLimited, Wait: max(h.RetryAfter, 0),
		Reason: h.Reason, Failed: h.Failed,
	}
}

// loads are those of a chain of the running configuration.
func (s *set) loads(id chain.ID) (unasked, asked web.Load) {
	known, _ := s.parts.registry.Chain(id)
	at := slices.IndexFunc(s.config.Chains, func(c config.Chain) bool { return c.ID == id })
	if at < 0 {
		return unasked, asked
	}
	least, most := Loads(known, s.config.Chains[at], s.config.Index)
	return web.Load(least), web.Load(most)
}
