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

// transaction is a transaction with listed logs, and the facts known about it.
type transaction struct {
	first   log           // first log that was listed
	receipt *receipt      // nil: not fetched yet
	asked   *jsonrpc.Call // call for the receipt; nil: not needed
	facts   []onchain.Found
}

// isEnough reports whether a listed log needs no receipt, given all facts in the listed logs of its transaction. nil:
// all need one, since an endpoint may have made them up.
type isEnough func(l log, found []onchain.Found) bool

type around struct {
	chain        *Chain
	rpc          *jsonrpc.Client
	transactions []*transaction
	isTwice      bool // two endpoints are asked for receipts
	attests      bool // senders and times are proven
	attested     attestation
}

// isWholeSwap reports whether a log describes a swap completely: the router's logs do, and a busy chain has thousands a
// day.
func (c *Chain) isWholeSwap(l log, found []onchain.Found) bool {
	return l.Address == c.chain.Contracts.Router && !slices.ContainsFunc(found, onchain.Found.LacksBeneficiary)
}

// isWhole reports whether logs say all but who sent the transaction, see order.LogSource: not for a creation, which may
// include a swap by the router, nor for a claim whose submission the gate's logs do not identify.
func (c *Chain) isWhole(_ log, found []onchain.Found) bool {
	return !slices.ContainsFunc(found, func(f onchain.Found) bool {
		claim, isClaim := f.Fact.(order.Claimed)
		isNameless := isClaim && claim.Submission.IsAbsent() && !c.chain.Contracts.Gate.IsAbsent()
		return is[order.Created](f.Fact) || isNameless || f.LacksBeneficiary()
	})
}

// aroundAll is around with receipts from two endpoints, and with proven senders and times.
func (c *Chain) aroundAll(rpc *jsonrpc.Client, logs []log) *around {
	a := c.around(rpc, logs, nil)
	a.isTwice, a.attests = true, true
	return a
}

// around prepares to read the transactions that contain logs. Receipts are fetched, except for transactions whose
// listed logs each satisfy isEnough.
func (c *Chain) around(rpc *jsonrpc.Client, logs []log, isEnough isEnough) *around {
	a := &around{chain: c, rpc: rpc, attested: newAttestation()}
	for _, listed := range byTransaction(logs) {
		t := &transaction{first: listed.Logs[0]}
		facts, err := c.facts(listed)
		if err == nil && isEnough != nil && !slices.ContainsFunc(listed.Logs, func(l log) bool { return !isEnough(l, facts) }) {
			if len(facts) == 0 {
				continue // logs of the gate about other messages
			}
			t.receipt, t.facts = listed, facts
		}
		a.transactions = append(a.transactions, t)
	}
	return a
}

// byTransaction groups listed logs into receipts, in the order in which their transactions first occur. One that is
// listed in two blocks has two.
func byTransaction(logs []log) []*receipt {
	var receipts []*receipt
	of := make(map[[2]chain.Hash]*receipt)
	for _, l := range logs {
		in := [...]chain.Hash{l.TransactionHash, l.BlockHash}
		if of[in] == nil {
			of[in] = &receipt{TransactionHash: l.TransactionHash, BlockHash: l.BlockHash, BlockNumber: l.BlockNumber}
			receipts = append(receipts, of[in])
		}
		of[in].Logs = append(of[in].Logs, l)
	}
	return receipts
}

// read fetches missing data and returns the events, in the block and log order of the logs, and the standing of the
// receipts. Read again, it asks for nothing that it has asked for.
func (a *around) read(ctx context.Context) (read order.Evidence, receipts order.Standing, err error) {
	if err := a.readEach(ctx); err != nil {
		return read, receipts, err
	}
	receipts, read.Standing = order.Intrinsic, order.Intrinsic
	for _, t := range a.transactions {
		if t.asked != nil && a.isTwice {
			receipts = min(receipts, a.chain.settle(ctx, t.asked))
		}
		if t.facts == nil {
			if t.facts, err = a.chain.facts(t.receipt); err != nil {
				return order.Evidence{}, receipts, &order.UnreadableError{Block: uint64(t.first.BlockNumber), Err: err}
			}
		}
		events := a.chain.events(t.receipt, t.facts, uint64(t.first.BlockTimestamp))
		if attested := a.attested.apply(events); a.attests {
			read.Standing = min(read.Standing, attested)
		}
		read.Events = append(read.Events, events...)
	}
	read.Standing = min(read.Standing, receipts)
	return read, receipts, nil
}

// readEach fetches missing receipts, proofs of senders and times if these are attested, and the headers of blocks whose
// times the logs omit.
func (a *around) readEach(ctx context.Context) error {
	var calls []*jsonrpc.Call
	for _, t := range a.transactions {
		hash := t.first.BlockHash
		if t.first.BlockTimestamp>>32 > 0 { // not in seconds
			t.first.BlockTimestamp = 0
		}
		if known := a.chain.read.of(uint64(t.first.BlockNumber)); t.first.BlockTimestamp == 0 && known != nil && known.Hash == hash {
			t.first.BlockTimestamp = stamp(known.Timestamp)
		}
		if t.receipt == nil && t.asked == nil {
			t.asked = a.chain.minedReceiptCall(&t.receipt, t.first.TransactionHash, hash)
			t.asked.Reach, t.asked.Twice = a.chain.reach(uint64(t.first.BlockNumber)), a.isTwice
			calls = append(calls, t.asked)
		}
		if a.attests {
			a.attested.add(t.first.TransactionHash, hash)
		} else if t.first.BlockTimestamp == 0 {
			a.attested.addTime(hash)
		}
	}
	attesting := a.attested.calls()
	a.rpc.Each(ctx, append(calls, attesting...)...)
	a.chain.faulty.Judge(attesting...)
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

// isUnreadable reports whether endpoints answered, but none with the data that must exist.
func isUnreadable(err error) bool {
	return slices.Contains([]upstream.Class{upstream.BadAnswer, upstream.Rejected}, upstream.ClassOf(err))
}
