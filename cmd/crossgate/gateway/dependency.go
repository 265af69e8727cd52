package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"crossgate/proxy"
	"crossgate/upstream"
)

// dependencies tells how everything is that the gateway needs: the store, the shared cache, the chains, their
// endpoints.
func (g *Gateway) dependencies(ctx context.Context) []proxy.Dependency {
	used, done := g.sets.use()
	defer done()
	all := []proxy.Dependency{g.storeState(ctx)}
	if g.shared != nil {
		state, ok := g.shared.Status()
		all = append(all, proxy.Dependency{Kind: "cache", Name: "shared", OK: ok, State: state})
	}
	lags, now := used.index.Lag(), time.Now()
	for _, id := range slices.Sorted(maps.Keys(lags)) {
		lag := lags[id]
		each := proxy.Dependency{Kind: "chain", Name: id.String(), State: "its head is not known yet"}
		if lag.Head > 0 {
			by := lag.By(now)
			each.OK = by < g.behind
			each.State = fmt.Sprintf("block %d of %d, as of %s ago", lag.Indexed, lag.Head, by.Round(time.Second))
		}
		all = append(all, each)
	}
	for _, endpoint := range used.parts.endpoints {
		health := endpoint.Health()
		state := fmt.Sprintf("%s, %.0f %% of recent calls failed", health.Standing, 100*health.Failing)
		if health.Head != "" {
			state += ", head " + health.Head + " of the others'"
		}
		if health.Forced != "" {
			state += ", breaker " + health.Forced + " by an operator"
		}
		if health.Reason != "" {
			state += ", latest at " + health.Failed.UTC().Format(time.RFC3339) + ": " + health.Reason
		}
		all = append(all, proxy.Dependency{Kind: "endpoint", Name: endpoint.of + "/" + health.Endpoint, OK: health.CanBeAsked, State: state})
	}
	return all
}

func (g *Gateway) storeState(ctx context.Context) proxy.Dependency {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := g.store.Ping(ctx); err != nil {
		return proxy.Dependency{Kind: "store", Name: "index", State: err.Error()}
	}
	return proxy.Dependency{Kind: "store", Name: "index", OK: true, State: "answers"}
}

// endpoint returns the one of that name which serves of in the running configuration; nil when there is none.
func (s *sets) endpoint(of, name string) *upstream.Endpoint {
	used, done := s.use()
	defer done()
	if found := used.parts.endpoint(of, name); found != nil {
		return found.Endpoint
	}
	return nil
}
