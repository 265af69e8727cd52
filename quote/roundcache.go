package quote

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"crossgate/cache/flight"
	"crossgate/chain"
)

// A round's quotes are shared for about a block, within these bounds; after that the pools have changed.
const (
	shortestShare = time.Second
	longestShare  = 5 * time.Second
)

type roundResults struct {
	at     time.Time
	quotes []quoteResult // in the sequence of the queries
}

func (r roundResults) quoted() bool {
	return slices.ContainsFunc(r.quotes, func(q quoteResult) bool { return q.verdict == Outbid })
}

// roundCache holds quote rounds in flight, and finished ones for about a block.
type roundCache struct {
	mu      sync.Mutex
	entries map[roundKey]*roundEntry
}

type roundEntry struct {
	call  *flight.Call[roundResults]
	began time.Time
}

// sharedRound returns the results of a round begun since a time by any caller: quotes do not depend on the wallet. A
// round continues as long as one caller waits, and is not cached if it has no quote.
func (t *trade) sharedRound(ctx context.Context, queries []venueQuery, since time.Time) (roundResults, error) {
	c, window := &t.rounds, t.Window
	if t.request.Wait > 0 {
		window = min(window, t.request.Wait)
	}
	key, life := keyOf(t.swap, window, queries), min(max(t.swap.Chain.BlockTime, shortestShare), longestShare)
	c.mu.Lock()
	entry, found := c.entries[key]
	if !found || entry.began.Before(since) || !entry.call.Join() {
		begun := &roundEntry{began: t.Now()}
		t.asking.Add(1)
		begun.call = flight.Start(ctx, func(ctx context.Context) (results roundResults, _ error) {
			defer t.asking.Done()
			defer func() {
				if ctx.Err() != nil || !results.quoted() {
					c.forget(key, begun)
				} else {
					time.AfterFunc(life, func() { c.forget(key, begun) })
				}
			}()
			return t.runRound(ctx, window, queries), nil
		})
		entry, c.entries[key] = begun, begun
	}
	c.mu.Unlock()
	results, err := entry.call.Wait(ctx)
	if err != nil {
		return roundResults{}, fmt.Errorf("comparing venues: %w", err)
	}
	return results, nil
}

func (c *roundCache) forget(key roundKey, e *roundEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] == e {
		delete(c.entries, key)
	}
}

// roundKey is everything that a round's quotes depend on: some venues pay only the sender, and all swap less if the
// gateway pays shares of the input.
type roundKey struct {
	chain    chain.ID
	in, out  chain.Address
	slippage string
	isOwn    bool
	window   time.Duration
	queries  string // no part of it can contain the separator
}

func keyOf(s Swap, window time.Duration, queries []venueQuery) roundKey {
	var all []byte
	for _, q := range queries {
		all = append(q.swap.In.Amount.AppendDecimal(append(all, q.profile.Name+"|"...)), '|')
		for _, way := range q.ways {
			all = append(all, way.String()+"|"...)
		}
		for _, a := range []Affiliate{q.swap.Affiliate, q.swap.Second} {
			if a.Percent.IsPositive() {
				all = fmt.Appendf(all, "%v|%v", a.Percent, a.Recipient)
			}
			all = append(all, '|')
		}
	}
	return roundKey{s.Chain.ID, s.In.Address, s.Out.Address, s.SlippagePercent.String(), s.Sender == s.Recipient, window, string(all)}
}
