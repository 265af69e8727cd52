package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// mostNarrowings is how often a search from one block is retried with fewer blocks: from thousands down to one.
const mostNarrowings = 16

// listing describes the contents and the purpose of a list of logs.
type listing struct {
	contracts  []chain.Address
	isChecked  bool // the blocks themselves will show gaps in the list
	isCounted  bool // the number of logs is usually known
	isCompared bool // it is compared with another list
	half       int  // length of the list that this is a half of, which may be cut; 0: not a half
}

// mayBeCut reports whether a list of some length from an endpoint may be truncated.
func (l listing) mayBeCut(length int, endpoint *jsonrpc.Capabilities) bool {
	if l.half > 0 {
		return length >= l.half
	}
	return !l.isCompared && endpoint != nil && endpoint.MayBeCut(length)
}

// list returns the order protocol's logs of contracts in blocks from to to, in block and log order, and the endpoints
// that listed them. Each search spans as many blocks as the first endpoint accepts; after a failure, as many as are
// known to be possible then.
func (c *Chain) list(ctx context.Context, rpc *jsonrpc.Client, from, to uint64, l listing) (logs []log, by []string, err error) {
	fitting := to - from + 1 // width that suits the contents of the blocks
	for narrowed := 0; from <= to; {
		span := min(to-from+1, rpc.Search(getLogs, c.reach(from)), fitting)
		part, teller, length, err := c.listAtOnce(ctx, rpc, from, from+span-1, l)
		if err == nil && span > 1 && l.mayBeCut(length, c.rpc.Capabilities(teller)) {
			halves := l
			halves.half = length
			part, err = c.completed(ctx, rpc, from, from+span-1, halves, part, teller)
		}
		if err != nil {
			fitting = min(narrower(err, span), rpc.Search(getLogs, c.reach(from)))
			if narrowed++; fitting < span && narrowed <= mostNarrowings && ctx.Err() == nil {
				continue
			}
			return nil, nil, fmt.Errorf("logs of blocks %d to %d: %w", from, from+span-1, err)
		}
		c.heard(part)
		logs, by = append(logs, part...), append(by, teller)
		from, narrowed, fitting = from+span, 0, 2*min(max(fitting, span), to-from+1)
	}
	return logs, by, nil
}

// completed completes a list that may be cut, from another endpoint's list or, without one, from lists of its halves.
func (c *Chain) completed(
	ctx context.Context, rpc *jsonrpc.Client, from, to uint64, l listing, whole []log, by string,
) ([]log, error) {
	if others := rpc.Avoiding(by); !others.AvoidsAll() {
		logs, _, err := c.list(ctx, others, from, to, listing{contracts: l.contracts, isChecked: l.isChecked, isCompared: true})
		if err == nil {
			return c.withMissing(whole, logs, by, l.half), nil
		}
	}
	if l.isCounted {
		return whole, nil
	}
	middle := from + (to-from)/2
	first, voices, err := c.list(ctx, rpc, from, middle, l)
	if err != nil {
		return nil, err
	}
	second, others, err := c.list(ctx, rpc, middle+1, to, l)
	if err != nil {
		return nil, err
	}
	completed := c.withMissing(whole, slices.Concat(first, second), by, l.half)
	if voices = append(voices, others...); len(completed) > len(whole) && slices.Equal(slices.Compact(voices), []string{by}) {
		c.faulty.Mark(by) // its own lists contradict it
	}
	return completed, nil
}

// withMissing adds missing logs to an endpoint's list of some length, or records that the list was whole.
func (c *Chain) withMissing(whole, logs []log, by string, length int) []log {
	missing := unlisted(logs, whole)
	if len(missing) == 0 {
		c.rpc.Capabilities(by).FoundWhole(length)
		return whole
	}
	return merged([][]log{whole, missing})
}

// longPast is how far below the newest block a search must end to do without a header that shows the node's progress:
// endpoints that far behind the others are not asked (jsonrpc.Client.CompareHeads).
const longPast = 20_000

// listAtOnce makes one search and returns the endpoint that answered it, with the length of its list.
func (c *Chain) listAtOnce(
	ctx context.Context, rpc *jsonrpc.Client, from, to uint64, l listing,
) (logs []log, by string, length int, err error) {
	newest := c.newest.Load()
	isAlone := l.isChecked || newest != nil && to+longPast <= uint64(newest.Number)
	err = c.searchBy(l.contracts, func(r refinements) error {
		lists := make([][]log, len(r.contracts))
		var calls []*jsonrpc.Call
		for i, each := range r.contracts {
			filter := logFilter{From: new(Quantity(from)), To: new(Quantity(to)), Address: each, Topics: r.topics}
			asked := filter.call(&lists[i], c.reach(from))
			asked.Reach.Blocks = to - from + 1
			calls = append(calls, asked)
		}
		if !isAlone { // a lagging node answers with the logs it has: skip nodes without the last block
			var end *header
			known := existingHeaderCall(&end, Quantity(to))
			known.Reach = c.reach(to)
			calls = append(calls, known)
		}
		err := rpc.All(ctx, calls...)
		isOther := func(call *jsonrpc.Call) bool { return call.By != calls[0].By } // if none accepts batches
		for asked := rpc; err == nil && slices.ContainsFunc(calls, isOther); {
			if asked = asked.Avoiding(calls[0].By); asked.AvoidsAll() {
				return &upstream.Error{Class: upstream.Rejected, Err: errors.New("no endpoint has both the logs and the last block")}
			}
			err = asked.All(ctx, calls...)
		}
		by, logs, length = calls[0].By, merged(lists), 0
		for _, list := range lists {
			length = max(length, len(list))
		}
		return err
	})
	return ofProtocol(logs, by), by, length, err
}

// narrower returns how many blocks to search after an error: half of span, but at least one, if span held more logs
// than endpoints return at once, else span.
func narrower(err error, span uint64) uint64 {
	if _, is := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.ResultLimit }); !is {
		return span
	}
	return max(span/2, 1)
}

// reach returns the reach of a call that reads from a block on.
func (c *Chain) reach(from uint64) jsonrpc.Reach {
	reach := jsonrpc.Reach{Oldest: from}
	if newest := c.newest.Load(); newest != nil {
		reach.Depth = uint64(newest.Number) - min(from, uint64(newest.Number))
	}
	return reach
}
