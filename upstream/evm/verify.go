package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// provenSpan is the longest range of blocks that is proven by its headers' filters if two lists agree on no logs: a
// longer one is not worth the calls.
const provenSpan = 256

var _ order.TellerSource = (*Chain)(nil)

// Verify reads blocks a second time; see order.Source. Endpoints of two providers list their logs. Lists that agree
// with the first reading on some logs are right. The blocks themselves decide if lists differ, if there is only one, by
// an endpoint recently found wrong, or if all are empty and the range is short and not of the tip: by the filter in
// each header, and the receipts of each block that may hold logs. If a chain's nodes have no receipts that prove a
// block (TRON's), any listed log counts that its transaction's receipt confirms; a single endpoint lists several times.
func (c *Chain) Verify(ctx context.Context, from, to uint64, first []order.Event) (v order.Evidence, err error) {
	ctx = upstream.Background.For(ctx)
	contracts := c.emitters()
	if len(contracts) == 0 {
		return order.Evidence{Events: first, Standing: order.Intrinsic}, nil
	}
	isShort := to-from < provenSpan
	// If an empty list would not settle it, nodes need not show that they have come as far.
	isChecked := len(first) == 0 && isShort && c.hasFilters.Load()
	lists, err := c.listings(ctx, from, to, listing{contracts: contracts, isChecked: isChecked})
	if err != nil {
		return v, err
	}
	before := placesOfEvents(first)
	var listed []log
	seen, read, agree := slices.Clone(before), make(map[string][]order.Place), true
	for _, each := range lists {
		places, err := c.placesOf(each.Said)
		agree = agree && err == nil && len(order.DifferingBlocks(places, before)) == 0
		seen, read[each.By] = append(seen, places...), places
		listed = append(listed, each.Said...)
	}
	isDoubted := len(lists) < 2 && slices.Contains(c.faulty.Names(), lists[0].By)
	if len(lists) > 1 {
		v.Standing = order.Corroborated
	}
	if agree && !isDoubted && (len(first) > 0 || !isShort || c.evident.hold(from, to)) {
		v.Events = first
		return c.whole(ctx, v, lists)
	}
	blocks, err := c.suspects(ctx, from, to, contracts, seen)
	if err != nil {
		return v, err
	}
	var settled []uint64
	listed = append(listed, sightings(first)...) // in addition to logs of the same place, which contain more
	for _, h := range blocks {
		read, held, err := c.eventsOfBlock(ctx, h, contracts, listed)
		if err != nil {
			return v, fmt.Errorf("events of block %d: %w", h.Number, err)
		}
		v.Events, v.Standing = append(v.Events, read.Events...), min(v.Standing, read.Standing)
		if held > order.Single || len(lists) < 2 {
			settled = append(settled, uint64(h.Number))
		}
	}
	c.blame(placesOfEvents(v.Events), read, settled)
	v.Wrong = c.faulty.Unreported()
	return v, nil
}

// whole completes a proof: two endpoints confirm the parts of events that come from other logs of their transactions,
// which lists do not show, and headers the times of blocks that lists omit or date unlike the first reading. It marks
// the endpoints whose lists the headers contradict.
func (c *Chain) whole(ctx context.Context, p order.Evidence, lists []jsonrpc.Heard[[]log]) (order.Evidence, error) {
	told := make(map[chain.Hash][]stamp)
	for _, each := range lists {
		for _, l := range each.Said {
			told[l.BlockHash] = append(told[l.BlockHash], l.BlockTimestamp)
		}
	}
	var more, others []order.Event
	times, hasMore := newAttestation(), make(map[chain.TxHash]bool)
	for _, e := range p.Events {
		swap, _ := e.Fact.(order.Swapped)
		hasMore[e.At.Tx] = hasMore[e.At.Tx] || len(lists) > 1 && (is[order.Created](e.Fact) || is[order.Claimed](e.Fact) || swap.Affiliate != nil)
	}
	for _, e := range p.Events {
		if hasMore[e.At.Tx] {
			more = append(more, e)
		} else {
			others = append(others, e)
		}
		isOther := func(s stamp) bool { return uint64(s) != e.At.Time }
		if stamps := told[e.At.BlockHash]; slices.ContainsFunc(stamps, isOther) && slices.Max(stamps) > 0 {
			times.addTime(e.At.BlockHash)
		}
	}
	a := c.around(c.rpc, sightings(more), nil)
	a.isTwice, a.attested = true, times
	read, _, err := a.read(ctx)
	if err != nil {
		return p, err
	}
	times.apply(others)
	p.Events, p.Standing = order.Sorted(append(others, read.Events...)), min(p.Standing, read.Standing)
	for block, call := range times.times {
		timed := *call.Out.(**header)
		p.Standing = min(p.Standing, standingOf(call, timed.isProven))
		isWrong := func(l log) bool {
			return l.BlockHash == block && timed.isProven && l.BlockTimestamp > 0 && Quantity(l.BlockTimestamp) != timed.Timestamp
		}
		for _, each := range lists {
			if slices.ContainsFunc(each.Said, isWrong) {
				c.faulty.Mark(each.By)
			}
		}
	}
	p.Wrong = c.faulty.Unreported()
	return p, ctx.Err()
}

