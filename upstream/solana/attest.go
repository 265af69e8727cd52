package solana

import (
	"context"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream/jsonrpc"
)

var _ order.Attester = (*Chain)(nil)

// Attest implements order.Attester: times are those of blocks as two endpoints have them; signed messages name their
// senders.
func (c *Chain) Attest(ctx context.Context, events []order.Event) (order.Evidence, error) {
	read := order.Evidence{Events: slices.Clone(events), Standing: order.Intrinsic}
	asked := make(map[uint64]*jsonrpc.Call)
	var calls []*jsonrpc.Call
	for _, e := range events {
		slot := e.At.Block
		if asked[slot] != nil {
			continue
		}
		found := new(*block)
		asked[slot] = c.at(slot, existingBlockCall(found, slot, "none"))
		asked[slot].Doubt = func(any) bool { return true }
		asked[slot].Same = func(a, b any) bool {
			own, other := *a.(**block), *b.(**block)
			return own.Blockhash == other.Blockhash && seconds(own.BlockTime) == seconds(other.BlockTime)
		}
		calls = append(calls, asked[slot])
	}
	c.rpc.Each(ctx, calls...)
	for i := range read.Events {
		at := &read.Events[i].At
		read.Standing = min(read.Standing, standingOf(asked[at.Block]))
		if asked[at.Block].Err == nil {
			in := *asked[at.Block].Out.(**block)
			at.BlockHash, at.Time = chain.Hash(in.Blockhash), seconds(in.BlockTime)
		}
	}
	return read, ctx.Err()
}
