package onchain

import (
	"errors"
	"slices"

	"crossgate/chain"
	"crossgate/order"
)

// affiliateFeePaid is the router's report of a share that it paid out of a swap (DeBridgeRouter): token, amount,
// recipient, referralCode. It comes before the swap's SameChainSwapExecuted, which lacks the recipient.
var affiliateFeePaid = topic("AffiliateFeePaid(address,uint256,address,uint32)")

// readSwapped reads SameChainSwapExecuted, the last event of a swap within a chain (DeBridgeRouter 3.2.0, public
// source): sender, recipient, tokenIn, amountIn, tokenOut, amountOut, fee, affiliateFee, referralCode. SwapExecuted
// alone is none: the swaps before an order's creation report it too.
func readSwapped(w words) (order.ID, order.Fact) {
	s := order.Swapped{
		Sender: w.address(0), Recipient: w.address(1),
		TokenIn: w.address(2), AmountIn: w.amount(3),
		TokenOut: w.address(4), AmountOut: w.amount(5),
		Fee: w.amount(6), ReferralCode: uint32(w.uint(8, 32)),
	}
	share := w.amount(7)
	if w.err() == nil && (s.AmountOut.Cmp(s.Fee) < 0 || s.AmountOut.Sub(s.Fee).Cmp(share) < 0) {
		w.fail(errors.New("fees exceed what the swap brought"))
	}
	if !share.IsZero() {
		s.Affiliate = &order.Affiliate{Amount: share}
	}
	return order.ID{}, s
}

// share is a payment that the router reported.
type share struct {
	token    chain.Address
	referral uint32
	order.Affiliate
}

// shares are those that the router reported in one transaction and that belong to no swap yet.
type shares struct {
	router chain.Address
	unused []share
}

// see remembers a report of a share. An unreadable one does not lose the swap.
func (s *shares) see(log Log) {
	if log.Address.IsAbsent() || log.Address != s.router || len(log.Topics) != 1 || log.Topics[0] != affiliateFeePaid {
		return
	}
	w := newWords(log.Data)
	paid := share{
		token: w.address(0), referral: uint32(w.uint(3, 32)),
		Affiliate: order.Affiliate{Amount: w.amount(1), Beneficiary: w.address(2)},
	}
	if w.err() == nil {
		s.unused = append(s.unused, paid)
	}
}

// take returns what the affiliate of a swap got that was just reported, nil for a swap without one. The newest report
// that agrees with the swap belongs to it; those before serve no later swap.
func (s *shares) take(swap order.Swapped) *order.Affiliate {
	amount := chain.Amount{}
	if swap.Affiliate != nil {
		amount = swap.Affiliate.Amount
	}
	reported := s.unused
	s.unused = nil
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

// LacksBeneficiary reports whether a swap paid a share to a recipient that no log names.
func (f Found) LacksBeneficiary() bool {
	s, is := f.Fact.(order.Swapped)
	return is && s.Affiliate != nil && s.Affiliate.Beneficiary.IsAbsent()
}
