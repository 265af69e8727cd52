package quote

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"crossgate/cache/flight"
	"crossgate/chain"
)

// A round's quotes are shared for about a block: after that the pools are others. Chains with very short
// or very long blocks have these bounds.
const (
	shortestShare = time.Second
	longestShare  = 5 * time.Second
)

// roundResults is what venues answered when they were asked together.
type roundResults struct {
	at     time.Time
	quotes []quoteResult // in the sequence of the queries
}

func (r roundResults) quoted() bool {
	for _, q := range r.quotes {
		if q.verdict == Outbid {
			return true
		}
	}
	return false
}

// roundCache holds the quote rounds of about a block, and those under way. The zero value is empty.
type roundCache struct {
	mu      sync.Mutex
	entries map[string]*roundEntry
	swept   time.Time
}

type roundEntry struct {
	call  *flight.Call[roundResults]
	began time.Time
	until time.Time // zero while under way
}

// fits reports whether a round that began at since or later is, or will be, here.
func (e *roundEntry) fits(since, now time.Time) bool {
	return !e.began.Before(since) && (e.until.IsZero() || now.Before(e.until))
}

// roundQuery is a quote round that is wanted.
type roundQuery struct {
	key   string
	since time.Time // when it may have begun, at the earliest; zero: whenever
	life  time.Duration
	run   func(context.Context) roundResults
}

// get returns the round under q.key, or has it run, which goes on as long as one caller waits for it. A round without
// a quote goes to those who wait for it and is forgotten.
func (c *roundCache) get(ctx context.Context, now func() time.Time, q roundQuery) (roundResults, error) {
	c.mu.Lock()
	entry, found := c.entries[q.key]
	if !found || !entry.fits(q.since, now()) || !entry.call.Join() {
		c.sweepLocked(now())
		started := &roundEntry{began: now()}
		started.call = flight.Start(ctx, func(ctx context.Context) (results roundResults, _ error) {
			defer func() { c.finish(q.key, started, ctx.Err() == nil && results.quoted(), now().Add(q.life)) }()
			return q.run(ctx), nil
		})
		entry = started
		c.entries[q.key] = entry
	}
	c.mu.Unlock()
	results, err := entry.call.Wait(ctx)
	if err != nil {
		return roundResults{}, fmt.Errorf("comparing venues: %w", err)
	}
	return results, nil
}

// finish keeps a round in which a venue quoted, unless it was given up.
func (c *roundCache) finish(key string, e *roundEntry, keep bool, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.until = until
	if !keep && c.entries[key] == e {
		delete(c.entries, key)
	}
}

// sweepLocked deletes expired entries, at most once in a while, since it looks at all.
func (c *roundCache) sweepLocked(now time.Time) {
	if c.entries == nil {
		c.entries = map[string]*roundEntry{}
	}
	if now.Sub(c.swept) < shortestShare {
		return
	}
	c.swept = now
	for key, e := range c.entries {
		if !e.until.IsZero() && !now.Before(e.until) {
			delete(c.entries, key)
		}
	}
}

// sharedRound returns what the venues answer to the queries, asked since a time, for us or for another caller. What
// they are asked does not depend on sender and recipient, but for the first caller.
func (t *trade) sharedRound(ctx context.Context, queries []venueQuery, since time.Time) (roundResults, error) {
	window := t.window
	if t.request.Wait > 0 {
		window = min(window, t.request.Wait)
	}
	return t.rounds.get(ctx, t.now, roundQuery{
		key: roundKey(t.swap, window, queries), since: since,
		life: min(max(t.swap.Chain.BlockTime, shortestShare), longestShare),
		run:  func(ctx context.Context) roundResults { return t.runRound(ctx, window, queries) },
	})
}

// roundKey distinguishes rounds by all that the quotes depend on. No part can contain the separator.
func roundKey(s Swap, window time.Duration, queries []venueQuery) string {
	var key strings.Builder
	for _, part := range []any{s.Chain.ID, s.In.Address, s.Out.Address, s.In.Amount, s.SlippagePercent, window} {
		fmt.Fprintf(&key, "%v|", part)
	}
	for _, q := range queries {
		fmt.Fprintf(&key, "%s|%v|", q.profile.Name, q.ways)
		for _, a := range []Affiliate{q.swap.Affiliate, q.swap.Second} {
			recipient := chain.Address{}
			if a.Percent.IsPositive() {
				recipient = a.Recipient
			}
			fmt.Fprintf(&key, "%v|%v|", a.Percent, recipient)
		}
	}
	return key.String()
}