// blame marks the endpoints whose lists differ from the truth in settled blocks. Two that lacked the same may be one
// provider.
func (c *Chain) blame(truth []order.Place, read map[string][]order.Place, settled []uint64) {
	wrong := make(map[uint64]string) // endpoints by blocks
	for by, places := range read {
		for _, block := range order.DifferingBlocks(truth, places) {
			if !slices.Contains(settled, block) {
				continue
			}
			c.faulty.Mark(by)
			if other := wrong[block]; other != "" && !slices.Contains(order.DifferingBlocks(places, read[other]), block) {
				c.rpc.SameGaps(by, other)
			}
			wrong[block] = by
		}
	}
}

func placesOfEvents(events []order.Event) []order.Place {
	return order.PlacesOf(events, func(e order.Event) string { return e.At.Tx.String() + order.LogStatement(e.Order, e.Fact) })
}

func (c *Chain) placesOf(logs []log) ([]order.Place, error) {
	var events []order.Event
	for _, l := range logs {
		alone := byTransaction([]log{l})[0]
		facts, err := c.facts(alone)
		if err != nil {
			return nil, err
		}
		events = append(events, c.events(alone, facts, 0)...)
	}
	return placesOfEvents(events), nil
}

// isAmong reports whether the truth contains everything that a log says by itself.
func (c *Chain) isAmong(l log, truth []order.Place) bool {
	places, err := c.placesOf([]log{l})
	return err == nil && !slices.ContainsFunc(places, func(p order.Place) bool { return !slices.Contains(truth, p) })
}

// suspects returns the headers of the blocks that may hold logs: by their filters, if the chain has them, and those
// with a log in some list.
func (c *Chain) suspects(ctx context.Context, from, to uint64, contracts []chain.Address, seen []order.Place) ([]*header, error) {
	var headers []*header
	if c.hasFilters.Load() || to-from < provenSpan {
		var err error
		if headers, err = c.branch(ctx, c.rpc, from, to); err != nil {
			return nil, err
		}
	}
	if !c.hasFilters.Load() {
		return c.headersOf(ctx, c.rpc, order.DifferingBlocks(seen, nil)...)
	}
	return slices.DeleteFunc(headers, func(h *header) bool {
		isSeen := slices.ContainsFunc(seen, func(p order.Place) bool { return p.BlockHash == h.Hash })
		return !isSeen && !c.mayHold(h, contracts)
	}), nil
}

// ownListings is how often an endpoint lists blocks where their headers cannot show gaps of a list, and it is alone or
// was found wrong lately.
const ownListings = 8

// listings returns lists by endpoints of two providers, if these answer.
func (c *Chain) listings(ctx context.Context, from, to uint64, asked listing) ([]jsonrpc.Heard[[]log], error) {
	own := 1
	if !c.hasFilters.Load() {
		own = ownListings
	}
	return jsonrpc.Lists[[]log]{
		Method: getLogs, Faulty: &c.faulty, Times: own, LiarTimes: own,
		List: func(rpc *jsonrpc.Client) ([]log, string, error) {
			logs, by, err := c.list(ctx, rpc, from, to, asked)
			if by = slices.Compact(by); len(by) > 1 {
				by = nil // none of them listed all
			}
			return logs, cmp.Or(by...), err
		},
		Add: func(union, more []log) []log { return append(union, unlisted(more, union)...) },
	}.Hear(c.rpc)
}

