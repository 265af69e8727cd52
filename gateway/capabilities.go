package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// limitsInWords says what an endpoint of a chain's pool was found not to do; nothing for other pools.
func (p *parts) limitsInWords(pool *upstream.Pool, endpoint string) []string {
	for _, each := range p.chains {
		if each.pool == pool {
			known, _ := each.rpc.Capabilities(endpoint).Known()
			return LimitsInWords(known)
		}
	}
	return nil
}

// LimitsInWords spells out the limits of an endpoint.
func LimitsInWords(known jsonrpc.Limits) (words []string) {
	say := func(form string, n uint64) {
		if n > 0 {
			words = append(words, fmt.Sprintf(form, n))
		}
	}
	say("searches %d blocks", known.Span)
	say("takes %d calls at once", known.Batch)
	for _, part := range slices.Sorted(maps.Keys(known.Depths)) {
		words = append(words, fmt.Sprintf("%s: newest %d", part, known.Depths[part]))
	}
	for _, what := range known.Lacks {
		words = append(words, "no "+what)
	}
	return words
}

// ability is what one endpoint of a chain can do.
type ability struct {
	of, endpoint string
	*jsonrpc.Capabilities
}

// newCapabilityBook keeps what endpoints were found not to do, so that a restart, and a chain whose configuration has
// changed, need not find it out again. abilities are those of the running configuration.
func newCapabilityBook(db *store.DB, abilities func() []ability, log *slog.Logger) *book {
	seen := make(map[*jsonrpc.Capabilities]uint64) // the version that was stored last
	write := func(ctx context.Context, db *store.DB) error {
		var fresh []ability
		var changed []store.Capabilities
		versions := make(map[*jsonrpc.Capabilities]uint64)
		for _, each := range abilities() {
			limits, version := each.Known()
			stored, isSeen := seen[each.Capabilities]
			versions[each.Capabilities] = version
			switch {
			case !isSeen:
				fresh = append(fresh, each)
			case stored != version:
				text, err := json.Marshal(limits)
				if err != nil {
					panic("gateway: limits that JSON cannot hold: " + err.Error())
				}
				changed = append(changed, store.Capabilities{Service: each.of, Endpoint: each.endpoint, Limits: text, Learned: time.Now()})
			}
		}
		if err := recall(ctx, db, fresh); err != nil {
			return err
		}
		if len(changed) > 0 {
			if err := db.KeepCapabilities(ctx, changed); err != nil {
				return err
			}
		}
		for _, each := range fresh {
			_, versions[each.Capabilities] = each.Known()
		}
		seen = versions
		return nil
	}
	return &book{of: "capabilities of endpoints", interval: 30 * time.Second, store: db, write: write, log: log}
}

// recall gives endpoints their stored limits.
func recall(ctx context.Context, db *store.DB, fresh []ability) error {
	if len(fresh) == 0 {
		return nil
	}
	stored, err := db.Capabilities(ctx)
	if err != nil {
		return err
	}
	for _, each := range fresh {
		for _, row := range stored {
			var limits jsonrpc.Limits
			if row.Service == each.of && row.Endpoint == each.endpoint && json.Unmarshal(row.Limits, &limits) == nil {
				each.Recall(limits, row.Learned)
			}
		}
	}
	return nil
}

// abilities returns those of the endpoints of all chains in the running configuration.
func (s *sets) abilities() []ability {
	used := s.now()
	var all []ability
	for id, each := range used.parts.chains {
		for _, e := range each.pool.Endpoints() {
			all = append(all, ability{id.String(), e.Name(), each.rpc.Capabilities(e.Name())})
		}
	}
	return all
}
