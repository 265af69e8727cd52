package evm

import (
	"context"
	"slices"

	"crossgate/chain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// leastTimed is from how many blocks on a range is searched where the times of logs are told. Shorter ones are those of
// chains that are followed: most hold nothing, and somebody may wait for the quickest endpoint.
const leastTimed = 256

// logTimes tells whether a list of logs has their blocks' times.
var logTimes = jsonrpc.Part{Name: jsonrpc.Times, In: func(result any) (has, told bool) {
	logs := *result.(*[]log)
	lacks := slices.ContainsFunc(logs, func(l log) bool { return l.BlockTimestamp == 0 })
	return !lacks, len(logs) > 0
}}

// searchFrom returns how many blocks to search at once from one on, and the context to do so with. What has to be timed
// is searched for at endpoints that tell the times of logs, as far as that takes fewer calls: where they search fewer
// blocks at once than others, the headers that are saved have to outnumber the searches that are added.
func (c *Chain) searchFrom(ctx context.Context, from uint64, isTimed bool) (asking context.Context, most uint64) {
	reach, expected := c.reach(from), c.density.now()
	most = c.rpc.Search(ctx, getLogs, reach, expected)
	if !isTimed {
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

// isTimedElsewhere reports whether logs that were listed without times are to be listed again: the endpoint was not
// known to leave them out, another one may tell them, and that takes fewer searches than there are headers to be read.
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
