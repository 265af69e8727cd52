package onchain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// OrderTuple is the type of an order in signatures of events and functions (dln-contracts, libraries/DlnOrderLib.sol).
const OrderTuple = "(uint64,bytes,uint256,bytes,uint256,uint256,bytes,uint256,bytes,bytes,bytes,bytes,bytes,bytes)"

// event is one event of the protocol's contracts and the decoder of its data. It has no indexed parameters.
type event struct {
	signature string
	emitter   func(chain.Contracts) chain.Address
	read      func(words.Reader) (order.ID, order.Fact)
}

func (e event) name() string { return e.signature[:strings.IndexByte(e.signature, '(')] }

// events are those of both contract generations (debridge-finance/dln-contracts; newer ones verified on Ethereum).
var events = byTopic(
	event{"CreatedOrder(" + OrderTuple + ",bytes32,bytes,uint256,uint256,uint32,bytes)", source, func(w words.Reader) (order.ID, order.Fact) {
		id, created := readCreation(w)
		created.Metadata = w.Bytes(6)
		return id, created
	}},
	event{"CreatedOrder(" + OrderTuple + ",bytes32,bytes,uint256,uint256,uint32)", source, func(w words.Reader) (order.ID, order.Fact) {
		id, created := readCreation(w)
		return id, created
	}},
	event{"IncreasedGiveAmount(bytes32,uint256,uint256)", source, func(w words.Reader) (order.ID, order.Fact) {
		return w.Hash(0), order.GiveIncreased{Final: w.Amount(1), FinalPercentFee: w.Amount(2)}
	}},
	event{"ClaimedUnlock(bytes32,address,uint256,address)", source, func(w words.Reader) (order.ID, order.Fact) {
		return w.Hash(0), order.Claimed{Kind: order.Unlock, Beneficiary: w.Address(1), Paid: w.Amount(2)}
	}},
	event{"ClaimedOrderCancel(bytes32,address,uint256,address)", source, func(w words.Reader) (order.ID, order.Fact) {
		return w.Hash(0), order.Claimed{Kind: order.Cancel, Beneficiary: w.Address(1), Paid: w.Amount(2)}
	}},
	event{"FulfilledOrder(" + OrderTuple + ",bytes32,uint256,address,address)", destination, func(w words.Reader) (order.ID, order.Fact) {
		id, terms := readTerms(w)
		actual := w.Amount(2)
		return id, order.Fulfilled{Terms: terms, ActualAmount: &actual, Taker: w.Address(3), UnlockAuthority: w.Address(4)}
	}},
	event{"FulfilledOrder(" + OrderTuple + ",bytes32,address,address)", destination, func(w words.Reader) (order.ID, order.Fact) {
		id, terms := readTerms(w)
		return id, order.Fulfilled{Terms: terms, Taker: w.Address(2), UnlockAuthority: w.Address(3)}
	}},
	event{"DecreasedTakeAmount(bytes32,uint256)", destination, func(w words.Reader) (order.ID, order.Fact) {
		return w.Hash(0), order.TakeDecreased{Final: w.Amount(1)}
	}},
	event{"SentOrderUnlock(bytes32,bytes,bytes32)", destination, func(w words.Reader) (order.ID, order.Fact) {
		return w.Hash(0), order.Sent{Kind: order.Unlock, Beneficiary: w.Party(1), Submission: w.Hash(2)}
	}},
	event{"SentOrderCancel(" + OrderTuple + ",bytes32,bytes,bytes32)", destination, func(w words.Reader) (order.ID, order.Fact) {
		id, _ := readTerms(w)
		return id, order.Sent{Kind: order.Cancel, Beneficiary: w.Party(2), Submission: w.Hash(3)}
	}},
	event{"ExternalCallRegistered(bytes32,bytes32,address,address,uint256,bytes)", adapter, callRegistered},
	event{"ExternallCallRegistered(bytes32,bytes32,address,address,uint256,bytes)", adapter, callRegistered},
	event{"ExternalCallExecuted(bytes32,bool)", adapter, func(w words.Reader) (order.ID, order.Fact) {
		if w.Bool(1) {
			return w.Hash(0), order.ExternalCall{Step: order.CallExecuted}
		}
		return w.Hash(0), order.ExternalCall{Step: order.CallFailed}
	}},
	event{"ExternalCallFailed(bytes32,bytes)", adapter, func(w words.Reader) (order.ID, order.Fact) {
		return w.Hash(0), order.ExternalCall{Step: order.CallFailed}
	}},
	event{"ExternalCallCancelled(bytes32,bytes32,address,address,uint256)", adapter, func(w words.Reader) (order.ID, order.Fact) {
		return w.Hash(1), order.ExternalCall{Step: order.CallCancelled}
	}},
	event{"SameChainSwapExecuted(address,address,address,uint256,address,uint256,uint256,uint256,uint32)", router, readSwapped},
)

