package evm

import (
	"context"
	"fmt"
	"sync"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream/jsonrpc"
)

// branch returns the headers of blocks from to to, each the parent of the next. Headers read since the newest block was
// seen are not requested again.
func (c *Chain) branch(ctx context.Context, rpc *jsonrpc.Client, from, to uint64) ([]*header, error) {
	headers, missing, newest := make([]*header, to-from+1), []uint64(nil), c.newest.Load()
	for i := range headers {
		number := from + uint64(i)
		if headers[i] = c.read.of(number); newest != nil && uint64(newest.Number) == number {
			headers[i] = newest
		}
		if headers[i] == nil || c.isDoubtful(headers[i]) {
			missing = append(missing, number)
		}
	}
	read, err := c.headersOf(ctx, rpc, missing...)
	if err != nil {
		return nil, err
	}
	for _, h := range read {
		headers[uint64(h.Number)-from] = h
	}
	for i := 1; i < len(headers); i++ {
		if headers[i].ParentHash != headers[i-1].Hash {
			c.read.forget() // one of them was read before the other's branch existed
			return nil, fmt.Errorf("chain %d: blocks %d and %d are on different branches", c.chain.ID, headers[i-1].Number, headers[i].Number)
		}
	}
	return headers, nil
}

// headersOf returns blocks by their numbers. A header that does not give its hash is doubted where others did.
func (c *Chain) headersOf(ctx context.Context, rpc *jsonrpc.Client, numbers ...uint64) ([]*header, error) {
	headers, calls := make([]*header, len(numbers)), make([]*jsonrpc.Call, len(numbers))
	for i, number := range numbers {
		calls[i] = existingHeaderCall(&headers[i], Quantity(number))
		calls[i].Doubt = func(result any) bool {
			c.seeFilter(*result.(**header))
			return c.isDoubtful(*result.(**header))
		}
		calls[i].Same = func(a, b any) bool { return (*a.(**header)).isLike(*b.(**header)) }
	}
	err := rpc.All(ctx, calls...)
	c.faulty.Judge(calls...)
	for i, call := range calls {
		if err == nil {
			headers[i] = headers[i].saidBy(call.By)
		}
	}
	return headers, err
}

// tipEvents reads the newest blocks one by one, each with evidence that its list of logs comes from a node that has the
// block: a header whose filter rules out the protocol's logs needs no list; the others are listed by their hash
// (EIP-234), which a node without the block cannot do. An empty list that the filter contradicts is checked against the
// block's receipts.
func (c *Chain) tipEvents(ctx context.Context, from, to uint64, contracts []chain.Address) ([]order.Event, error) {
	rpc, since := c.rpc.Avoiding(c.faulty.Names()...), c.read.since()
	headers, err := c.branch(ctx, rpc, from, to)
	if err != nil {
		return nil, fmt.Errorf("blocks %d to %d: %w", from, to, err)
	}
	c.read.keep(headers[len(headers)-1], since)
	var suspects []*header
	for _, h := range headers {
		isUnsaid := !h.isProven && !h.Bloom.HasBits() // such a filter may only show that nodes leave it empty
		if c.mayHold(h, contracts) || isUnsaid {
			suspects = append(suspects, h)
		}
	}
	lists, err := c.logsIn(ctx, rpc, suspects, contracts)
	if err != nil {
		return nil, fmt.Errorf("logs of blocks %d to %d: %w", from, to, err)
	}
	var logs []log
	var proven []order.Event
	for i, list := range lists {
		if logs = append(logs, list...); len(list) > 0 || !suspects[i].Bloom.IsSparse() {
			continue
		}
		held, err := c.provenEvents(ctx, suspects[i])
		if err != nil && !isWithoutReceipts(err) { // the filter may have its bits by chance
			return nil, err
		}
		proven = append(proven, held.Events...)
	}
	read, err := c.settledEvents(ctx, logs, c.around(rpc, logs, c.isWholeSwap))
	if err != nil {
		return nil, err
	}
	return order.Sorted(append(read.Events, proven...)), nil
}

// evident is the newest range of blocks, without gaps, that were read one by one. The zero value is empty.
type evident struct {
	mu        sync.Mutex
	from, end uint64
}

// add adds blocks. isAfterList says that those before them were just listed, instead of an earlier branch's.
func (e *evident) add(from, to uint64, isAfterList bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if isAfterList || from > e.end || from < e.from {
		e.from = from
	}
	e.end = to + 1
}

func (e *evident) hold(from, to uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return from >= e.from && to < e.end
}

// mayHold reports whether a block can hold logs of the order protocol. Filters are not believed on a chain where none
// has had a bit so far.
func (c *Chain) mayHold(h *header, contracts []chain.Address) bool {
	c.seeFilter(h)
	return !h.Bloom.Known || !c.hasFilters.Load() || h.Bloom.HoldsAny(contracts, orderTopics)
}

// isDoubtful reports whether a header does not match its hash, although others of the chain did.
func (c *Chain) isDoubtful(h *header) bool { return !h.isProven && c.isSealed.Load() }

// seeFilter records that the chain's headers have filters, and that they match their hashes, if h does.
func (c *Chain) seeFilter(h *header) {
	if h.isProven {
		c.isSealed.Store(true)
	}
	if h.Bloom.HasBits() {
		c.hasFilters.Store(true)
	}
}

func (c *Chain) logsIn(ctx context.Context, rpc *jsonrpc.Client, blocks []*header, contracts []chain.Address) (lists [][]log, err error) {
	lists = make([][]log, len(blocks))
	err = c.searchBy(contracts, func(r refinements) error {
		var calls []*jsonrpc.Call // the same number for each block
		parts := make([][]log, len(blocks)*len(r.contracts))
		for i, h := range blocks {
			for j, each := range r.contracts {
				asked := logFilter{Block: &h.Hash, Address: each, Topics: r.topics}.call(&parts[i*len(r.contracts)+j], c.reach(uint64(h.Number)))
				asked.Reach.Blocks = 1
				asked.Passing = (*jsonrpc.Error).IsBehind
				calls = append(calls, asked)
			}
		}
		err := rpc.All(ctx, calls...)
		for i, part := range parts {
			parts[i] = ofProtocol(part, calls[i].By)
			c.heard(parts[i])
		}
		for i, h := range blocks {
			lists[i] = h.timed(merged(parts[i*len(r.contracts) : (i+1)*len(r.contracts)]))
		}
		return err
	})
	return lists, err
}

// timed sets the block's time in its logs, which saves fetching it if nodes omit it.
func (h *header) timed(logs []log) []log {
	for i := range logs {
		logs[i].BlockTimestamp = stamp(h.Timestamp)
	}
	return logs
}
