package evm

import (
	"cmp"
	"context"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// transaction is one with listed logs, and its known facts.
type transaction struct {
	first   log           // that was listed
	receipt *receipt      // nil: not asked for yet
	asked   *jsonrpc.Call // for the receipt; nil: it need not be
	facts   []onchain.Found
}

// around has the data read about the transactions of logs.
type around struct {
	chain        *Chain
	rpc          *jsonrpc.Client
	transactions []*transaction
	attests      bool // senders and times are proven, and receipts asked of two endpoints
	attested     attestation
}

// eventsAround returns the events of the transactions that logs are in, in block and log order as logs are. It takes a
// round trip for the receipts, none without logs, and mostly none for swaps: of these the router's logs say everything,
// and a busy chain has thousands a day.
func (c *Chain) eventsAround(ctx context.Context, rpc *jsonrpc.Client, logs []log) (order.Evidence, error) {
	return c.around(rpc, logs, false, c.isWholeSwap).read(ctx)
}

// eventsAttested is eventsAround with proven senders and times, and receipts that two endpoints were asked for.
func (c *Chain) eventsAttested(ctx context.Context, rpc *jsonrpc.Client, logs []log) (order.Evidence, error) {
	return c.around(rpc, logs, true, c.isWholeSwap).read(ctx)
}

func (c *Chain) isWholeSwap(l log, found []onchain.Found) bool {
	return l.Address == c.chain.Contracts.Router && !slices.ContainsFunc(found, onchain.Found.LacksBeneficiary)
}

// eventsInLogs is eventsAround without receipts where the logs say all but who sent the transaction, see
// order.LogSource: not of a creation, since a swap of the router may have been made for it, nor of a claim whose
// submission the gate's logs do not name.
func (c *Chain) eventsInLogs(ctx context.Context, rpc *jsonrpc.Client, logs []log) (order.Evidence, error) {
	return c.around(rpc, logs, false, func(_ log, found []onchain.Found) bool { return !slices.ContainsFunc(found, c.isMoreThanItsLog) }).read(ctx)
}

// around is the reading of the transactions that logs are in. Receipts are fetched, except for transactions whose
// listed logs are each enough, with all their facts.
func (c *Chain) around(rpc *jsonrpc.Client, logs []log, attests bool, isEnough func(log, []onchain.Found) bool) *around {
	a := &around{chain: c, rpc: rpc, attests: attests, attested: newAttestation()}
	for _, listed := range byTransaction(logs) {
		t := &transaction{first: listed.Logs[0]}
		facts, err := c.facts(listed)
		if err == nil && !slices.ContainsFunc(listed.Logs, func(l log) bool { return !isEnough(l, facts) }) {
			if len(facts) == 0 {
				continue // the gate's, about other messages
			}
			t.receipt, t.facts = listed, facts
		}
		a.transactions = append(a.transactions, t)
	}
	return a
}

// byTransaction makes receipts of listed logs, in the sequence in which their transactions first occur.
func byTransaction(logs []log) []*receipt {
	var receipts []*receipt
	of := make(map[chain.Hash]*receipt)
	for _, l := range logs {
		if of[l.TransactionHash] == nil {
			of[l.TransactionHash] = &receipt{TransactionHash: l.TransactionHash, BlockHash: l.BlockHash, BlockNumber: l.BlockNumber}
			receipts = append(receipts, of[l.TransactionHash])
		}
		of[l.TransactionHash].Logs = append(of[l.TransactionHash].Logs, l)
	}
	return receipts
}

// isMoreThanItsLog reports whether a fact takes its whole transaction.
func (c *Chain) isMoreThanItsLog(found onchain.Found) bool {
	switch fact := found.Fact.(type) {
	case order.Created:
		return true
	case order.Claimed:
		return fact.Submission.IsAbsent() && !c.chain.Contracts.Gate.IsAbsent()
	}
	return found.LacksBeneficiary()
}

// read fetches missing data and returns the events.
func (a *around) read(ctx context.Context) (read order.Evidence, err error) {
	if err := a.readEach(ctx); err != nil {
		return read, err
	}
	read.Standing = order.Intrinsic
	for _, t := range a.transactions {
		if t.asked != nil && a.attests {
			read.Standing = min(read.Standing, a.chain.settle(ctx, t.asked))
		}
		if t.facts == nil {
			if t.facts, err = a.chain.facts(t.receipt); err != nil {
				return order.Evidence{}, &order.UnreadableError{Block: uint64(t.first.BlockNumber), Err: err}
			}
		}
		events := a.chain.events(t.receipt, t.facts, uint64(t.first.BlockTimestamp))
		read.Standing = min(read.Standing, a.attested.apply(events))
		read.Events = append(read.Events, events...)
	}
	return read, nil
}

// readEach asks for missing receipts with what proves their senders and times, and for the headers of blocks whose
// times logs leave out.
func (a *around) readEach(ctx context.Context) error {
	var calls []*jsonrpc.Call
	for _, t := range a.transactions {
		hash := t.first.BlockHash
		if known := a.chain.read.of(uint64(t.first.BlockNumber)); t.first.BlockTimestamp == 0 && known != nil && known.Hash == hash {
			t.first.BlockTimestamp = stamp(known.Timestamp)
		}
		if t.receipt == nil {
			t.asked = a.chain.minedReceiptCall(&t.receipt, t.first.TransactionHash, hash)
			t.asked.Reach, t.asked.Twice = a.chain.reach(uint64(t.first.BlockNumber)), a.attests
			calls = append(calls, t.asked)
		}
		if a.attests {
			a.attested.add(t.first.TransactionHash, hash)
		} else if t.first.BlockTimestamp == 0 {
			a.attested.addTime(hash)
		}
	}
	a.rpc.Each(ctx, append(calls, a.attested.calls()...)...)
	a.chain.blameOverruled(a.attested.calls())
	for _, t := range a.transactions {
		var err error
		if timed := a.attested.times[t.first.BlockHash]; timed != nil && t.first.BlockTimestamp == 0 {
			err = timed.Err
		}
		if t.asked != nil {
			err = cmp.Or(t.asked.Err, err)
		}
		switch {
		case isUnreadable(err):
			return &order.UnreadableError{Block: uint64(t.first.BlockNumber), Err: err}
		case err != nil:
			return err
		case t.asked != nil:
			a.chain.heardReceipt(t.receipt, t.asked.By)
		}
	}
	return nil
}

// isUnreadable reports whether endpoints answered, and none with what must be there.
func isUnreadable(err error) bool {
	return slices.Contains([]upstream.Class{upstream.BadAnswer, upstream.Rejected}, upstream.ClassOf(err))
}
