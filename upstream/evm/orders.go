package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream"
)

// Events returns the events of orders and swaps in blocks from to to: one search for their logs, then, if any are of
// orders, one round trip for their receipts, which contain the sender and the router's and the gate's logs; logs of
// swaps are complete. The newest blocks are read one by one, with evidence (tipEvents). These calls yield to those of
// clients.
func (c *Chain) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	return c.eventsBetween(ctx, from, to, c.emitters(), c.isWholeSwap)
}

var _ order.LogSource = (*Chain)(nil)

// EventsOfLogs implements order.LogSource. Besides the order contracts' logs it searches the gate's, which identify the
// submissions of claims.
func (c *Chain) EventsOfLogs(ctx context.Context, from, to uint64) ([]order.Event, error) {
	contracts := c.emitters()
	if gate := c.chain.Contracts.Gate; len(contracts) > 0 && !gate.IsAbsent() {
		contracts = append(contracts, gate)
	}
	return c.eventsBetween(ctx, from, to, contracts, c.isWhole)
}

// eventsBetween searches the logs of contracts in blocks from to to and turns them into events, with receipts unless
// logs are enough; see tipEvents for the newest blocks.
func (c *Chain) eventsBetween(
	ctx context.Context, from, to uint64, contracts []chain.Address, isEnough isEnough,
) (events []order.Event, err error) {
	ctx = upstream.Background.For(ctx)
	if len(contracts) == 0 {
		return nil, nil // without an address a search would mean every contract
	}
	tip := to + 1
	if newest := c.newest.Load(); newest != nil && to+order.TipRange > uint64(newest.Number) {
		last := max(to, uint64(newest.Number))
		tip = max(from, last+1-min(order.TipRange, last+1))
	}
	if from < tip {
		rpc := c.rpc.Avoiding(c.faulty.Names()...)
		logs, _, err := c.list(ctx, rpc, from, tip-1, listing{contracts: contracts})
		if err != nil {
			return nil, err
		}
		read, err := c.settledEvents(ctx, logs, c.around(rpc, logs, isEnough))
		if err != nil {
			return nil, err
		}
		events = read.Events
	}
	if tip <= to {
		newest, err := c.tipEvents(ctx, tip, to, c.emitters())
		if err != nil {
			return nil, err
		}
		c.evident.add(tip, to, from < tip)
		events = append(events, newest...)
	}
	return events, nil
}

// settledEvents turns listed logs, which may be wrong, into events, by the data around them: if that reveals
// contradictions, the receipts of their block decide, provided its header proves them.
func (c *Chain) settledEvents(ctx context.Context, logs []log, a *around) (read order.Evidence, err error) {
	var settled []order.Event
	known := order.Intrinsic
	for {
		read, _, err = a.read(ctx)
		bad, is := errors.AsType[*order.UnreadableError](err)
		if !is {
			break
		}
		headers, failed := c.headersOf(ctx, c.rpc, bad.Block)
		if failed != nil {
			return read, err
		}
		held, failed := c.provenEvents(ctx, headers[0])
		if failed != nil {
			return read, err
		}
		settled, known = append(settled, held.Events...), min(known, held.Standing)
		truth := placesOfEvents(held.Events)
		for _, l := range logs {
			if uint64(l.BlockNumber) == bad.Block && !c.isAmong(l, truth) {
				c.faulty.Mark(l.by)
			}
		}
		a.transactions = slices.DeleteFunc(a.transactions, func(t *transaction) bool { return uint64(t.first.BlockNumber) == bad.Block })
	}
	read.Events, read.Standing = order.Sorted(append(read.Events, settled...)), min(read.Standing, known)
	return read, err
}

// emitters lists the contracts whose logs are of orders and swaps.
func (c *Chain) emitters() []chain.Address {
	contracts := c.chain.Contracts
	all := []chain.Address{contracts.DlnSource, contracts.DlnDestination, contracts.ExternalCallAdapter, contracts.Router}
	return slices.DeleteFunc(all, chain.Address.IsAbsent)
}

// EventsIn returns the order events of one transaction; see order.Source. A pending transaction is as unknown as one
// that does not exist; one that failed has no events.
func (c *Chain) EventsIn(ctx context.Context, tx chain.TxHash) (order.Evidence, error) {
	raw := tx.Bytes()
	if len(raw) != len(chain.Hash{}) {
		return order.Evidence{}, order.ErrNotFound
	}
	var found *receipt
	asked := c.firstReceiptCall(&found, chain.Hash(raw))
	if err := errors.Join(c.rpc.All(ctx, asked), c.rpc.Unheard(asked)); err != nil {
		return order.Evidence{}, err
	}
	standing := standingOf(asked, false)
	if found == nil || found.BlockHash.IsAbsent() {
		return order.Evidence{Standing: standing}, order.ErrNotFound
	}
	c.heardReceipt(found, asked.By)
	facts, err := c.facts(found)
	if err != nil || len(facts) == 0 {
		return order.Evidence{Standing: standing}, err
	}
	a := &around{chain: c, rpc: c.rpc, attested: newAttestation()}
	a.transactions = []*transaction{{first: found.Logs[0], receipt: found, facts: facts}}
	read, _, err := a.read(ctx)
	read.Standing = standing
	read.Confirm = func(ctx context.Context) order.Evidence { return c.confirm(ctx, asked, &found, read.Events[0].At.Time) }
	return read, err
}

// eventsIn returns the events in a receipt that is known to be decodable.
func (c *Chain) eventsIn(r *receipt, mined uint64) []order.Event {
	facts, _ := c.facts(r)
	return c.events(r, facts, mined)
}

func (c *Chain) facts(r *receipt) ([]onchain.Found, error) {
	if r.Status != nil && *r.Status == 0 { // reverted
		return nil, nil
	}
	logs := make([]onchain.Log, len(r.Logs))
	for i, l := range r.Logs {
		logs[i] = onchain.Log{Address: l.Address, Topics: l.Topics, Data: l.Data, Index: uint(l.Index)}
	}
	facts, err := onchain.Decode(c.chain.Contracts, logs)
	if err != nil {
		return nil, fmt.Errorf("chain %d: transaction %s: %w", c.chain.ID, r.TransactionHash, err)
	}
	return facts, nil
}

// events turns facts into events at their places; mined is their time in UNIX seconds.
func (c *Chain) events(r *receipt, facts []onchain.Found, mined uint64) []order.Event {
	events := make([]order.Event, len(facts))
	swaps := 0
	for i, fact := range facts {
		e := order.Event{
			Order: fact.Order,
			Fact:  fact.Fact,
			At: order.At{
				Chain:     c.chain.ID,
				Tx:        chain.NewTxHash(r.TransactionHash[:]),
				Block:     uint64(r.BlockNumber),
				BlockHash: r.BlockHash,
				Time:      mined,
				Initiator: r.From,
				LogIndex:  fact.LogIndex,
			},
		}
		if fact.IsSwap() {
			e.Order, e.At.Initiator = onchain.SwapID(c.chain.ID, e.At.Tx, swaps), chain.Address{}
			swaps++
		}
		events[i] = e
	}
	return events
}
