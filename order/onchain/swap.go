package onchain

import (
	"errors"
	"slices"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// affiliateFeePaid reports the paid affiliate share of a swap, before SameChainSwapExecuted: token, amount, recipient,
// referralCode.
var affiliateFeePaid = topic("AffiliateFeePaid(address,uint256,address,uint32)")

// readSwapped decodes SameChainSwapExecuted (DeBridgeRouter 3.2.0): sender, recipient, tokenIn, amountIn, tokenOut,
// amountOut, fee, affiliateFee, referralCode. A lone SwapExecuted may be a swap before an order's creation.
func readSwapped(w words.Reader) (order.ID, order.Fact) {
	s := order.Swapped{
		Sender: w.Address(0), Recipient: w.Address(1),
		TokenIn: w.Address(2), AmountIn: w.Amount(3),
		TokenOut: w.Address(4), AmountOut: w.Amount(5),
		Fee: w.Amount(6), ReferralCode: uint32(w.Uint(8, 32)),
	}
	share := w.Amount(7)
	if w.Err() == nil && (s.AmountOut.Cmp(s.Fee) < 0 || s.AmountOut.Sub(s.Fee).Cmp(share) < 0) {
		w.Fail(errors.New("fees exceed the swap's output"))
	}
	if !share.IsZero() {
		s.Affiliate = &order.Affiliate{Amount: share}
	}
	return order.ID{}, s
}

// swapExecuted is the router's report of a swap: router, tokenIn, amountIn, tokenOut, amountOut.
var swapExecuted = topic("SwapExecuted(address,address,uint256,address,uint256)")

// share is an affiliate's share that the router reported as paid.
type share struct {
	token    chain.Address
	referral uint32
	order.Affiliate
}

// reports are the router's reports in one transaction that are not yet assigned to an order or a swap.
type reports struct {
	router chain.Address
	swaps  []order.Preswap
	shares []share
}

// see remembers a report. It ignores a malformed one, so that the order or swap itself is not lost.
func (r *reports) see(log Log) {
	if log.Address.IsAbsent() || log.Address != r.router || len(log.Topics) != 1 {
		return
	}
	switch w := words.New(log.Data); log.Topics[0] {
	case swapExecuted:
		swap := order.Preswap{TokenIn: w.Address(1), AmountIn: w.Amount(2), TokenOut: w.Address(3), AmountOut: w.Amount(4)}
		if w.Err() == nil {
			r.swaps = append(r.swaps, swap)
		}
	case affiliateFeePaid:
		paid := share{
			token: w.Address(0), referral: uint32(w.Uint(3, 32)),
			Affiliate: order.Affiliate{Amount: w.Amount(1), Beneficiary: w.Address(2)},
		}
		if w.Err() == nil {
			r.shares = append(r.shares, paid)
		}
	}
}

// takeSwap returns the newest swap into a creation's give token, nil if none; earlier swaps are discarded.
func (r *reports) takeSwap(give chain.Address) *order.Preswap {
	reported := r.swaps
	r.swaps = nil
	for _, swap := range slices.Backward(reported) {
		if swap.TokenOut == give {
			return &swap
		}
	}
	return nil
}

// takeShare returns a reported swap's affiliate, by the newest matching report. Earlier ones are discarded.
func (r *reports) takeShare(swap order.Swapped) *order.Affiliate {
	amount := chain.Amount{}
	if swap.Affiliate != nil {
		amount = swap.Affiliate.Amount
	}
	reported := r.shares
	r.shares = nil
	for _, paid := range slices.Backward(reported) {
		if paid.token == swap.TokenOut && paid.referral == swap.ReferralCode && paid.Amount.Cmp(amount) == 0 {
			return &paid.Affiliate
		}
	}
	return swap.Affiliate
}

// IsSwap reports whether the fact is a swap within its chain.
func (f Found) IsSwap() bool {
	_, is := f.Fact.(order.Swapped)
	return is
}

// LacksBeneficiary reports whether a swap paid an affiliate that no log identifies.
func (f Found) LacksBeneficiary() bool {
	s, is := f.Fact.(order.Swapped)
	return is && s.Affiliate != nil && s.Affiliate.Beneficiary.IsAbsent()
}
