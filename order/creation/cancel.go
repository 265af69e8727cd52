package creation

import (
	"errors"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Why an order, or its external call, cannot be cancelled.
var (
	ErrFulfilled    = errors.New("the order is fulfilled")
	ErrCancelled    = errors.New("the order is cancelled")
	ErrUnknownCall  = errors.New("the external call is only known by its hash")
	ErrNoCall       = errors.New("the order has no external call")
	ErrCallExecuted = errors.New("the external call is executed")
	ErrCallNotOpen  = errors.New("the external call does not wait for its execution")
	ErrNoPayee      = errors.New("the refund would go to the zero address")
	ErrNotHere      = errors.New("the chain has not, or is not known to have, the contract for this")
)

// orderTuple is an order in calldata (dln-contracts, libraries/DlnOrderLib.sol).
const orderTuple = "(uint64,bytes,uint256,bytes,uint256,uint256,bytes,uint256,bytes,bytes,bytes,bytes,bytes,bytes)"

// The functions of DlnDestination and of the external call's adapter by which an order's authority cancels.
const (
	sendEvmOrderCancel    = "sendEvmOrderCancel(" + orderTuple + ",address,uint256)"
	sendSolanaOrderCancel = "sendSolanaOrderCancel(" + orderTuple + ",bytes32,uint256,uint64,uint64)"
	cancelCall            = "cancelCall(bytes32,address,address,uint256,address,bytes32)"
)

// Beneficiary is who gets the refund of a cancelled order: the only one whom its terms allow, or who may patch it.
func Beneficiary(t order.Terms) chain.Address {
	if b := t.Authorities.CancelBeneficiary; !b.IsAbsent() {
		return b
	}
	return t.Authorities.GivePatch
}

// CanCancel is why an order in a state cannot be cancelled, or not any more; nil: it can.
func CanCancel(t order.Terms, state order.State) error {
	switch state {
	case order.None, order.StateCreated:
		if b := Beneficiary(t); b.IsNative() || b.IsAbsent() {
			return ErrNoPayee
		}
		return nil
	case order.StateOrderCancelled, order.StateSentOrderCancel, order.StateClaimedOrderCancel:
		return ErrCancelled
	}
	return ErrFulfilled
}

// CancelData is the calldata for the take chain's DlnDestination by which the order's authority cancels it. It has the
// full external call: without that, the contract would cancel another order. Nothing is paid for carrying the message
// out.
func CancelData(t order.Terms) ([]byte, error) {
	tuple, err := orderWords(t)
	if err != nil {
		return nil, err
	}
	beneficiary := Beneficiary(t)
	if beneficiary.Len() == words.Size {
		return words.Call(sendSolanaOrderCancel, tuple, chain.Hash(beneficiary.Bytes()), 0, 0, 0), nil
	}
	return words.Call(sendEvmOrderCancel, tuple, beneficiary, 0), nil
}

// orderWords is an order with its full external call: ErrUnknownCall where only the hash of that is known.
func orderWords(t order.Terms) (words.Tuple, error) {
	if t.HasExternalCall() && len(t.ExternalCall) == 0 {
		return nil, ErrUnknownCall
	}
	return words.Tuple{
		t.Nonce, t.Maker.Bytes(), uint64(t.Give.Chain), t.Give.Token.Bytes(), t.Give.Amount, uint64(t.Take.Chain),
		t.Take.Token.Bytes(), t.Take.Amount, t.Receiver.Bytes(), t.Authorities.GivePatch.Bytes(), t.Authorities.Order.Bytes(),
		t.Authorities.AllowedTaker.Bytes(), t.Authorities.CancelBeneficiary.Bytes(), t.ExternalCall,
	}, nil
}

// RegisteredCall is an external call that waits for its execution with an amount of the take token.
type RegisteredCall struct {
	Order  order.ID
	Terms  order.Terms
	Amount chain.Amount
}

// hash is that of the external call, by which the adapter knows it.
func (c RegisteredCall) hash() chain.Hash {
	if len(c.Terms.ExternalCall) == 0 {
		return c.Terms.ExternalCallHash
	}
	return onchain.CallHash(c.Terms.ExternalCall)
}

// Status asks the adapter for the call (0 not set, 1 registered, 2 executed, 3 cancelled).
func (c RegisteredCall) Status() []byte {
	return onchain.CallStatusCall(onchain.CallID(c.Order, c.Terms.Authorities.Order, c.Terms.Take.Token, c.Amount, c.hash()))
}

// CancelData is the calldata for the adapter by which the order's authority takes the amount instead.
func (c RegisteredCall) CancelData() []byte {
	authority := c.Terms.Authorities.Order
	return words.Call(cancelCall, c.Order, authority, c.Terms.Take.Token, c.Amount, authority, c.hash())
}
