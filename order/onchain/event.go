package onchain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/order"
)

// orderTuple is the order in every event's signature (dln-contracts, libraries/DlnOrderLib.sol).
const orderTuple = "(uint64,bytes,uint256,bytes,uint256,uint256,bytes,uint256,bytes,bytes,bytes,bytes,bytes,bytes)"

// event is one event of the protocol's contracts and how its data is read. No parameter is indexed.
type event struct {
	signature string
	emitter   func(chain.Contracts) chain.Address
	read      func(words) (order.ID, order.Fact)
}

func (e event) name() string { return e.signature[:strings.IndexByte(e.signature, '(')] }

// events are those of both contract generations (debridge-finance/dln-contracts; newer ones verified on Ethereum).
var events = byTopic(
	event{"CreatedOrder(" + orderTuple + ",bytes32,bytes,uint256,uint256,uint32,bytes)", source, func(w words) (order.ID, order.Fact) {
		id, created := readCreation(w)
		created.Metadata = w.bytes(6)
		return id, created
	}},
	event{"CreatedOrder(" + orderTuple + ",bytes32,bytes,uint256,uint256,uint32)", source, func(w words) (order.ID, order.Fact) {
		id, created := readCreation(w)
		return id, created
	}},
	event{"IncreasedGiveAmount(bytes32,uint256,uint256)", source, func(w words) (order.ID, order.Fact) {
		return w.hash(0), order.GiveIncreased{Final: w.amount(1), FinalPercentFee: w.amount(2)}
	}},
	event{"ClaimedUnlock(bytes32,address,uint256,address)", source, func(w words) (order.ID, order.Fact) {
		return w.hash(0), order.Claimed{Kind: order.Unlock, Beneficiary: w.address(1), Paid: w.amount(2)}
	}},
	event{"ClaimedOrderCancel(bytes32,address,uint256,address)", source, func(w words) (order.ID, order.Fact) {
		return w.hash(0), order.Claimed{Kind: order.Cancel, Beneficiary: w.address(1), Paid: w.amount(2)}
	}},
	event{"FulfilledOrder(" + orderTuple + ",bytes32,uint256,address,address)", destination, func(w words) (order.ID, order.Fact) {
		id, terms := readTerms(w)
		actual := w.amount(2)
		return id, order.Fulfilled{Terms: terms, ActualAmount: &actual, Taker: w.address(3), UnlockAuthority: w.address(4)}
	}},
	event{"FulfilledOrder(" + orderTuple + ",bytes32,address,address)", destination, func(w words) (order.ID, order.Fact) {
		id, terms := readTerms(w)
		return id, order.Fulfilled{Terms: terms, Taker: w.address(2), UnlockAuthority: w.address(3)}
	}},
	event{"DecreasedTakeAmount(bytes32,uint256)", destination, func(w words) (order.ID, order.Fact) {
		return w.hash(0), order.TakeDecreased{Final: w.amount(1)}
	}},
	event{"SentOrderUnlock(bytes32,bytes,bytes32)", destination, func(w words) (order.ID, order.Fact) {
		return w.hash(0), order.Sent{Kind: order.Unlock, Beneficiary: w.party(1), Submission: w.hash(2)}
	}},
	event{"SentOrderCancel(" + orderTuple + ",bytes32,bytes,bytes32)", destination, func(w words) (order.ID, order.Fact) {
		id, _ := readTerms(w)
		return id, order.Sent{Kind: order.Cancel, Beneficiary: w.party(2), Submission: w.hash(3)}
	}},
	event{"ExternalCallRegistered(bytes32,bytes32,address,address,uint256,bytes)", adapter, callRegistered},
	event{"ExternallCallRegistered(bytes32,bytes32,address,address,uint256,bytes)", adapter, callRegistered},
	event{"ExternalCallExecuted(bytes32,bool)", adapter, func(w words) (order.ID, order.Fact) {
		if w.bool(1) {
			return w.hash(0), order.ExternalCall{Step: order.CallExecuted}
		}
		return w.hash(0), order.ExternalCall{Step: order.CallFailed}
	}},
	event{"ExternalCallFailed(bytes32,bytes)", adapter, func(w words) (order.ID, order.Fact) {
		return w.hash(0), order.ExternalCall{Step: order.CallFailed}
	}},
	event{"ExternalCallCancelled(bytes32,bytes32,address,address,uint256)", adapter, func(w words) (order.ID, order.Fact) {
		return w.hash(1), order.ExternalCall{Step: order.CallCancelled}
	}},
	event{"SameChainSwapExecuted(address,address,address,uint256,address,uint256,uint256,uint256,uint32)", router, readSwapped},
)

