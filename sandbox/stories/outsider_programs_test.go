package stories_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/mr-tron/base58"
)

// What the calls of the protocol's programs say about orders, by their instructions and events.

func (o *outsider) readCreationsOnSolana() {
	s := o.solana
	for _, tx := range s.transactions {
		for i, call := range tx.calls {
			counted, own := call.is(s.source, "create_order"), call.is(s.source, "create_order_with_nonce")
			if counted || own {
				o.createOnSolana(tx, uint(i), call, own)
			}
		}
	}
}

// createOnSolana reads terms and fees from the events, and the rest from the arguments.
func (o *outsider) createOnSolana(tx *solanaTransaction, index uint, call *solanaCall, isOwnNonce bool) {
	told := call.event("CreatedOrder")
	order, fixFee, percentFee := told.order(), told.amount(), told.amount()
	record := map[string]any{
		"percentFee": numberJSON(percentFee), "finalPercentFee": numberJSON(percentFee), "fixFee": numberJSON(fixFee),
		"createdSrcEventMetadata": o.solana.eventJSON(tx),
		"referralCode":            json.Number("0"), "affiliateFee": nil, "orderMetadata": nil,
	}
	in := call.arguments()
	in.u64()    // give amount before the fees
	in.take(32) // chain, token and amount of what is asked for
	in.bytes()
	in.take(32)
	in.bytes()                         // receiver
	order.ExternalCall = in.optional() // of which the event has the hash
	in.key()                           // may raise the give amount
	in.maybeKey()                      // may be refunded
	in.bytes()                         // may cancel
	in.optional()                      // may fulfil
	if in.isSome() {
		record["affiliateFee"] = map[string]any{"beneficiarySrc": addressJSON(in.key(), solanaID), "amount": numberJSON(in.amount())}
	}
	if in.isSome() {
		record["referralCode"] = json.Number(fmt.Sprint(in.u32()))
	}
	if isOwnNonce {
		in.u64()
		record["orderMetadata"] = metadataJSON(in.bytes())
	}
	o.create(order, call.event("CreatedOrderId").hash(), tx.signature(), index, record)
}

func (o *outsider) readTheRestOnSolana() {
	takeStates := map[string]common.Hash{} // the order of an account, as its fulfilment tells
	for _, tx := range o.solana.transactions {
		for i, call := range tx.calls {
			switch call.program {
			case o.solana.source:
				o.readGiveSide(tx, i)
			case o.solana.destination:
				o.readTakeSide(tx, i, takeStates)
			case executor:
				o.readExecution(call)
			}
		}
	}
}

func (o *outsider) readGiveSide(tx *solanaTransaction, i int) {
	s, call := o.solana, tx.calls[i]
	unlock, refund := call.is(s.source, "claim_unlock"), call.is(s.source, "claim_order_cancel")
	switch {
	case call.is(s.source, "patch_order_give"):
		event := call.event("IncreasedGiveAmount")
		o.orders[call.arguments().hash()].raise(event.amount(), event.amount())
	case unlock, refund:
		told, side := o.orders[call.arguments().hash()], "claimedUnlockSrcEventInfo"
		if refund {
			side = "claimedOrderCancelSrcEventInfo"
		}
		told.claimed, told.refunded = unlock, refund
		told.record[side] = infoJSON(s.eventJSON(tx), s.executed(tx, i))
	}
}

// executed returns the submission of the message that made the call: the gate's call before it.
func (s *outsiderSolana) executed(tx *solanaTransaction, i int) []byte {
	for _, call := range slices.Backward(tx.calls[:i]) {
		if call.is(s.gate, "execute_external_call") {
			return call.event("ExternalCallExecuted").key()
		}
	}
	s.t.Fatalf("%s: no message made call %d", tx.signature(), i)
	return nil
}

// transferred returns the submission of the message that the call sent: the gate's next call.
func (s *outsiderSolana) transferred(tx *solanaTransaction, i int) []byte {
	for _, call := range tx.calls[i:] {
		if call.is(s.gate, "send") {
			event := call.event("Transferred")
			event.take(1) // the kind of sending
			return event.key()
		}
	}
	s.t.Fatalf("%s: call %d sent no message", tx.signature(), i)
	return nil
}

func (o *outsider) readTakeSide(tx *solanaTransaction, i int, takeStates map[string]common.Hash) {
	s, call := o.solana, tx.calls[i]
	in := call.arguments()
	switch {
	case call.is(s.destination, "fulfill_order"):
		in.order()
		id := in.hash()
		takeStates[call.accounts[0]] = id
		told, event := o.orders[id], call.event("Fulfilled")
		if event.hash() != id {
			s.t.Fatalf("%s: another order was fulfilled than %s", tx.signature(), id)
		}
		taker := event.key()
		authority := in.maybeKey()
		if authority == nil {
			authority = taker
		}
		told.fulfilled = true
		told.record["fulfilledDstEventMetadata"] = s.eventJSON(tx)
		told.record["taker"] = addressJSON(taker, solanaID)
		told.record["unlockAuthorityDst"] = addressJSON(authority, solanaID)
	case call.is(s.destination, "patch_take_order"):
		event := call.event("DecreaseTakeAmount")
		o.orders[event.hash()].lower(event.amount())
	case call.is(s.destination, "cancel_order"):
		in.order()
		told := o.orders[in.hash()]
		told.marked = true
		told.record["orderCancelledDstEventMetadata"] = s.eventJSON(tx)
	case call.is(s.destination, "send_order_cancel"):
		told := o.orders[in.hash()]
		told.cancelled = true
		told.record["cancelBeneficiarySrc"] = addressJSON(in.bytes(), told.created.GiveChainId.Uint64())
		told.record["sentOrderCancelDstEventInfo"] = infoJSON(s.eventJSON(tx), s.transferred(tx, i))
	case call.is(s.destination, "send_unlock"):
		o.readUnlock(tx, i, o.orders[in.hash()], in.bytes())
	case call.is(s.destination, "send_batch_unlock"):
		beneficiary := in.bytes()
		for _, account := range call.accounts[20:] { // behind those that every batch has
			o.readUnlock(tx, i, o.orders[takeStates[account]], beneficiary)
		}
	}
}

func (o *outsider) readUnlock(tx *solanaTransaction, i int, told *told, beneficiary []byte) {
	told.sent = true
	told.record["unlockBeneficiarySrc"] = addressJSON(beneficiary, told.created.GiveChainId.Uint64())
	told.record["sentUnlockDstEventInfo"] = infoJSON(o.solana.eventJSON(tx), o.solana.transferred(tx, i))
}

// readExecution reads how far an external call came. It is cancelled when it falls back at the word of
// whoever may cancel the order: the fourth account of make_fallback signs.
func (o *outsider) readExecution(call *solanaCall) {
	told := o.orders[call.arguments().hash()]
	executed, isFallback := call.event("Executed"), call.event("Fallbacked") != nil
	switch {
	case isFallback && call.is(executor, "make_fallback") && call.accounts[3] == base58.Encode(told.created.OrderAuthorityAddressDst):
		told.call = "Cancelled"
	case isFallback:
		told.call = "Failed"
	case executed.isSome():
		told.call = "Completed"
	default:
		told.call = "Executing"
	}
}
