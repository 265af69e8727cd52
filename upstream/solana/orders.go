package solana

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// Events returns the order events of slots from to to. One round trip lists the transactions that name the protocol's
// programs, another reads those in these slots and their blocks. A listed transaction that no endpoint has is passed
// over if its block does not contain it. A creation whose fees a node no longer has is left out, although EventsIn
// calls it unreadable: logs end after a certain length, and a transaction that fills them must not stop the others.
//
// These calls yield to those of clients.
func (c *Chain) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	rpc := c.rpc.Avoiding(c.faulty.Names()...)
	events, _, err := c.listedEvents(upstream.Background.For(ctx), rpc, rpc, from, to, true)
	return events, err
}

// listedEvents returns the order events of slots from to to as endpoints list them, and the endpoint if it was only
// one; rpc reads the listed transactions.
func (c *Chain) listedEvents(
	ctx context.Context, lists, rpc *jsonrpc.Client, from, to uint64, isBounded bool,
) (events []order.Event, by string, err error) {
	listed, by, err := c.signatures(ctx, lists, from, to, isBounded)
	if err != nil {
		return nil, "", fmt.Errorf("transactions of blocks %d to %d: %w", from, to, err)
	}
	for {
		var asked []*jsonrpc.Call
		events, asked, err = c.eventsOf(ctx, rpc, listed, false)
		if !errors.As(err, new(*order.UnreadableError)) {
			return events, by, err
		}
		held, failed := c.held(ctx, listed, asked)
		if failed != nil || len(held) == len(listed) {
			return nil, by, cmp.Or(failed, err)
		}
		c.faulty.Mark(by)
		listed = held
	}
}

// held drops from listed transactions those that could not be read, by the calls for them, and are not in the block of
// their slot. *order.UnreadableError if no endpoint has that block.
func (c *Chain) held(ctx context.Context, listed []signature, asked []*jsonrpc.Call) (held []signature, err error) {
	for i, each := range listed {
		if asked[i].Err != nil {
			var in *block
			if err := c.rpc.All(ctx, c.at(each.Slot, existingBlockCall(&in, each.Slot, "signatures"))); err != nil {
				return nil, &order.UnreadableError{Block: each.Slot, Err: err}
			}
			if !slices.Contains(in.Signatures, each.Signature) {
				continue
			}
		}
		held = append(held, each)
	}
	return held, nil
}

// eventsOf returns the order events of listed transactions, in block and log order; *order.UnreadableError if one is
// unavailable, *order.AsideError with the events if some are not understood. isTwice reads each from two endpoints. The
// calls for the transactions are in asked, even with an error, and behind them those for the blocks.
func (c *Chain) eventsOf(
	ctx context.Context, rpc *jsonrpc.Client, listed []signature, isTwice bool,
) (events []order.Event, asked []*jsonrpc.Call, err error) {
	read, err := c.inBlocks(ctx, rpc, listed, isTwice)
	if err == nil {
		err = c.name(ctx, read.transactions)
	}
	if err != nil {
		return nil, read.asked, err
	}
	events, err = read.events(c.names.Get)
	if errors.Is(err, onchain.ErrLogsCut) {
		trace.SpanFromContext(ctx).AddEvent("creation left out", trace.WithAttributes(attribute.String("reason", err.Error())))
		err = nil
	}
	return events, slices.Concat(read.asked, read.dated), cmp.Or(err, read.aside())
}

// EventsIn returns the order events of one transaction; see order.Source. A failed transaction has no events.
func (c *Chain) EventsIn(ctx context.Context, tx chain.TxHash) (order.Evidence, error) {
	if !slices.Contains(tx.Families(), chain.SVM) {
		return order.Evidence{}, order.ErrNotFound
	}
	return c.eventsInBy(ctx, c.rpc, tx)
}

