package gateway

import (
	"context"
	"time"

	"crossgate/proxy/web"
	"crossgate/release"
	"crossgate/upstream"
)

// Condition is what Dependencies lists, in numbers, and how venues have done.
func (g *Gateway) Condition(ctx context.Context) web.Condition {
	used, done := g.sets.use()
	defer done()
	told := web.Condition{Release: release.Current().String()}
	if store := g.storeState(ctx); !store.OK {
		told.Store = store.State
	}
	now := time.Now()
	basis, announced := used.index.Basis(), used.index.Announced()
	for _, c := range basis.Chains {
		each := web.ChainCondition{
			Chain: c.Chain, Head: c.Head, Indexed: c.Indexed, Late: true, From: c.From.Number, Proven: c.Proven, Quarantined: c.Quarantined.Count,
			Announcers: announced[c.Chain].Endpoints, Announcing: announced[c.Chain].Connections, Announced: announced[c.Chain].Newest,
		}
		if c.Head > 0 {
			each.Lag = c.By(now)
			each.Late = basis.IsBehind(&c, each.Lag)
		}
		told.Chains = append(told.Chains, each)
	}
	for _, each := range used.index.UnknownChains() {
		told.Unknown = append(told.Unknown, web.UnknownChain(each))
	}
	for _, pool := range used.parts.pools {
		service := web.Service{Name: pool.Name()}
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
		IsForced: h.Forced != "", Head: h.Head,
		Usual: h.Usual, Failing: h.Failing, Left: h.Left, IsLimited: h.IsLimited, Wait: max(h.RetryAfter, 0),
		Reason: h.Reason, Failed: h.Failed,
	}
}
