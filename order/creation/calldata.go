package creation

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// Signatures of the functions of DlnSource that create an order, and of the public router's that swaps first.
const (
	orderCreation       = "(address,uint256,bytes,uint256,uint256,bytes,address,bytes,bytes,bytes,bytes)"
	createOrder         = "createOrder(" + orderCreation + ",bytes,uint32,bytes)"
	createSaltedOrder   = "createSaltedOrder(" + orderCreation + ",uint64,bytes,uint32,bytes,bytes)"
	strictlySwapAndCall = "strictlySwapAndCall(address,uint256,bytes,address,bytes,address,uint256,address,address,bytes)"
)

// Data returns the calldata for DlnSource. An absent GiveToken or GivePatch is encoded as the zero address.
func (c Creation) Data() []byte {
	tuple := words.Tuple{
		c.GiveToken, c.GiveAmount, c.Take.Token.Bytes(), c.Take.Amount, uint64(c.Take.Chain), c.Receiver.Bytes(),
		c.Authorities.GivePatch, c.Authorities.Order.Bytes(), c.Authorities.AllowedTaker.Bytes(), c.ExternalCall,
		c.Authorities.CancelBeneficiary.Bytes(),
	}
	if c.Salt == nil {
		return words.Call(createOrder, tuple, c.AffiliateFee, uint64(c.ReferralCode), c.Permit)
	}
	return words.Call(createSaltedOrder, tuple, *c.Salt, c.AffiliateFee, uint64(c.ReferralCode), c.Permit, c.Metadata)
}

// Swap is the router's part of a creation: it pulls an input, swaps it at a venue, sends any surplus over ExpectedOut
// to the refund recipient, and calls the target with the rest (DeBridgeRouter, strictlySwapAndCall).
type Swap struct {
	TokenIn         chain.Address // the zero address is the native coin
	AmountIn        chain.Amount
	Permit          []byte // an envelope (see Permit) for the router; empty: none
	Venue           chain.Address
	VenueData       []byte
	TokenOut        chain.Address
	ExpectedOut     chain.Amount
	RefundRecipient chain.Address
	Target          chain.Address // DlnSource
	TargetData      []byte        // calldata of a creation; the router never changes it
}

// Data returns the calldata for the router.
func (s Swap) Data() []byte {
	return words.Call(strictlySwapAndCall, s.TokenIn, s.AmountIn, s.Permit, s.Venue, s.VenueData, s.TokenOut, s.ExpectedOut,
		s.RefundRecipient, s.Target, s.TargetData)
}

// Errors of calldata. For both, contracts revert without a reason.
var (
	ErrOtherFunction = errors.New("calldata of another function")
	ErrMalformed     = errors.New("malformed data of a transaction")
)

const selectorLength = 4

// arguments returns the name of the function that data calls, one of several, and the words after its selector.
func arguments(data []byte, functions ...string) (name string, w words.Reader, err error) {
	for _, function := range functions {
		if bytes.HasPrefix(data, words.Call(function)) {
			name, _, _ = strings.Cut(function, "(")
			return name, words.New(data[selectorLength:]), nil
		}
	}
	return "", w, fmt.Errorf("%w: 0x%x", ErrOtherFunction, data[:min(len(data), selectorLength)])
}

// Parse decodes the calldata of createOrder or createSaltedOrder, in any layout that the contract accepts.
func Parse(data []byte) (Creation, error) {
	c, late, err := parse(data)
	if err == nil {
		err = late
	}
	if err != nil {
		return Creation{}, err
	}
	return c, nil
}

// parse decodes calldata like the contract: late is an error within the tuple, which the contract copies to memory only
// after some checks of the arguments beside it.
func parse(data []byte) (c Creation, late, err error) {
	name, w, err := arguments(data, createOrder, createSaltedOrder)
	if err != nil {
		return c, nil, err
	}
	const tupleWords = 11
	t, next := w.Tail(0), 1
	t.Word(tupleWords - 1)
	if name == "createSaltedOrder" {
		salt := w.Uint(next, 64)
		c.Salt = &salt
		next++
	}
	c.AffiliateFee, c.ReferralCode, c.Permit = w.Bytes(next), uint32(w.Uint(next+1, 32)), w.Bytes(next+2)
	if w.Err() != nil { // these arguments are not copied to memory
		return c, nil, fmt.Errorf("%w: %s: %v", ErrMalformed, name, w.Err())
	}
	if c.Salt != nil {
		c.Metadata = w.Bytes(next + 3)
	}
	if w.Err() != nil {
		return c, nil, fmt.Errorf("%w: %s: %w", ErrMalformed, name, w.Err())
	}
	c.GiveToken, c.GiveAmount = t.Address(0), t.Amount(1)
	c.Take = order.Offer{Token: t.Party(2), Amount: t.Amount(3), Chain: takeChain(t.Amount(4))}
	c.Receiver = t.Party(5)
	c.Authorities = order.Authorities{GivePatch: t.Address(6), Order: t.Party(7), AllowedTaker: t.Party(8)}
	c.ExternalCall, c.Authorities.CancelBeneficiary = t.Bytes(9), t.Party(10)
	if w.Err() != nil {
		late = fmt.Errorf("%w: %s: %w", ErrMalformed, name, w.Err())
	}
	return c, late, nil
}

// takeChain returns a number as a chain ID, 0 if no chain can have it.
func takeChain(number chain.Amount) chain.ID {
	if id, fits := number.Uint64(); fits && id>>63 == 0 {
		return chain.ID(id)
	}
	return 0
}

// ParseSwap decodes the calldata of strictlySwapAndCall, in any layout that the router accepts.
func ParseSwap(data []byte) (Swap, error) {
	name, w, err := arguments(data, strictlySwapAndCall)
	if err != nil {
		return Swap{}, err
	}
	w.Word(9)
	s := Swap{TokenIn: w.Address(0), AmountIn: w.Amount(1), Permit: w.Bytes(2)} // the envelope is copied to memory
	if w.Err() != nil {
		return Swap{}, fmt.Errorf("%w: %s: %w", ErrMalformed, name, w.Err())
	}
	s.Venue, s.VenueData = w.Address(3), w.Bytes(4)
	s.TokenOut, s.ExpectedOut, s.RefundRecipient = w.Address(5), w.Amount(6), w.Address(7)
	s.Target, s.TargetData = w.Address(8), w.Bytes(9)
	if w.Err() != nil {
		return Swap{}, fmt.Errorf("%w: %s: %v", ErrMalformed, name, w.Err())
	}
	return s, nil
}

// Payment returns what the caller of a transaction with this calldata pays, which is the give amount or the input of
// the swap, and whether the calldata has a permit for it.
func Payment(data []byte) (token chain.Address, amount chain.Amount, isPermitted bool, err error) {
	if swap, err := ParseSwap(data); !errors.Is(err, ErrOtherFunction) {
		return swap.TokenIn, swap.AmountIn, len(swap.Permit) > 0, err
	}
	c, err := Parse(data)
	return c.GiveToken, c.GiveAmount, len(c.Permit) > 0, err
}
