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

var _ order.TellerSource = (*Chain)(nil)

const (
	// ownReadings is how often one endpoint lists the same slots if no other can, and liarReadings how often each
	// endpoint that was recently found wrong.
	ownReadings, liarReadings = 4, 8
	// blocksAtOnce is how many whole blocks are read in one request.
	blocksAtOnce = 4
)

// Verify reads slots a second time; see order.Source. Endpoints of two providers each list the transactions on their
// own, and are the first to be asked for what these did. If only one answers, it lists them four times; one that was
// recently found wrong, or contradicts itself, eight times or more. Equal readings count as right. Slots with
// differences are settled by their blocks: a transaction in one counts. A transaction that no list names stays unknown:
// finding it would take all blocks, some megabytes each.
func (c *Chain) Verify(ctx context.Context, from, to uint64, first []order.Event) (v order.Evidence, err error) {
	ctx = upstream.Background.For(ctx)
	readings, err := jsonrpc.Lists[[]order.Event]{
		Method: listSignatures, Faulty: &c.faulty, Times: ownReadings, LiarTimes: liarReadings, Add: withMore,
		List: func(lists *jsonrpc.Client) ([]order.Event, string, error) {
			return c.listedEvents(ctx, lists, c.rpc.Preferring(lists.Name()), from, to, false)
		},
		Differ: func(union, said []order.Event) bool {
			return len(order.DifferingBlocks(places(union), places(said))) > 0
		},
	}.Hear(c.rpc)
	if err != nil {
		return v, err
	}
	if len(readings) == 2 {
		v.Standing = order.Corroborated
	}
	var slots []uint64
	for _, each := range readings {
		slots = append(slots, order.DifferingBlocks(places(first), places(each.Said))...)
	}
	slices.Sort(slots)
	slots = slices.Compact(slots)
	v.Events = slices.DeleteFunc(slices.Clone(first), func(e order.Event) bool { return slices.Contains(slots, e.At.Block) })
	isOpen := false
	for part := range slices.Chunk(slots, blocksAtOnce) {
		events, isUnsettled, err := c.eventsInBlocks(ctx, part, readings)
		if err != nil {
			return v, fmt.Errorf("events of blocks %d to %d: %w", part[0], part[len(part)-1], err)
		}
		v.Events, isOpen = append(v.Events, events...), isOpen || isUnsettled
	}
	truth := places(order.Sorted(v.Events))
	for _, each := range readings {
		if !isOpen && len(order.DifferingBlocks(truth, places(each.Said))) > 0 {
			c.faulty.Mark(each.By)
		}
	}
	if isOpen {
		v.Standing = order.Single
	}
	v.Wrong = c.faulty.Unreported()
	return v, nil
}

// withMore adds to a union the events that are not in it.
func withMore(union, more []order.Event) []order.Event {
	known := places(union)
	for i, place := range places(more) {
		if !slices.Contains(known, place) {
			union = append(union, more[i])
		}
	}
	return union
}

// eventsInBlocks returns the events of the transactions in the blocks of slots, as shown by two endpoints if there are
// two. The truth is open if these differ about a transaction or a block or, after readings by two, if only one shows a
// transaction or the block that lacks one.
func (c *Chain) eventsInBlocks(
	ctx context.Context, slots []uint64, readings []jsonrpc.Heard[[]order.Event],
) (events []order.Event, isOpen bool, err error) {
	needsTwo := len(readings) == 2
	rpc := c.rpc.Avoiding(c.faulty.Names()...)
	listed, shown, err := c.shown(ctx, rpc, slots)
	if err != nil {
		return nil, false, err
	}
	if others := c.rpc.Avoiding(shown); !others.AvoidsAll() {
		more, by, err := c.shown(ctx, others, slots)
		if err != nil {
			return nil, false, err
		}
		listed = append(listed, more...)
		isLacking := func(e order.Event) bool {
			isSame := func(s signature) bool { return s.Signature == e.At.Tx }
			return slices.Contains(slots, e.At.Block) && !slices.ContainsFunc(listed, isSame)
		}
		isOpen = needsTwo && by == shown && slices.ContainsFunc(slices.Concat(readings[0].Said, readings[1].Said), isLacking)
	}
	events, asked, err := c.eventsOf(ctx, rpc, distinct(listed), true)
	return events, isOpen || slices.ContainsFunc(asked, func(asked *jsonrpc.Call) bool {
		return asked.Seconded == "" && (needsTwo && asked.Method != getBlock || len(asked.Contradicting()) > 0)
	}), err
}

// shown returns the transactions of the order protocol in the blocks of slots, and one of the endpoints that showed
// them.
func (c *Chain) shown(ctx context.Context, rpc *jsonrpc.Client, slots []uint64) (listed []signature, by string, err error) {
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
			if tx.names(c.programs) {
				listed = append(listed, signature{Signature: tx.Transaction.Signatures[0], Slot: slots[i]})
			}
		}
	}
	return listed, calls[0].By, nil
}

func places(events []order.Event) []order.Place {
	return order.PlacesOf(events, func(e order.Event) string {
		return e.At.Tx.String() + " " + order.Statement(e.Order, e.Fact)
	})
}

// Tellers implements order.TellerSource. No block that was read is ever dropped.
func (c *Chain) Tellers(tx chain.TxHash, _ chain.Hash) []string {
	return c.sources.Of(string(tx.Bytes()))
}
