package creation

import (
	"errors"
	"slices"

	"crossgate/chain"
	"crossgate/order"
)

// Creation is an order as DlnSource is asked for it (dln-contracts, libraries/DlnOrderLib.sol, OrderCreation).
type Creation struct {
	GiveToken    chain.Address     // the zero address is the native coin
	GiveAmount   chain.Amount      // gross: fees are taken of it
	Take         order.Offer       // chain 0: a number that no chain of the protocol has
	Receiver     chain.Address     // on the take chain
	Authorities  order.Authorities // GivePatch has 20 bytes, the others may be absent
	ExternalCall []byte
	Salt         *uint64 // nil: the contract's counter of the maker (createOrder)
	AffiliateFee []byte  // in bytes, as the contract takes it: see AffiliateFee
	ReferralCode uint32
	Permit       []byte // an envelope (see Permit), or none
	Metadata     []byte // of createSaltedOrder only; not part of the id
}

// affiliateFeeLength is that of 20 bytes of beneficiary and a word of amount.
const affiliateFeeLength = 20 + 32

// AffiliateFee is a share as DlnSource takes it.
func AffiliateFee(a order.Affiliate) []byte {
	amount := a.Amount.Bytes32()
	return slices.Concat(a.Beneficiary.Bytes(), amount[:])
}

// Affiliate is the share that the creation gives away; nil: none, or bytes of another length, which the contract
// refuses.
func (c Creation) Affiliate() *order.Affiliate {
	if len(c.AffiliateFee) != affiliateFeeLength {
		return nil
	}
	return &order.Affiliate{
		Beneficiary: chain.NewAddress(c.AffiliateFee[:20]),
		Amount:      chain.AmountFromBytes(c.AffiliateFee[20:]),
	}
}

// Split is how the gross give amount is divided, in units of the give token.
type Split struct {
	Percent   chain.Amount // the protocol's, of the gross amount
	Affiliate chain.Amount
	Net       chain.Amount // the order's give amount
}

// bpsDenominator is what 100 % are in basis points.
const bpsDenominator = 10_000

// ErrOverflow is arithmetic that the contract refuses with Panic(0x11).
var ErrOverflow = errors.New("arithmetic overflow")

// Split divides the give amount at the protocol's percentage in basis points (globalTransferFeeBps), rounding down.
func (c Creation) Split(percentBps uint64) (Split, error) {
	return split(c.GiveAmount, c.Affiliate(), percentBps)
}

func split(gross chain.Amount, affiliate *order.Affiliate, percentBps uint64) (Split, error) {
	s := Split{Percent: gross.MulDiv(percentBps, bpsDenominator)}
	if affiliate != nil {
		s.Affiliate = affiliate.Amount
	}
	product := gross.MulDiv(percentBps, 1) // saturates
	taken := s.Percent.Add(s.Affiliate)
	if percentBps != 0 && product.MulDiv(1, percentBps).Cmp(gross) != 0 || taken.Cmp(gross) > 0 {
		return Split{}, ErrOverflow
	}
	s.Net = gross.Sub(taken)
	return s, nil
}

// Terms are those of the order that the creation becomes. The maker is the account that signs the transaction,
// whichever contracts it passes; nonce is the salt, or the contract's counter of the maker; onchain.ID of them is the
// order's id.
func (c Creation) Terms(giveChain chain.ID, maker chain.Address, nonce uint64, net chain.Amount) order.Terms {
	return order.Terms{
		Nonce: nonce, Maker: maker,
		Give:     order.Offer{Chain: giveChain, Token: c.GiveToken, Amount: net},
		Take:     c.Take,
		Receiver: c.Receiver, Authorities: c.Authorities,
		ExternalCall: c.ExternalCall,
	}
}