func callRegistered(w words) (order.ID, order.Fact) {
	return w.hash(1), order.ExternalCall{Step: order.CallRegistered}
}

// gateClaimed reports a message carried out; debridgeId, receiver, chainIdFrom are indexed (IDeBridgeGate.sol).
var gateClaimed = topic("Claimed(bytes32,bytes32,uint256,address,uint256,uint256,bytes,bool)")

// Topics lists the first topics to ask a node for, on the protocol's contracts: with the gate's Claimed, which names a
// claim's submission, and AffiliateFeePaid, which names who was paid.
func Topics() []chain.Hash {
	topics := []chain.Hash{gateClaimed, affiliateFeePaid}
	for t := range events {
		topics = append(topics, t)
	}
	slices.SortFunc(topics, func(a, b chain.Hash) int { return slices.Compare(a[:], b[:]) })
	return topics
}

func byTopic(list ...event) map[chain.Hash]event {
	table := make(map[chain.Hash]event, len(list))
	for _, e := range list {
		table[topic(e.signature)] = e
	}
	return table
}

func topic(signature string) chain.Hash { return chain.Hash(crypto.Keccak256Hash([]byte(signature))) }

func eventOf(c chain.Contracts, log Log) (e event, ours bool) {
	if len(log.Topics) != 1 || log.Address.IsAbsent() {
		return event{}, false
	}
	e, known := events[log.Topics[0]]
	return e, known && e.emitter(c) == log.Address
}

func source(c chain.Contracts) chain.Address      { return c.DlnSource }
func destination(c chain.Contracts) chain.Address { return c.DlnDestination }
func adapter(c chain.Contracts) chain.Address     { return c.ExternalCallAdapter }
func router(c chain.Contracts) chain.Address      { return c.Router }

// readCreation reads the words that both forms of CreatedOrder begin with.
func readCreation(w words) (order.ID, order.Created) {
	id, terms := readTerms(w)
	return id, order.Created{
		Terms:        terms,
		Affiliate:    affiliate(w.bytes(2)),
		FixFee:       w.amount(3),
		PercentFee:   w.amount(4),
		ReferralCode: uint32(w.uint(5, 32)),
	}
}

// affiliate reads a creation's fee: 20 bytes of beneficiary, 32 of amount. The contract takes other bytes for no fee.
func affiliate(raw []byte) *order.Affiliate {
	const beneficiaryLength = 20
	if len(raw) != beneficiaryLength+wordSize {
		return nil
	}
	return &order.Affiliate{
		Beneficiary: chain.NewAddress(raw[:beneficiaryLength]),
		Amount:      chain.AmountFromBytes(raw[beneficiaryLength:]),
	}
}

// readTerms reads the order that word 0 points to and checks it against the id in word 1.
func readTerms(w words) (order.ID, order.Terms) {
	o := w.tail(0)
	terms := order.Terms{
		Nonce:    o.uint(0, 64),
		Maker:    o.party(1),
		Give:     order.Offer{Chain: o.chainID(2), Token: o.party(3), Amount: o.amount(4)},
		Take:     order.Offer{Chain: o.chainID(5), Token: o.party(6), Amount: o.amount(7)},
		Receiver: o.party(8),
		Authorities: order.Authorities{
			GivePatch:         o.party(9),
			Order:             o.party(10),
			AllowedTaker:      o.party(11),
			CancelBeneficiary: o.party(12),
		},
		ExternalCall: o.bytes(13),
	}
	id := w.hash(1)
	if w.err() != nil {
		return order.ID{}, order.Terms{}
	}
	if computed := ID(terms); computed != id {
		w.fail(fmt.Errorf("order id is %s, its terms give %s", id, computed))
	}
	return id, terms
}
