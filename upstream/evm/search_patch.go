package evm

import (
	"context"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// seeAmount records the amount in the order's terms, and the amount after the newest change.
func (s *search) seeAmount(block uint64, fact order.Fact) {
	var changed chain.Amount
	switch fact := fact.(type) {
	case order.Created:
		s.original = fact.Terms.Give.Amount
	case order.Fulfilled:
		s.original = fact.Terms.Take.Amount
	case order.GiveIncreased:
		changed = fact.Final
	case order.TakeDecreased:
		changed = fact.Final
	}
	if s.isPatch(fact) && block >= s.lastPatch {
		s.lastPatch, s.amount = block, changed
	}
}

// accountsForPatches reports whether the logs lack no change of the amount: the order's terms and the newest change
// differ by the sum in storage.
func (s *search) accountsForPatches() bool {
	if s.patched.IsZero() || s.lastPatch == 0 || s.original.IsZero() {
		return s.patched.IsZero()
	}
	return s.original.Sub(s.amount) == s.patched || s.amount.Sub(s.original) == s.patched
}

// bisectPatches finds the last change of the amount, which the logs may lack although they have others.
func (s *search) bisectPatches(ctx context.Context) error {
	block, err := s.firstBlock(ctx, max(s.lastPatch, s.from, 1)-1, s.changes, func(answer []byte) (bool, error) {
		patched, err := onchain.DecodePatches(answer)
		return patched.Cmp(s.patched) >= 0, err
	})
	if err != nil || block == s.lastPatch {
		return err
	}
	return s.readBlock(ctx, block, "the last patch", func() bool { return s.lastPatch == block })
}
