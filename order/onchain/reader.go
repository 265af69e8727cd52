package onchain

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/order"
)

// GiveStatus is what DlnSource says of an order.
type GiveStatus uint8

// Statuses of an order on its give chain.
const (
	GiveNotSet GiveStatus = iota
	GiveCreated
	GiveClaimedUnlock
	GiveClaimedCancel
)

// State is what a status means for an order.
func (s GiveStatus) State() order.State {
	return map[GiveStatus]order.State{
		GiveCreated: order.StateCreated, GiveClaimedUnlock: order.StateClaimedUnlock, GiveClaimedCancel: order.StateClaimedOrderCancel,
	}[s]
}

// TakeStatus is what DlnDestination says of an order.
type TakeStatus uint8

// Statuses of an order on its take chain. TakeCancelled, which the contract lacks, is between two steps on Solana.
const (
	TakeNotSet TakeStatus = iota
	TakeFulfilled
	TakeSentUnlock
	TakeSentCancel
	TakeCancelled
)

// State is what a status means for an order.
func (s TakeStatus) State() order.State {
	return map[TakeStatus]order.State{
		TakeFulfilled: order.StateFulfilled, TakeSentUnlock: order.StateSentUnlock,
		TakeSentCancel: order.StateSentOrderCancel, TakeCancelled: order.StateOrderCancelled,
	}[s]
}

// GiveOrder is the storage of an order in DlnSource. After a claim only the status can be relied on.
type GiveOrder struct {
	Status     GiveStatus
	Token      chain.Address
	FixFee     chain.Amount // native coin
	TakeChain  chain.ID
	PercentFee chain.Amount
	Amount     chain.Amount
	Affiliate  *order.Affiliate
}

// TakeOrder is the storage of an order in DlnDestination.
type TakeOrder struct {
	Status    TakeStatus
	Taker     chain.Address // the unlock authority
	GiveChain chain.ID
}

// call is the calldata of a function of one word.
func call(signature string, word []byte) []byte {
	const selectorLength = 4
	return slices.Concat(crypto.Keccak256([]byte(signature))[:selectorLength], word)
}

// GiveOrderCall is the calldata that asks DlnSource for an order.
func GiveOrderCall(id order.ID) []byte { return call("giveOrders(bytes32)", id[:]) }

// TakeOrderCall is the calldata that asks DlnDestination for an order.
func TakeOrderCall(id order.ID) []byte { return call("takeOrders(bytes32)", id[:]) }

// GivePatchesCall is the calldata that asks DlnSource by how much an order's give amount was raised.
func GivePatchesCall(id order.ID) []byte { return call("givePatches(bytes32)", id[:]) }

// TakePatchesCall is the calldata that asks DlnDestination by how much an order's take amount was lowered.
func TakePatchesCall(id order.ID) []byte { return call("takePatches(bytes32)", id[:]) }

// CallStatusCall asks the external call adapter for a call, by the id that ExternalCallRegistered carries first.
func CallStatusCall(registration []byte) []byte {
	return call("externalCallStatus(bytes32)", registration[:min(wordSize, len(registration))])
}

// DecodeCallStatus reads the answer: whether a call was executed, failed or was cancelled since it was registered.
func DecodeCallStatus(answer []byte) (isOver bool, err error) {
	const created, cancelled = 1, 3
	w := newWords(answer)
	status := w.uint(0, 8)
	if err := w.err(); err != nil {
		return false, fmt.Errorf("decode externalCallStatus: %w", err)
	}
	if status > cancelled {
		return false, fmt.Errorf("decode externalCallStatus: status %d is unknown", status)
	}
	return status > created, nil
}

// DecodePatches reads the answer to either; an empty one, from a missing contract, is zero.
func DecodePatches(answer []byte) (chain.Amount, error) {
	if len(answer) == 0 {
		return chain.Amount{}, nil
	}
	w := newWords(answer)
	patched := w.amount(0)
	if err := w.err(); err != nil {
		return chain.Amount{}, fmt.Errorf("decode patches: %w", err)
	}
	return patched, nil
}

// DecodeGiveOrder reads DlnSource's answer to GiveOrderCall.
func DecodeGiveOrder(answer []byte) (GiveOrder, error) {
	w := newWords(answer)
	status := w.uint(0, 8)
	stored := GiveOrder{
		Status:     GiveStatus(status),
		Token:      w.address(1),
		FixFee:     w.amount(2),
		TakeChain:  w.chainID(3),
		PercentFee: w.amount(4),
		Amount:     w.amount(5),
	}
	affiliate := order.Affiliate{Beneficiary: w.addressOrAbsent(6), Amount: w.amount(7)}
	if !affiliate.Beneficiary.IsAbsent() {
		stored.Affiliate = &affiliate
	}
	if err := w.err(); err != nil {
		return GiveOrder{}, fmt.Errorf("decode giveOrders: %w", err)
	}
	if stored.Status > GiveClaimedCancel {
		return GiveOrder{}, fmt.Errorf("decode giveOrders: status %d is unknown", status)
	}
	return stored, nil
}

// DecodeTakeOrder reads the answer to TakeOrderCall: three words, or four with a give chain id beyond 32 bits.
func DecodeTakeOrder(answer []byte) (TakeOrder, error) {
	w := newWords(answer)
	status := w.uint(0, 8)
	stored := TakeOrder{Status: TakeStatus(status), Taker: w.addressOrAbsent(1), GiveChain: w.chainID(2)}
	if stored.GiveChain == 0 && len(answer) > 3*wordSize {
		stored.GiveChain = w.chainID(3)
	}
	if err := w.err(); err != nil {
		return TakeOrder{}, fmt.Errorf("decode takeOrders: %w", err)
	}
	if stored.Status > TakeSentCancel {
		return TakeOrder{}, fmt.Errorf("decode takeOrders: status %d is unknown", status)
	}
	return stored, nil
}
