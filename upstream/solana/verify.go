package solana

import (
	"context"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

var _ order.Verifier = (*Chain)(nil)

const (
	// ownReadings is how often one endpoint lists the same slots where no other can, and liarReadings how often if it
	// was found wrong lately.
	ownReadings, liarReadings = 4, 8
	// blocksAtOnce is how many whole blocks are in one request.
	blocksAtOnce = 4
)

// Verify reads slots a second time; see order.Verifier. Their transactions are listed and read again, by another
// endpoint where there is one, else by the same one four times, or eight if it was found wrong lately. Equal readings
// are right. Slots with differences are settled by their blocks: a transaction in one counts. One that no list ever
// names stays unknown: finding it would take all blocks, some megabytes each.
func (c *Chain) Verify(ctx context.Context, from, to uint64, first []order.Event) (v order.Proof, err error) {
	ctx = upstream.Background.For(ctx)
	heard := c.attested.Of(from, to)
	tellers := jsonrpc.NamesOf(heard)
	second, by, err := c.readings(ctx, from, to, tellers)
	if err != nil {
		return v, err
	}
	read := map[string][]order.Event{by: slices.Clone(second)}
	isApart := c.rpc.AreApart(from, to, heard, attestedBy(from, to, by))
	// It is not known any more which endpoint read them first, or some of them were read by one alone.
	if len(tellers) == 0 || !isApart && !c.rpc.Avoiding(by).AvoidsAll() {
		again, other, err := c.readings(ctx, from, to, []string{by})
		if err != nil {
			return v, err
		}
		known := places(second)
		for i, place := range places(again) {
			if !slices.Contains(known, place) {
				second = append(second, again[i])
			}
		}
		isApart = c.rpc.AreVoices(by, other)
		tellers, read[other] = []string{by}, again
	}
	if isApart {
		v.Standing = order.Corroborated
	}
	slots := order.DifferingBlocks(places(first), places(second))
	for _, e := range first {
		if !slices.Contains(slots, e.At.Block) {
			v.Events = append(v.Events, e)
		}
	}
	for part := range slices.Chunk(slots, blocksAtOnce) {
		events, err := c.eventsInBlocks(ctx, part, tellers)
		if err != nil {
			return v, fmt.Errorf("events of blocks %d to %d: %w", part[0], part[len(part)-1], err)
		}
		v.Events = append(v.Events, events...)
	}
	sortEvents(v.Events)
	truth := places(v.Events)
	for by, events := range read {
		if len(order.DifferingBlocks(truth, places(events))) > 0 {
			c.attested.MarkFaulty(by)
		}
	}
	for _, slot := range order.DifferingBlocks(truth, places(first)) {
		c.attested.MarkFaultyAt(slot)
	}
	v.Wrong = c.attested.Unreported()
	return v, nil
}

func attestedBy(from, to uint64, name string) []jsonrpc.Attestation {
	return []jsonrpc.Attestation{{From: from, To: to, By: name, IsList: true}}
}

// readings are the events of slots as an endpoint lists them, and its name: one that had not read them, while it
// answers; else as its lists together show them.
func (c *Chain) readings(ctx context.Context, from, to uint64, heard []string) (events []order.Event, by string, err error) {
	liars := c.attested.Faulty()
	avoided := slices.Concat(heard, liars)
	rpc := c.rpc.Avoiding(avoided...)
	if other := c.rpc.Other(listSignatures, avoided...); other != nil {
		if events, by, err = c.listedEvents(ctx, other, rpc, from, to); err == nil {
			return events, by, nil
		}
	}
	wanted := 1
	for read := 0; read < wanted; read++ {
		var again []order.Event
		if again, by, err = c.listedEvents(ctx, rpc, rpc, from, to); err != nil {
			return nil, "", err
		}
		known := places(events)
		for i, place := range places(again) {
			if !slices.Contains(known, place) {
				events = append(events, again[i])
			}
		}
		switch {
		case slices.Contains(liars, by):
			wanted = liarReadings
		case by == "" || slices.Contains(heard, by):
			wanted = ownReadings
		}
	}
	return events, by, nil
}

// eventsInBlocks returns the events of the transactions in the blocks of slots, as shown by two endpoints where there
// are two, first by one that had not read them.
func (c *Chain) eventsInBlocks(ctx context.Context, slots []uint64, tellers []string) ([]order.Event, error) {
	listed, shown, err := c.shown(ctx, c.rpc.Avoiding(tellers...), slots)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(tellers, shown) { // which it would be without others
		others, _, err := c.shown(ctx, c.rpc.Avoiding(shown), slots)
		if err != nil {
			return nil, err
		}
		listed = append(listed, others...)
	}
	return c.eventsOf(ctx, c.rpc.Avoiding(tellers...), distinct(listed))
}

// shown returns the transactions of the order protocol in the blocks of slots, and one of the endpoints that showed
// them.
func (c *Chain) shown(ctx context.Context, rpc *jsonrpc.Client, slots []uint64) (listed []signature, by string, err error) {
	var programs []chain.Address
	for _, each := range c.programs {
		programs = append(programs, each.address)
	}
	blocks := make([]*block, len(slots))
	calls := make([]*jsonrpc.Call, len(slots))
	for i, slot := range slots {
		calls[i] = c.at(slot, namedBlockCall(&blocks[i], slot))
	}
	rpc.Each(ctx, calls...)
	for i, call := range calls {
		if c.isGone(call.Err, slots[i]) {
			return nil, "", &order.UnreadableError{Block: slots[i], Err: call.Err}
		}
		if call.Err != nil {
			return nil, "", call.Err
		}
	}
	for i, in := range blocks {
		for _, tx := range in.Transactions {
			if tx.names(programs) {
				listed = append(listed, signature{Signature: tx.Transaction.Signatures[0], Slot: slots[i]})
			}
		}
	}
	return listed, calls[0].By, nil
}

// places are those of events, which say in which transaction they are.
func places(events []order.Event) []order.Place {
	return order.PlacesOf(events, func(e order.Event) string {
		return e.At.Tx.String() + " " + order.Statement(e.Order, e.Fact)
	})
}