func unlisted(logs, list []log) []log {
	place := func(l log) order.Place { return order.Place{BlockHash: l.BlockHash, LogIndex: uint(l.Index)} }
	listed := make(map[order.Place]bool, len(list))
	for _, l := range list {
		listed[place(l)] = true
	}
	return slices.DeleteFunc(slices.Clone(logs), func(l log) bool { return listed[place(l)] })
}

// sightings returns logs that lead to the transactions of events.
func sightings(events []order.Event) []log {
	var logs []log
	for _, e := range events {
		if raw := e.At.Tx.Bytes(); len(raw) == len(chain.Hash{}) {
			logs = append(logs, log{
				TransactionHash: chain.Hash(raw), BlockHash: e.At.BlockHash, BlockNumber: Quantity(e.At.Block),
				Index: Quantity(e.At.LogIndex), BlockTimestamp: stamp(e.At.Time),
			})
		}
	}
	return logs
}

// eventsOfBlock returns a block's events, proven by its receipts, and the standing of these. If they cannot prove them,
// it returns those of the transactions that are listed.
func (c *Chain) eventsOfBlock(
	ctx context.Context, h *header, contracts []chain.Address, seen []log,
) (read order.Evidence, held order.Standing, err error) {
	if read, err = c.provenEvents(ctx, h); err == nil {
		held = read.Standing
		read, err = c.Attest(ctx, read.Events)
		read.Standing = min(read.Standing, held)
	}
	if !isWithoutReceipts(err) {
		return read, held, err
	}
	c.rpc.OneByOne(getLogs, func(alone *jsonrpc.Client) bool {
		read, held, err = c.listedEvents(ctx, alone, h, contracts, seen)
		return err == nil || ctx.Err() != nil
	})
	return read, held, err
}

// listedEvents returns the events of the transactions in a list of a block by its hash, and of those in seen that have
// a receipt in this block, and the standing of the receipts. *order.UnreadableError if they do not have all that the
// list has.
func (c *Chain) listedEvents(
	ctx context.Context, rpc *jsonrpc.Client, h *header, contracts []chain.Address, seen []log,
) (read order.Evidence, held order.Standing, err error) {
	lists, err := c.logsIn(ctx, rpc, []*header{h}, contracts)
	if err != nil {
		return read, held, err
	}
	isElsewhere := func(l log) bool { return l.BlockHash != h.Hash }
	a := c.aroundAll(c.rpc, h.timed(slices.DeleteFunc(slices.Concat(lists[0], seen), isElsewhere)))
	if read, held, err = a.read(ctx); errors.As(err, new(*order.UnreadableError)) {
		a.transactions = slices.DeleteFunc(a.transactions, func(t *transaction) bool { return t.receipt == nil })
		read, held, err = a.read(ctx)
	}
	truth := placesOfEvents(read.Events)
	if err == nil && slices.ContainsFunc(lists[0], func(l log) bool { return !c.isAmong(l, truth) }) {
		err = &order.UnreadableError{Block: uint64(h.Number), Err: errors.New("receipts lack listed events")}
	}
	order.Sorted(read.Events)
	return read, held, err
}

// provenEvents returns a block's events, proven by its receipts. Its errors are those of receiptsOf and
// *order.UnreadableError.
func (c *Chain) provenEvents(ctx context.Context, h *header) (read order.Evidence, err error) {
	receipts, known, err := c.receiptsOf(ctx, h)
	if err != nil {
		return read, err
	}
	read.Standing = known
	for i := range receipts {
		facts, err := c.facts(&receipts[i])
		if err != nil {
			return order.Evidence{}, &order.UnreadableError{Block: uint64(h.Number), Err: err}
		}
		read.Events = append(read.Events, c.events(&receipts[i], facts, uint64(h.Timestamp))...)
	}
	return read, nil
}

// Tellers implements order.TellerSource. The block's hash distinguishes the transaction from the same one on a
// dropped branch.
func (c *Chain) Tellers(tx chain.TxHash, block chain.Hash) []string {
	return c.sources.Of(string(append(tx.Bytes(), block[:]...)))
}

func (c *Chain) heard(logs []log) {
	for _, l := range logs {
		c.sources.Add(string(append(l.TransactionHash[:], l.BlockHash[:]...)), l.by)
	}
}

func (c *Chain) heardReceipt(r *receipt, by string) {
	c.sources.Add(string(append(r.TransactionHash[:], r.BlockHash[:]...)), by)
}
