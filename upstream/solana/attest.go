package solana

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream/jsonrpc"
)

// Attest implements order.Source. Times are those of blocks as shown by two endpoints, or of transactions if only one
// shows the block; a hash that others contradict stays one endpoint's word. Senders are in the signed messages.
func (c *Chain) Attest(ctx context.Context, events []order.Event) (order.Evidence, error) {
	read := order.Evidence{Events: slices.Clone(events), Standing: order.Intrinsic}
	blocks := c.seconded(ctx, events, func(e order.Event) *jsonrpc.Call {
		return existingBlockCall(new(*block), e.At.Block, "none")
	})
	isSure := func(e order.Event) bool { return standingOf(blocks[e.At.Block]) > order.Single }
	times := c.seconded(ctx, slices.DeleteFunc(slices.Clone(events), isSure), func(e order.Event) *jsonrpc.Call {
		call := existingCall(new(*transaction), signature{Signature: e.At.Tx, Slot: e.At.Block})
		call.Same = func(a, b any) bool {
			return seconds((*a.(**transaction)).BlockTime) == seconds((*b.(**transaction)).BlockTime)
		}
		return call
	})
	isSameHash := func(a, b any) bool { return (*a.(**block)).Blockhash == (*b.(**block)).Blockhash }
	for i := range read.Events {
		at := &read.Events[i].At
		standing := standingOf(blocks[at.Block])
		isContradicted := standing == order.Single && len(blocks[at.Block].Unlike(isSameHash)) > 0
		if blocks[at.Block].Err == nil {
			in := *blocks[at.Block].Out.(**block)
			at.BlockHash, at.Time = chain.Hash(in.Blockhash), cmp.Or(seconds(in.BlockTime), at.Time)
		}
		if timed := times[at.Block]; timed != nil && standingOf(timed) > order.Single {
			if time := seconds((*timed.Out.(**transaction)).BlockTime); time != at.Time {
				c.faulty.Mark(blocks[at.Block].By)
				at.Time = time
			}
			if !isContradicted {
				standing = order.Corroborated
			}
		}
		read.Standing = min(read.Standing, standing)
	}
	read.Wrong = c.faulty.Unreported()
	return read, ctx.Err()
}

// confirm asks other endpoints whether a transaction has the events that one reported. If they differ a third decides,
// and the endpoints that contradict it are marked, unless they lack parts of the transaction.
func (c *Chain) confirm(ctx context.Context, asked *jsonrpc.Call, first []order.Event) order.Evidence {
	before := c.says(asked.Out)
	c.rpc.Confirm(ctx, asked, c.says)
	read := order.Evidence{Events: first, Standing: standingOf(asked)}
	if c.says(asked.Out) != before {
		events, err := c.eventsOfOne(ctx, *asked.Out.(**transaction))
		if err != nil {
			return order.Evidence{Events: first}
		}
		read.Events = events
	}
	if read.Standing > order.Single {
		c.faulty.Mark(asked.Contradicting()...)
	}
	read.Wrong = c.faulty.Unreported()
	return read
}

// seconded makes a call about the slot of each event, each to two endpoints.
func (c *Chain) seconded(ctx context.Context, events []order.Event, about func(order.Event) *jsonrpc.Call) map[uint64]*jsonrpc.Call {
	asked := make(map[uint64]*jsonrpc.Call)
	for _, e := range events {
		if asked[e.At.Block] == nil {
			asked[e.At.Block] = c.at(e.At.Block, about(e))
			asked[e.At.Block].Twice = true
		}
	}
	c.rpc.Each(ctx, slices.Collect(maps.Values(asked))...)
	return asked
}
