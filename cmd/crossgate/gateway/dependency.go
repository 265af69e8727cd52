package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"crossgate/proxy"
)

// dependencies tells how everything is that the gateway needs: the store, the shared cache, the chains, their endpoints.
func (g *Gateway) dependencies(ctx context.Context) []proxy.Dependency {
	used, done := g.sets.use()
	defer done()
	all := []proxy.Dependency{g.storeState(ctx)}
	if g.shared != nil {
		state, ok := g.shared.Standing()
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
		if health.Reason != "" {
			state += ", latest at " + health.Failed.UTC().Format(time.RFC3339) + ": " + health.Reason
		}
		all = append(all, proxy.Dependency{Kind: "endpoint", Name: health.Endpoint, OK: health.RetryAfter == 0, State: state})
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