func callRegistered(w words.Reader) (order.ID, order.Fact) {
	return w.Hash(1), order.ExternalCall{Step: order.CallRegistered}
}

// gateClaimed reports an executed message; debridgeId, receiver, chainIdFrom are indexed (IDeBridgeGate.sol).
var gateClaimed = topic("Claimed(bytes32,bytes32,uint256,address,uint256,uint256,bytes,bool)")

// Topics returns the first topics to ask a node for, on the protocol's contracts. They include the gate's Claimed,
// which has the submission of a claim, and AffiliateFeePaid, which has the recipient.
func Topics() []chain.Hash {
	topics := []chain.Hash{gateClaimed, affiliateFeePaid}
	for t := range events {
		topics = append(topics, t)
	}
	slices.SortFunc(topics, chain.Hash.Compare)
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

// readCreation decodes the words that both versions of CreatedOrder begin with.
func readCreation(w words.Reader) (order.ID, order.Created) {
	id, terms := readTerms(w)
	return id, order.Created{
		Terms:        terms,
		Affiliate:    ParseAffiliate(w.Bytes(2)),
		FixFee:       w.Amount(3),
		PercentFee:   w.Amount(4),
		ReferralCode: uint32(w.Uint(5, 32)),
	}
}

const beneficiaryLength = 20

// AffiliateLength is that of an affiliate fee: 20 bytes of beneficiary, 32 of amount.
const AffiliateLength = beneficiaryLength + words.Size

// ParseAffiliate decodes a creation's affiliate fee. Other lengths mean no fee.
func ParseAffiliate(raw []byte) *order.Affiliate {
	if len(raw) != AffiliateLength {
		return nil
	}
	return &order.Affiliate{
		Beneficiary: chain.NewAddress(raw[:beneficiaryLength]),
		Amount:      chain.AmountFromBytes(raw[beneficiaryLength:]),
	}
}

// readTerms decodes the order that word 0 points to and checks it against the ID in word 1.
func readTerms(w words.Reader) (order.ID, order.Terms) {
	o := w.Tail(0)
	terms := order.Terms{
		Nonce:    o.Uint(0, 64),
		Maker:    o.Party(1),
		Give:     order.Offer{Chain: o.ChainID(2), Token: o.Party(3), Amount: o.Amount(4)},
		Take:     order.Offer{Chain: o.ChainID(5), Token: o.Party(6), Amount: o.Amount(7)},
		Receiver: o.Party(8),
		Authorities: order.Authorities{
			GivePatch:         o.Party(9),
			Order:             o.Party(10),
			AllowedTaker:      o.Party(11),
			CancelBeneficiary: o.Party(12),
		},
		ExternalCall: o.Bytes(13),
	}
	id := w.Hash(1)
	if w.Err() != nil {
		return order.ID{}, order.Terms{}
	}
	if computed := ID(terms); computed != id {
		w.Fail(fmt.Errorf("order id is %s, its terms give %s", id, computed))
	}
	return id, terms
}
