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

// provenSpan is how many blocks are proven by their headers' filters where two lists without logs agree: more is not
// worth the calls.
const provenSpan = 256

var _ order.Verifier = (*Chain)(nil)

// Verify reads blocks a second time; see order.Verifier. Their logs are listed again, by another endpoint where there
// is one. Lists that agree on some logs are right. The blocks decide where lists differ, where an endpoint that was
// found wrong lately has a part in them, or where both are empty and the range is short and not of the tip: by the
// filter in each header, and the receipts of each block that may hold logs, proven by the root in its header. Where a
// chain's nodes have no such receipts (TRON's), any listed log counts that its transaction's receipt confirms; a
// single endpoint lists the blocks several times.
func (c *Chain) Verify(ctx context.Context, from, to uint64, first []order.Event) (v order.Proof, err error) {
	ctx = upstream.Background.For(ctx)
	contracts := c.emitters()
	if len(contracts) == 0 {
		return order.Proof{Events: first, Standing: order.Intrinsic}, nil
	}
	heard := c.attested.Of(from, to)
	names := jsonrpc.NamesOf(heard)
	isShort := to-from < provenSpan
	// Where an empty list would not settle it, nodes need not show that they have come as far.
	isChecked := len(first) == 0 && isShort && c.filters.Load() == filtersUsual
	list, by, err := c.listings(ctx, from, to, contracts, slices.Concat(names, c.attested.Faulty()), isChecked)
	if err != nil {
		return v, err
	}
	read := []relisted{c.relistedOf(list, by)}
	isApart := c.rpc.AreApart(from, to, heard, by)
	// It is not known any more which endpoint read them first, or some of them were read by one alone.
	if len(heard) == 0 || !isApart && !c.rpc.Avoiding(jsonrpc.NamesOf(by)...).AvoidsAll() {
		again, others, err := c.listings(ctx, from, to, contracts, slices.Concat(jsonrpc.NamesOf(by), c.attested.Faulty()), isChecked)
		if err != nil {
			return v, err
		}
		isApart = c.rpc.AreApart(from, to, by, others)
		read = append(read, c.relistedOf(again, others))
		list, names, by = append(list, unlisted(again, list)...), jsonrpc.NamesOf(by), append(by, others...)
	}
	if isApart {
		v.Standing = order.Corroborated
	}
	before, agree := placesOfEvents(first), true
	seen := slices.Clone(before)
	for _, r := range read {
		agree = agree && r.isReadable && len(order.DifferingBlocks(r.places, before)) == 0
		seen = append(seen, r.places...)
	}
	doubted := slices.ContainsFunc(c.attested.Faulty(), func(liar string) bool {
		return slices.Contains(names, liar) || slices.ContainsFunc(by, func(v jsonrpc.Attestation) bool { return v.By == liar })
	})
	if agree && !doubted && (len(first) > 0 || !isShort || c.attested.HadEvidence(from, to)) {
		return order.Proof{Events: first, Standing: v.Standing, Wrong: c.attested.Unreported()}, nil
	}
	blocks, err := c.suspects(ctx, from, to, contracts, seen)
	if err != nil {
		return v, err
	}
	for _, h := range blocks {
		events, err := c.eventsOfBlock(ctx, h, contracts, slices.Concat(list, sightings(first)))
		if err != nil {
			return v, fmt.Errorf("events of block %d: %w", h.Number, err)
		}
		v.Events = append(v.Events, events...)
	}
	c.blame(placesOfEvents(v.Events), before, heard, read)
	v.Wrong = c.attested.Unreported()
	return v, nil
}

// relisted is a list of a second reading, with the endpoints that gave its parts.
type relisted struct {
	places     []order.Place
	by         []jsonrpc.Attestation
	isReadable bool // else it agrees with nothing
}

func (c *Chain) relistedOf(list []log, by []jsonrpc.Attestation) relisted {
	places, err := c.placesOf(list)
	return relisted{places, by, err == nil}
}

// blame marks the endpoints whose readings of blocks differ from the truth. Two that lacked the same may be one
// provider.
func (c *Chain) blame(truth, first []order.Place, heard []jsonrpc.Attestation, second []relisted) {
	for _, r := range second {
		differing := order.DifferingBlocks(first, r.places)
		for _, block := range order.DifferingBlocks(truth, r.places) {
			again, before := jsonrpc.LatestOf(r.by, block), jsonrpc.LatestOf(heard, block)
			c.attested.MarkFaulty(again)
			if before != "" && again != "" && !slices.Contains(differing, block) {
				c.rpc.SameGaps(again, before)
			}
		}
	}
	for _, block := range order.DifferingBlocks(truth, first) {
		c.attested.MarkFaultyAt(block)
	}
}

func placesOfEvents(events []order.Event) []order.Place {
	return order.PlacesOf(events, func(e order.Event) string { return saidAlone(e.Order, e.Fact) })
}

// placesOf returns the places of the logs of orders.
func (c *Chain) placesOf(logs []log) ([]order.Place, error) {
	var places []order.Place
	for _, l := range logs {
		facts, err := c.facts(&receipt{TransactionHash: l.TransactionHash, Logs: []log{l}})
		if err != nil {
			return nil, err
		}
		for _, fact := range facts {
			places = append(places, order.Place{
				Block: uint64(l.BlockNumber), BlockHash: l.BlockHash, LogIndex: uint(l.Index), Said: saidAlone(fact.Order, fact.Fact),
			})
		}
	}
	return places, nil
}