// eventsInBy is EventsIn with a given client.
func (c *Chain) eventsInBy(ctx context.Context, rpc *jsonrpc.Client, tx chain.TxHash) (read order.Evidence, err error) {
	var found *transaction
	asked := c.doubted(transactionCall(&found, tx))
	if err := cmp.Or(rpc.All(ctx, asked), rpc.Unheard(asked)); err != nil {
		return read, err
	}
	read.Standing = standingOf(asked)
	if found == nil {
		return read, order.ErrNotFound
	}
	c.sources.Add(string(tx.Bytes()), asked.By)
	read.Events, err = c.eventsOfOne(ctx, found)
	if others := rpc.Avoiding(asked.By); isHole(err) && !others.AvoidsAll() {
		return c.eventsInBy(ctx, others, tx) // its slot is one endpoint's word, too
	}
	if first := read.Events; len(first) > 0 {
		read.Confirm = func(ctx context.Context) order.Evidence { return c.confirm(ctx, asked, first) }
	}
	return read, err
}

func (c *Chain) eventsOfOne(ctx context.Context, found *transaction) ([]order.Event, error) {
	read := &orderTransactions{chain: c, transactions: []*transaction{found}}
	if err := c.name(ctx, read.transactions); err != nil {
		return nil, err
	}
	events, err := read.events(c.names.Get)
	if err := cmp.Or(err, read.aside()); err != nil {
		return nil, fmt.Errorf("chain %d: %w", c.chain.ID, err)
	}
	if len(events) == 0 {
		return nil, nil
	}
	var in *block
	if err := c.rpc.All(ctx, c.at(found.Slot, blockCall(&in, found.Slot))); err != nil {
		return nil, err
	}
	read.blocks = map[uint64]**block{found.Slot: &in}
	return read.events(c.names.Get)
}

// standingOf returns how well the result of a call is established.
func standingOf(asked *jsonrpc.Call) order.Standing {
	if asked.Err == nil && asked.Seconded != "" {
		return order.Corroborated
	}
	return order.Single
}

// doubted makes a call ask other voices if its transaction says nothing of orders.
func (c *Chain) doubted(asked *jsonrpc.Call) *jsonrpc.Call {
	asked.Doubt = func(result any) bool { return c.says(result) == "" }
	return asked
}

// says returns what a transaction (result points to it) says of orders, by the accounts that name them; empty if it is
// absent, did nothing that concerns orders, or its logs are cut off.
func (c *Chain) says(result any) (said string) {
	t := *result.(**transaction)
	if t == nil {
		return ""
	}
	named := func(account chain.Address) (order.ID, bool) { return order.ID(account.Bytes()), true }
	found, err := onchain.DecodeSolana(c.chain.Contracts, t.ran, named)
	if len(found) == 0 || err != nil || onchain.IsCut(c.chain.Contracts, t.ran) {
		return ""
	}
	for _, each := range found {
		said += fmt.Sprint(each.LogIndex, order.Statement(each.Order, each.Fact))
	}
	return fmt.Sprint(t.Slot, said)
}

// orderTransactions are the transactions that were read, oldest first, and their blocks.
type orderTransactions struct {
	chain        *Chain
	transactions []*transaction
	blocks       map[uint64]**block // by slot
	asked, dated []*jsonrpc.Call    // for transactions, and for blocks
}

// inBlocks reads transactions and their blocks in one round trip, or none if none are listed. Those listed as failed
// are read, too, since only they themselves prove it. isTwice reads each from two endpoints.
func (c *Chain) inBlocks(
	ctx context.Context, rpc *jsonrpc.Client, listed []signature, isTwice bool, others ...*jsonrpc.Call,
) (*orderTransactions, error) {
	blocks := make(map[uint64]**block)
	var dated []*jsonrpc.Call
	for _, each := range listed {
		if blocks[each.Slot] == nil {
			blocks[each.Slot] = new(*block)
			asked := c.at(each.Slot, existingBlockCall(blocks[each.Slot], each.Slot, "none"))
			asked.Twice = isTwice
			dated = append(dated, asked)
		}
	}
	read, err := c.transactions(ctx, rpc, listed, isTwice, slices.Concat(others, dated)...)
	read.blocks, read.dated = blocks, dated
	return read, err
}

