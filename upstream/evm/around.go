package evm

import (
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
	first   log      // that was listed
	receipt *receipt // nil: not asked for yet
	facts   []onchain.Found
}

// around has the data read about the transactions of logs.
type around struct {
	chain        *Chain
	transactions []*transaction
	times        map[chain.Hash]uint64 // of blocks, UNIX seconds
}

// eventsAround returns the events of the transactions that logs are in, in block and log order as logs are. It takes a
// round trip for the receipts, none without logs, and mostly none for swaps: of these the router's logs say everything,
// and a busy chain has thousands a day.
func (c *Chain) eventsAround(ctx context.Context, logs []log) ([]order.Event, error) {
	return c.eventsOf(ctx, logs, func(l log, found []onchain.Found) bool {
		return l.Address == c.chain.Contracts.Router && !slices.ContainsFunc(found, onchain.Found.LacksBeneficiary)
	})
}

// eventsInLogs is eventsAround without receipts where the logs say all but who sent the transaction, see
// order.LogSource: not of a creation, since a swap of the router may have been made for it, nor of a claim whose
// submission the gate's logs do not name.
func (c *Chain) eventsInLogs(ctx context.Context, logs []log) ([]order.Event, error) {
	return c.eventsOf(ctx, logs, func(_ log, found []onchain.Found) bool {
		return !slices.ContainsFunc(found, c.isMoreThanItsLog)
	})
}

// eventsOf returns the events of the transactions that logs are in. Receipts are fetched, except for transactions
// whose listed logs are each enough, with all their facts.
func (c *Chain) eventsOf(ctx context.Context, logs []log, isEnough func(log, []onchain.Found) bool) ([]order.Event, error) {
	a := around{chain: c, times: make(map[chain.Hash]uint64)}
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
	return a.read(ctx)
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
func (a *around) read(ctx context.Context) ([]order.Event, error) {
	if err := a.readEach(ctx); err != nil {
		return nil, err
	}
	var events []order.Event
	for _, t := range a.transactions {
		if t.facts == nil {
			var err error
			if t.facts, err = a.chain.facts(t.receipt); err != nil {
				return nil, &order.UnreadableError{Block: uint64(t.first.BlockNumber), Err: err}
			}
		}
		events = append(events, a.chain.events(t.receipt, t.facts, a.times[t.first.BlockHash])...)
	}
	return events, nil
}

// readEach asks for missing receipts, and for the headers of blocks whose times their logs leave
// out.
func (a *around) readEach(ctx context.Context) error {
	headers := make(map[chain.Hash]**header)
	calls, blocks := a.calls(headers)
	if err := a.chain.rpc.All(ctx, calls...); err != nil {
		for i, call := range calls {
			if isUnreadable(call.Err) {
				return &order.UnreadableError{Block: blocks[i], Err: err}
			}
		}
		return err
	}
	for _, call := range calls {
		if got, is := call.Out.(**receipt); is {
			a.chain.heardReceipt(*got, call.By)
		}
	}
	for hash, read := range headers {
		a.times[hash] = uint64((*read).Timestamp)
	}
	return nil
}

// calls ask for missing data, each with the number of its block, and put headers by their blocks' hashes.
func (a *around) calls(headers map[chain.Hash]**header) (calls []*jsonrpc.Call, blocks []uint64) {
	for _, t := range a.transactions {
		block, hash := uint64(t.first.BlockNumber), t.first.BlockHash
		if t.receipt == nil {
			asked := minedReceiptCall(&t.receipt, t.first.TransactionHash, hash)
			asked.Reach = a.chain.reach(block)
			calls, blocks = append(calls, asked), append(blocks, block)
		}
		if a.times[hash] != 0 {
			continue
		}
		if t.first.BlockTimestamp != 0 {
			a.times[hash] = uint64(t.first.BlockTimestamp)
		} else if known := a.chain.read.of(block); known != nil && known.Hash == hash {
			a.times[hash] = uint64(known.Timestamp)
		} else if _, isAsked := headers[hash]; !isAsked {
			headers[hash] = new(*header)
			calls, blocks = append(calls, headerByHashCall(headers[hash], hash)), append(blocks, block)
		}
	}
	return calls, blocks
}

// isUnreadable reports whether endpoints answered, and none with what must be there.
func isUnreadable(err error) bool {
	class := upstream.ClassOf(err)
	return class == upstream.BadAnswer || class == upstream.Rejected
}
