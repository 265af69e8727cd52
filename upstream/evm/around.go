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
	a.readBlocks(ctx)
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
		events = append(events, a.chain.events(t.receipt, a.chain.wanted(t.facts), a.times[t.first.BlockHash])...)
	}
	return events, nil
}

// manyInBlock is from how many receipts of one block on all of the block's are asked for in one call: one request and
// one answer of the same block for all. Whether it costs an account less depends on its provider's prices.
const manyInBlock = 4

// readBlocks asks for the receipts of blocks that hold many transactions, where an endpoint gives them by block. What
// it does not get is left to readEach.
func (a *around) readBlocks(ctx context.Context) {
	byBlock := make(map[chain.Hash][]*transaction)
	for _, t := range a.transactions {
		if t.receipt == nil {
			byBlock[t.first.BlockHash] = append(byBlock[t.first.BlockHash], t)
		}
	}
	for hash, wanted := range byBlock {
		if len(wanted) < manyInBlock || a.chain.rpc.Lacks(getBlockReceipts, "") {
			continue
		}
		var found *[]receipt
		asked := blockReceiptsCall(&found, hash, wanted)
		asked.Reach = a.chain.reach(uint64(wanted[0].first.BlockNumber))
		if err := a.chain.rpc.All(ctx, asked); err != nil {
			continue
		}
		for _, t := range wanted {
			t.receipt = receiptOf(*found, t.first.TransactionHash)
			a.chain.heardReceipt(t.receipt, asked.By)
		}
	}
}

// readEach asks for the receipts that are still missing, and for the headers of blocks whose times their logs leave
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

const getBlockReceipts = "eth_getBlockReceipts"

// blockReceiptsCall asks for all receipts of the block with hash; a node that lacks one of those that are wanted is
// passed over, as is one that has none of the block: out is nil there.
func blockReceiptsCall(out **[]receipt, hash chain.Hash, wanted []*transaction) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, func(told *[]receipt) error {
		var receipts []receipt
		if told != nil {
			receipts = *told
		}
		for _, t := range wanted {
			r := receiptOf(receipts, t.first.TransactionHash)
			if r == nil || r.BlockHash != hash {
				return &upstream.Error{Class: upstream.Rejected, Err: fmt.Errorf("node has transaction %s not in block %s", t.first.TransactionHash, hash)}
			}
			if r.From.IsAbsent() {
				return errors.New("receipt without a sender")
			}
			if err := r.checkLogs(); err != nil {
				return err
			}
		}
		return nil
	}, getBlockReceipts, hash)
	return asked
}

// receiptOf returns the receipt of a transaction; nil: it is not among them.
func receiptOf(receipts []receipt, tx chain.Hash) *receipt {
	i := slices.IndexFunc(receipts, func(r receipt) bool { return r.TransactionHash == tx })
	if i < 0 {
		return nil
	}
	return &receipts[i]
}