// transactions reads listed transactions, and makes other calls in the same round trip. It returns
// *order.UnreadableError if data of a slot that must exist is unavailable.
func (c *Chain) transactions(
	ctx context.Context, rpc *jsonrpc.Client, listed []signature, isTwice bool, others ...*jsonrpc.Call,
) (*orderTransactions, error) {
	read := &orderTransactions{chain: c, transactions: make([]*transaction, len(listed))}
	if len(listed) == 0 {
		return read, nil
	}
	for i, each := range listed {
		asked := c.doubted(c.at(each.Slot, existingCall(&read.transactions[i], each)))
		if isTwice {
			asked.Twice, asked.Says = true, c.says
		}
		read.asked = append(read.asked, asked)
	}
	calls := slices.Concat(others, read.asked)
	rpc.Each(ctx, calls...)
	var gone error
	for i, call := range calls {
		at := i - len(others)
		switch {
		case call.Err == nil && at >= 0:
			c.sources.Add(string(listed[at].Signature.Bytes()), call.By)
		case at >= 0 && isCode(call.Err, versionUnsupported):
			unread := order.AsideTransaction{Tx: listed[at].Signature, Block: listed[at].Slot, Err: call.Err}
			read.transactions[at] = &transaction{Slot: unread.Block, aside: &unread}
		case c.isGone(call.Err, call.Reach.Oldest):
			gone = &order.UnreadableError{Block: call.Reach.Oldest, Err: call.Err}
		case call.Err != nil:
			return read, call.Err
		}
	}
	return read, gone
}

// aside returns *order.AsideError if some of the transactions are not understood.
func (r *orderTransactions) aside() error {
	var found order.AsideError
	for _, tx := range r.transactions {
		if tx.aside != nil && (tx.Meta == nil || isNull(tx.Meta.Err)) {
			found.Transactions = append(found.Transactions, *tx.aside)
		}
	}
	if len(found.Transactions) == 0 {
		return nil
	}
	return &found
}

// events decodes the transactions, in block and log order, and puts aside those that it cannot decode. With
// onchain.ErrLogsCut it returns events, too.
func (r *orderTransactions) events(orderOf onchain.OrderOf) (events []order.Event, cut error) {
	for _, tx := range r.transactions {
		facts, err := onchain.DecodeSolana(r.chain.chain.Contracts, tx.ran, orderOf)
		switch {
		case errors.Is(err, onchain.ErrLogsCut):
			cut = cmp.Or(cut, fmt.Errorf("transaction %s: %w", tx.message.Signature, err))
		case err != nil:
			tx.aside = &order.AsideTransaction{Tx: tx.message.Signature, Block: tx.Slot, Err: err}
		}
		for _, fact := range facts {
			events = append(events, order.Event{Order: fact.Order, At: r.at(tx, fact.LogIndex), Fact: fact.Fact})
		}
	}
	return order.Sorted(events), cut
}

// at returns where a fact of a transaction happened. Nodes do not return a transaction's index in its block; the first
// bytes of the signature take its place, to keep the facts of a block apart.
func (r *orderTransactions) at(tx *transaction, position uint) order.At {
	const positions = 16 // bits
	place := uint(binary.BigEndian.Uint32(tx.message.Signature.Bytes()))
	at := order.At{
		Chain:     r.chain.chain.ID,
		Tx:        tx.message.Signature,
		Block:     tx.Slot,
		Time:      seconds(tx.BlockTime),
		Initiator: tx.message.FeePayer(),
		LogIndex:  place<<positions | position,
	}
	if in := r.blocks[tx.Slot]; in != nil {
		at.BlockHash, at.Time = chain.Hash((*in).Blockhash), cmp.Or(seconds((*in).BlockTime), at.Time)
	}
	return at
}
