package evm

import (
	"cmp"
	"context"
	"time"

	"crossgate/upstream/jsonrpc"
)

const (
	// clockSkew is how far apart the block times of two chains may be.
	clockSkew = 2 * time.Minute
	// estimateRounds bounds the search for a block by its time; the block reached by then is early enough.
	estimateRounds = 12
	// directRounds of these rounds interpolate by the average block time; the rest bisect, for chains whose block time
	// changed a lot.
	directRounds = 4
)

// blockBefore returns a block that is older than since, in UNIX seconds by any chain's clock, but usually not by many
// blocks. latest is the newest block; guessed, if not nil, may already be suitable.
func (c *Chain) blockBefore(ctx context.Context, since uint64, latest header, guessed *header) (uint64, error) {
	since -= min(since, uint64(clockSkew/time.Second))
	if uint64(latest.Number) < windowBlocks {
		return 0, nil
	}
	older, newer := header{}, latest
	if guessed != nil && uint64(guessed.Timestamp) < since {
		older = *guessed
	} else {
		var first *header
		firstCall, guessedCall := headerCall(&first, Quantity(1)), c.laterTimeCall(&guessed, c.estimate(since, latest))
		c.rpc.Each(ctx, firstCall, guessedCall)
		if guessedCall.Err != nil {
			return 0, guessedCall.Err
		}
		if first != nil { // else its node has dropped the oldest blocks
			older = *first
		}
		if uint64(older.Timestamp) >= since {
			return 0, nil
		}
		older, newer = narrow(since, *guessed, older, newer)
	}
	for round := range estimateRounds {
		distance := blocksUntil(since, older, newer)
		if distance <= windowBlocks/2 {
			break
		}
		guess := uint64(older.Number) + distance - min(distance, windowBlocks/4)
		if round >= directRounds {
			guess = (uint64(older.Number) + uint64(newer.Number)) / 2
		}
		if err := c.rpc.All(ctx, c.laterTimeCall(&guessed, guess)); err != nil {
			return 0, err
		}
		older, newer = narrow(since, *guessed, older, newer)
	}
	return uint64(older.Number), nil
}

// laterTimeCall returns a call for a block, for a search to begin there. If no hash proves its time, the later one of
// two counts unless a third agrees with the other: to begin too early loses nothing but time.
func (c *Chain) laterTimeCall(out **header, number uint64) *jsonrpc.Call {
	asked := timeCall(out, Quantity(number))
	asked.Twice, asked.ByMajority = !c.isSealed.Load(), true
	jsonrpc.Prefer(asked, func(a, b *header) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
	return asked
}

// narrow replaces one of the two bounds with the block between them.
func narrow(since uint64, between, older, newer header) (header, header) {
	if uint64(between.Timestamp) < since {
		return between, newer
	}
	return older, between
}

// guess returns the number of a block a little older than since, estimated without a call from the newest block seen
// and the chain's typical block time. It is unknown if no block was seen, or the chain is too young to need it.
func (c *Chain) guess(since uint64) (number uint64, known bool) {
	newest := c.newest.Load()
	if since == 0 || newest == nil || uint64(newest.Number) < windowBlocks {
		return 0, false
	}
	return c.estimate(since-min(since, uint64(clockSkew/time.Second)), *newest), true
}

// estimate counts back from latest by the chain's typical block time, and a little further.
func (c *Chain) estimate(since uint64, latest header) uint64 {
	if since >= uint64(latest.Timestamp) || c.chain.BlockTime <= 0 {
		return uint64(latest.Number) - windowBlocks/4
	}
	seconds := uint64(latest.Timestamp) - since
	back := seconds*uint64(time.Second/time.Millisecond)/uint64(max(c.chain.BlockTime.Milliseconds(), 1)) + windowBlocks/4
	return max(uint64(latest.Number)-min(back, uint64(latest.Number)), 1)
}

// blocksUntil returns how many blocks after older the time since is, by the average block time between older and newer.
func blocksUntil(since uint64, older, newer header) uint64 {
	seconds := uint64(newer.Timestamp - older.Timestamp)
	if newer.Timestamp <= older.Timestamp {
		return 0
	}
	blocks := uint64(newer.Number - older.Number)
	return min(blocks*(since-uint64(older.Timestamp))/seconds, blocks)
}
