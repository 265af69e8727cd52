package creation

import (
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Reasons why an order, or its external call, cannot be cancelled.
var (
	ErrFulfilled    = errors.New("the order is fulfilled")
	ErrCancelled    = errors.New("the order is cancelled")
	ErrUnknownCall  = errors.New("the external call is only known by its hash")
	ErrNoCall       = errors.New("the order has no external call")
	ErrCallExecuted = errors.New("the external call is executed")
	ErrCallNotOpen  = errors.New("the external call is not awaiting execution")
	ErrNoPayee      = errors.New("the refund would go to the zero address, or to an account that refuses it")
	ErrNotHere      = errors.New("the contract for this is missing or unknown on the chain")
)

// The functions of DlnDestination and the external call's adapter with which an order's authority cancels.
const (
	sendEvmOrderCancel    = "sendEvmOrderCancel(" + onchain.OrderTuple + ",address,uint256)"
	sendSolanaOrderCancel = "sendSolanaOrderCancel(" + onchain.OrderTuple + ",bytes32,uint256,uint64,uint64)"
	cancelCall            = "cancelCall(bytes32,address,address,uint256,address,bytes32)"
)

// Beneficiary returns who gets a cancelled order's refund: the only one its terms allow, else its patch authority.
func Beneficiary(t order.Terms) chain.Address {
	if b := t.Authorities.CancelBeneficiary; !b.IsAbsent() {
		return b
	}
	return t.Authorities.GivePatch
}

// CanCancel returns why an order in a state cannot be cancelled, or no longer; nil: it can.
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

// CanCancelCall returns why no external call of an order can be cancelled on a chain with contracts c; nil: perhaps.
func CanCancelCall(t order.Terms, c chain.Contracts) error {
	switch {
	case !t.HasExternalCall():
		return ErrNoCall
	case c.ExternalCallAdapter.IsAbsent():
		return fmt.Errorf("%w: its contract of external calls is not known", ErrNotHere)
	}
	return nil
}

// CancelData returns the calldata with which the order's authority cancels it on the take chain's DlnDestination. It
// contains the full external call: without that, the contract would cancel another order; ErrUnknownCall if only its
// hash is known. It pays nothing for executing the message.
func CancelData(t order.Terms) ([]byte, error) {
	if t.HasExternalCall() && len(t.ExternalCall) == 0 {
		return nil, ErrUnknownCall
	}
	tuple, beneficiary := orderWords(t, t.ExternalCall), Beneficiary(t)
	if beneficiary.Len() == words.Size {
		return words.Call(sendSolanaOrderCancel, tuple, chain.Hash(beneficiary.Bytes()), 0, 0, 0), nil
	}
	return words.Call(sendEvmOrderCancel, tuple, beneficiary, 0), nil
}

// orderWords encodes an order, with its external call or whatever a function wants in place of it.
func orderWords(t order.Terms, call []byte) words.Tuple {
	return words.Tuple{
		t.Nonce, t.Maker.Bytes(), uint64(t.Give.Chain), t.Give.Token.Bytes(), t.Give.Amount, uint64(t.Take.Chain),
		t.Take.Token.Bytes(), t.Take.Amount, t.Receiver.Bytes(), t.Authorities.GivePatch.Bytes(), t.Authorities.Order.Bytes(),
		t.Authorities.AllowedTaker.Bytes(), t.Authorities.CancelBeneficiary.Bytes(), call,
	}
}

// RegisteredCall is an external call that awaits its execution with an amount of the take token.
type RegisteredCall struct {
	Order  order.ID
	Terms  order.Terms
	Amount chain.Amount
}

// Status returns calldata for the adapter's status of the call (0 not set, 1 registered, 2 executed, 3 cancelled).
func (c RegisteredCall) Status() []byte {
	return onchain.CallStatusCall(onchain.CallID(c.Order, c.Terms.Authorities.Order, c.Terms.Take.Token, c.Amount, onchain.CallHashOf(c.Terms)))
}

// CancelData returns calldata for the adapter with which the order's authority takes the amount instead.
func (c RegisteredCall) CancelData() []byte {
	authority := c.Terms.Authorities.Order
	return words.Call(cancelCall, c.Order, authority, c.Terms.Take.Token, c.Amount, authority, onchain.CallHashOf(c.Terms))
}
