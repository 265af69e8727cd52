package evm

import (
	"context"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// logs returns the order protocol's logs of contracts in blocks from to to, in block and log order. A
// range that the endpoints find too wide is searched in parts.
func (c *Chain) logs(ctx context.Context, from, to uint64, contracts ...chain.Address) ([]log, error) {
	contracts = slices.DeleteFunc(slices.Clone(contracts), chain.Address.IsAbsent)
	if len(contracts) == 0 {
		return nil, nil // without an address the filter would mean every contract
	}
	logs, told, err := c.list(ctx, from, to, listing{contracts: contracts, isTimed: true})
	for _, each := range told {
		c.voices.Heard(each)
	}
	return logs, err
}

// mostNarrowings is how often a search is tried with fewer blocks from the same block on: from thousands to one.
const mostNarrowings = 16

// listing is what a list of logs is for.
type listing struct {
	contracts []chain.Address
	isChecked bool // the blocks themselves are going to tell what the list lacks
	isTimed   bool // the times of the logs are wanted, which cost a header each where the list does not tell them
}

// list is logs with who told them. Each search spans as many blocks as the endpoint takes that is asked first; where
// that fails, for being too wide or because another one has to be asked, as many as are known to be possible then.
func (c *Chain) list(ctx context.Context, from, to uint64, l listing) (logs []log, told []upstream.Voice, err error) {
	fitting := to - from + 1 // for what the blocks hold
	for narrowed := 0; from <= to; {
		asking, most := c.searchFrom(ctx, from, l.isTimed)
		span := min(to-from+1, most, fitting)
		part, by, err := c.listAtOnce(asking, from, from+span-1, l)
		if err != nil {
			_, most = c.searchFrom(ctx, from, l.isTimed)
			fitting = min(c.narrower(err, span), most)
			if narrowed++; fitting < span && narrowed <= mostNarrowings && ctx.Err() == nil {
				continue
			}
			return nil, nil, fmt.Errorf("logs of blocks %d to %d: %w", from, from+span-1, err)
		}
		c.density.saw(len(part), span)
		if l.isTimed && c.isTimedElsewhere(ctx, asking, from, span, part) {
			continue
		}
		logs, told = append(logs, part...), append(told, upstream.Voice{From: from, To: from + span - 1, By: by, IsList: true})
		from, narrowed, fitting = from+span, 0, 2*max(fitting, span)
	}
	return logs, told, nil
}

// longPast is how many blocks before the newest one a search ends of which no header shows that the node has come as
// far: endpoints that are that far behind the others are not asked (jsonrpc.Client.CompareHeads).
const longPast = 20_000

// searchFrom returns how many blocks to search at once from one on, and the context to do so with. What nobody waits
// for and has to be timed is searched for at endpoints that tell the times of logs, as far as that takes fewer calls:
// where they search fewer blocks at once than others, the headers that are saved have to outnumber the searches that are
// added.
func (c *Chain) searchFrom(ctx context.Context, from uint64, isTimed bool) (asking context.Context, most uint64) {
	reach, expected := c.reach(from), c.density.now()
	most = c.rpc.Search(ctx, getLogs, reach, expected)
	if !isTimed || !upstream.IsBackground(ctx) {
		return ctx, most
	}
	lacking := c.rpc.Lacking(ctx, getLogs, jsonrpc.Times)
	if len(lacking) == 0 {
		return ctx, most
	}
	timing := upstream.Avoiding(ctx, lacking...)
	timed := c.rpc.Search(timing, getLogs, reach, expected)
	if added := 1/float64(timed) - 1/float64(most); added > c.timing.now() {
		return ctx, most
	}
	return timing, timed
}

// isTimedElsewhere reports whether logs that were listed without times are to be listed again: the endpoint was not known
// to leave them out, another one may tell them, and that takes fewer searches than there are headers to be read.
func (c *Chain) isTimedElsewhere(ctx, asked context.Context, from, span uint64, logs []log) bool {
	untimed := make(map[chain.Hash]bool)
	for _, l := range logs {
		if l.BlockTimestamp == 0 {
			untimed[l.BlockHash] = true
		}
	}
	again, most := c.searchFrom(ctx, from, true)
	isOther := len(upstream.Avoided(again)) > len(upstream.Avoided(asked))
	return isOther && uint64(len(untimed)) > (span+most-1)/most
}

// listAtOnce makes one search, and tells who answered it.
func (c *Chain) listAtOnce(ctx context.Context, from, to uint64, l listing) (logs []log, by string, err error) {
	newest := c.newest.Load()
	isAlone := l.isChecked || newest != nil && to+longPast <= uint64(newest.Number)
	err = c.searchBy(l.contracts, func(r refinements) error {
		lists := make([][]log, len(r.contracts))
		var calls []*jsonrpc.Call
		for i, each := range r.contracts {
			filter := logFilter{From: new(quantity(from)), To: new(quantity(to)), Address: each, Topics: r.topics}
			asked := filter.call(&lists[i], c.reach(from))
			asked.Reach.Blocks = to - from + 1
			calls = append(calls, asked)
		}
		if !isAlone { // a node that lags behind answers with the logs it has: one without the last block is passed over
			var end *header
			known := existingHeaderCall(&end, quantity(to))
			known.Reach = c.reach(to)
			calls = append(calls, known)
		}
		err := c.rpc.All(ctx, calls...)
		by, logs = calls[0].By, merged(lists)
		return err
	})
	return ofProtocol(logs), by, err
}

// narrower is how many blocks to search where span held more logs than endpoints give at once; span for any other
// reason.
func (c *Chain) narrower(err error, span uint64) uint64 {
	said, is := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.ResultLimit })
	if !is {
		return span
	}
	if most, told := said.Results(); told {
		c.density.saw(int(most), span)
	}
	if fitting, told := said.FittingSpan(); told && fitting < span {
		return fitting
	}
	return span / 2
}

// reach is that of a call that reads from a block on.
func (c *Chain) reach(from uint64) jsonrpc.Reach {
	reach := jsonrpc.Reach{Oldest: from}
	if newest := c.newest.Load(); newest != nil {
		reach.Depth = uint64(newest.Number) - min(from, uint64(newest.Number))
	}
	return reach
}

// stateAt is the reach of a call that reads the state of a block.
func (c *Chain) stateAt(block uint64) jsonrpc.Reach {
	reach := c.reach(block)
	reach.State = true
	return reach
}
