package creation

import (
	"errors"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Creation is the input of DlnSource for an order (dln-contracts, libraries/DlnOrderLib.sol, OrderCreation).
type Creation struct {
	GiveToken    chain.Address     // the zero address is the native coin
	GiveAmount   chain.Amount      // gross: fees are deducted from it
	Take         order.Offer       // chain 0: a number that no chain of the protocol can have
	Receiver     chain.Address     // on the take chain
	Authorities  order.Authorities // GivePatch has 20 bytes, the others may be absent
	ExternalCall []byte
	Salt         *uint64 // nil: the contract's nonce of the maker (createOrder)
	AffiliateFee []byte  // encoded by AffiliateFee; may be malformed
	ReferralCode uint32
	Permit       []byte // an envelope (see Permit); empty: none
	Metadata     []byte // of createSaltedOrder only; not part of the order ID
}

// AffiliateFee encodes an affiliate's share for DlnSource.
func AffiliateFee(a order.Affiliate) []byte {
	amount := a.Amount.Bytes32()
	return slices.Concat(a.Beneficiary.Bytes(), amount[:])
}

// Affiliate returns the affiliate's share; nil: there is none, or AffiliateFee has an invalid length, which the
// contract refuses.
func (c Creation) Affiliate() *order.Affiliate { return onchain.ParseAffiliate(c.AffiliateFee) }

// Split is the division of the gross give amount, in units of the give token.
type Split struct {
	Percent   chain.Amount // the protocol's share of the gross amount
	Affiliate chain.Amount
	Net       chain.Amount // the order's give amount
}

// bpsDenominator is 100 % in basis points.
const bpsDenominator = 10_000

// ErrOverflow says that the contract would revert with Panic(0x11).
var ErrOverflow = errors.New("arithmetic overflow")

// SplitOf divides a gross amount, with the protocol's share in basis points (globalTransferFeeBps) rounded down.
func SplitOf(gross chain.Amount, affiliate *order.Affiliate, percentBps uint64) (Split, error) {
	s := Split{Percent: gross.MulDiv(percentBps, bpsDenominator)}
	if affiliate != nil {
		s.Affiliate = affiliate.Amount
	}
	product, rest := gross.MulDiv(percentBps, 1), gross.Sub(s.Percent) // saturating
	if percentBps != 0 && product.MulDiv(1, percentBps).Cmp(gross) != 0 || s.Percent.Cmp(gross) > 0 || s.Affiliate.Cmp(rest) > 0 {
		return Split{}, ErrOverflow
	}
	s.Net = rest.Sub(s.Affiliate)
	return s, nil
}

// Terms returns the terms of the order that the creation becomes. The maker is the account that signs the transaction,
// whichever contracts it passes through; nonce is the salt or the contract's nonce of the maker. Their onchain.ID is
// the order's ID.
func (c Creation) Terms(giveChain chain.ID, maker chain.Address, nonce uint64, net chain.Amount) order.Terms {
	return order.Terms{
		Nonce: nonce, Maker: maker,
		Give:     order.Offer{Chain: giveChain, Token: c.GiveToken, Amount: net},
		Take:     c.Take,
		Receiver: c.Receiver, Authorities: c.Authorities,
		ExternalCall: c.ExternalCall,
	}
}