// saidAlone is a fact without what other logs of its transaction add to it.
func saidAlone(id order.ID, fact order.Fact) string {
	switch f := fact.(type) {
	case order.Created:
		f.Preswap = nil
		fact = f
	case order.Claimed:
		f.Submission = chain.Hash{}
		fact = f
	case order.Swapped:
		if f.Affiliate != nil {
			f.Affiliate = &order.Affiliate{Amount: f.Affiliate.Amount}
		}
		if f.Affiliate != nil && f.Affiliate.Amount.IsZero() {
			f.Affiliate = nil
		}
		id, fact = order.ID{}, f // its place is its name
	}
	return order.Statement(id, fact)
}

// suspects returns the headers of the blocks that may hold logs: by their filters, where the chain has them, and
// those with a log in some list.
func (c *Chain) suspects(ctx context.Context, from, to uint64, contracts []chain.Address, seen []order.Place) ([]*header, error) {
	var headers []*header
	if c.filters.Load() == filtersUsual || to-from < provenSpan {
		var err error
		if headers, err = c.branch(ctx, c.rpc, from, to); err != nil {
			return nil, err
		}
	}
	for _, h := range headers {
		c.seeFilter(h)
	}
	if c.filters.Load() != filtersUsual {
		return c.headersOf(ctx, seen)
	}
	return slices.DeleteFunc(headers, func(h *header) bool {
		isSeen := slices.ContainsFunc(seen, func(p order.Place) bool { return p.BlockHash == h.Hash })
		return !isSeen && !c.mayHold(h, contracts)
	}), nil
}

// headersOf returns the blocks at places, in ascending order.
func (c *Chain) headersOf(ctx context.Context, places []order.Place) ([]*header, error) {
	var numbers []uint64
	for _, p := range places {
		numbers = append(numbers, p.Block)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	headers := make([]*header, len(numbers))
	calls := make([]*jsonrpc.Call, len(numbers))
	for i, number := range numbers {
		calls[i] = existingHeaderCall(&headers[i], Quantity(number))
	}
	return headers, c.rpc.All(ctx, calls...)
}

// listings is list, with isChecked, by other endpoints than some: by one of another provider alone while that answers,
// else by whichever does.
func (c *Chain) listings(
	ctx context.Context, from, to uint64, contracts []chain.Address, avoided []string, isChecked bool,
) (logs []log, by []jsonrpc.Attestation, err error) {
	asked := listing{contracts: contracts, isChecked: isChecked}
	if other := c.rpc.Other(getLogs, avoided...); other != nil {
		if logs, by, err = c.list(ctx, other, from, to, asked); err == nil {
			return logs, by, nil
		}
	}
	return c.listAgain(ctx, from, to, asked, avoided)
}

// listAgain is list by endpoints, some of them asked last. Where these answer, and the chain's headers cannot show
// gaps of a list, it is the union of several lists.
func (c *Chain) listAgain(
	ctx context.Context, from, to uint64, asked listing, avoided []string,
) (logs []log, by []jsonrpc.Attestation, err error) {
	const ownListings = 8
	for range ownListings {
		again, voices, err := c.list(ctx, c.rpc.Avoiding(avoided...), from, to, asked)
		if err != nil {
			return nil, nil, err
		}
		logs, by = append(logs, unlisted(again, logs)...), append(by, voices...)
		isAvoided := func(v jsonrpc.Attestation) bool { return slices.Contains(avoided, v.By) }
		if c.filters.Load() == filtersUsual || !slices.ContainsFunc(voices, isAvoided) {
			break
		}
	}
	return logs, by, nil
}

// unlisted returns the logs that are not in a list.
func unlisted(logs, list []log) []log {
	type place struct {
		block chain.Hash
		index Quantity
	}
	listed := make(map[place]bool, len(list))
	for _, l := range list {
		listed[place{l.BlockHash, l.Index}] = true
	}
	return slices.DeleteFunc(slices.Clone(logs), func(l log) bool { return listed[place{l.BlockHash, l.Index}] })
}

// sightings are logs that lead to the transactions of events.
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

// eventsOfBlock returns a block's events as its receipts prove them. Where they cannot, those of the transactions in
// a list by its hash, and of seen ones that have a receipt in this block.
func (c *Chain) eventsOfBlock(ctx context.Context, h *header, contracts []chain.Address, seen []log) ([]order.Event, error) {
	if events, err := c.provenEvents(ctx, h); err == nil || !isWithoutReceipts(err) {
		return events, err
	}
	lists, _, err := c.logsIn(ctx, c.rpc, []*header{h}, contracts)
	if err != nil {
		return nil, err
	}
	logs := lists[0]
	seen = h.timed(slices.DeleteFunc(slices.Clone(seen), func(l log) bool { return l.BlockHash != h.Hash }))
	for _, l := range unlisted(seen, logs) {
		_, err := c.eventsAround(ctx, c.rpc, []log{l})
		if errors.As(err, new(*order.UnreadableError)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		logs = append(logs, l)
	}
	slices.SortFunc(logs, func(a, b log) int { return cmp.Compare(a.Index, b.Index) })
	read, err := c.eventsAround(ctx, c.rpc, logs)
	return read.Events, err
}

// provenEvents returns a block's events as its receipts prove them; errors are those of receiptsOf, or
// *order.UnreadableError.
func (c *Chain) provenEvents(ctx context.Context, h *header) ([]order.Event, error) {
	receipts, err := c.receiptsOf(ctx, h)
	if err != nil {
		return nil, err
	}
	var events []order.Event
	for i := range receipts {
		facts, err := c.facts(&receipts[i])
		if err != nil {
			return nil, &order.UnreadableError{Block: uint64(h.Number), Err: err}
		}
		events = append(events, c.events(&receipts[i], facts, uint64(h.Timestamp))...)
	}
	return events, nil
}
