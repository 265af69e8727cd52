package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"crossgate/config"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// How often what endpoints were found not to do is written, and how long the database may take for it.
const (
	capabilityInterval = 30 * time.Second
	capabilityLimit    = 5 * time.Second
)

// limitsOf is what an operator knows of an endpoint.
func limitsOf(c config.EndpointLimits, costs map[string]int) jsonrpc.Limits {
	limits := jsonrpc.Limits{Batch: uint64(c.Batch), Span: uint64(c.Span), Results: uint64(c.Results), Rates: c.Rates, Costs: costs, Lacks: c.Lacks, Depths: make(map[string]uint64)}
	for part, depth := range map[string]int{"logs": c.Logs, "blocks": c.Blocks, "state": c.State} {
		if depth > 0 {
			limits.Depths[part] = uint64(depth)
		}
	}
	return limits
}

// limitsInWords says what an endpoint of a chain's pool was found or declared not to do; nothing for other pools.
func (p *parts) limitsInWords(pool *upstream.Pool, endpoint string) []string {
	for _, each := range p.chains {
		if each.pool == pool {
			known, _ := each.rpc.Capabilities(endpoint).Known()
			return wordsOf(known)
		}
	}
	return nil
}

// wordsOf says what limits are.
func wordsOf(known jsonrpc.Limits) (words []string) {
	say := func(form string, n uint64) {
		if n > 0 {
			words = append(words, fmt.Sprintf(form, n))
		}
	}
	say("searches %d blocks", known.Span)
	say("gives %d logs", known.Results)
	say("takes %d calls at once", known.Batch)
	for _, part := range slices.Sorted(maps.Keys(known.Depths)) {
		words = append(words, fmt.Sprintf("%s: newest %d", part, known.Depths[part]))
	}
	for _, method := range slices.Sorted(maps.Keys(known.Rates)) {
		words = append(words, fmt.Sprintf("%s %.3g times a second", method, known.Rates[method]))
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

// capabilityBook keeps in the database what endpoints were found not to do, so that a restart, and a chain whose
// configuration has changed, need not find it out again. No request waits for it.
type capabilityBook struct {
	store     *store.DB
	abilities func() []ability // of the running configuration
	log       *slog.Logger
	seen      map[*jsonrpc.Capabilities]uint64 // the version that was stored last
}

// start reads and writes until stop, which writes once more.
func (b *capabilityBook) start(ctx context.Context) (stop func()) {
	return periodically(ctx, capabilityInterval, b.update)
}

// update recalls what is stored of endpoints that are new here, and stores what was found out since of the others.
func (b *capabilityBook) update(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, capabilityLimit)
	defer cancel()
	var fresh []ability
	var changed []store.Capabilities
	versions := make(map[*jsonrpc.Capabilities]uint64)
	for _, each := range b.abilities() {
		limits, version := each.Known()
		stored, isSeen := b.seen[each.Capabilities]
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
	err := b.recall(limited, fresh)
	if err == nil && len(changed) > 0 {
		err = b.store.KeepCapabilities(limited, changed)
	}
	if err != nil {
		if !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
			b.log.WarnContext(ctx, "capabilities of endpoints not kept; they are found out again after a restart", "error", err)
		}
		return
	}
	for _, each := range fresh {
		_, versions[each.Capabilities] = each.Known()
	}
	b.seen = versions
}

// recall tells endpoints what is stored of them.
func (b *capabilityBook) recall(ctx context.Context, fresh []ability) error {
	if len(fresh) == 0 {
		return nil
	}
	stored, err := b.store.Capabilities(ctx)
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
	used, done := s.use()
	defer done()
	var all []ability
	for id, each := range used.parts.chains {
		for _, e := range each.pool.Endpoints() {
			all = append(all, ability{id.String(), e.Name(), each.rpc.Capabilities(e.Name())})
		}
	}
	return all
}
