package gateway

import (
	"context"
	"fmt"
	"time"

	"crossgate/proxy/admin"
	"crossgate/upstream"
)

// Dependencies lists everything that the gateway needs, and its state: the database, the shared cache, the chains and
// their endpoints.
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
		if health.Forced != "" {
			state += ", breaker forced " + health.Forced + " by an operator"
		}
		if health.Reason != "" {
			state += ", last failure at " + health.Failed.UTC().Format(time.RFC3339) + ": " + health.Reason
		}
		all = append(all, admin.Dependency{Kind: "endpoint", Name: endpoint.of + "/" + health.Endpoint, OK: health.CanBeAsked, State: state})
	}
	return append(all, g.lists.dependencies(used.parts.lists)...)
}

func (g *Gateway) storeState(ctx context.Context) admin.Dependency {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// Endpoint returns the endpoint of that name which serves a chain (by its id), a venue or a price service in the
// running configuration; nil when there is none.
func (g *Gateway) Endpoint(of, name string) *upstream.Endpoint { return g.sets.endpoint(of, name) }

func (s *sets) endpoint(of, name string) *upstream.Endpoint {
	used := s.now()
	if found := used.parts.endpoint(of, name); found != nil {
		return found.Endpoint
	}
	return nil
}
