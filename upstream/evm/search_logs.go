package evm

import (
	"context"
	"errors"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

// How far logs are searched beyond the first windows for one order: a caller waits, and plans have limits. The rest
// of the caller's time is for reading the results.
const (
	longestScan  = 20 * time.Second
	scanFraction = 2   // divisor of the caller's time
	mostWindows  = 600 // three million blocks
)

var errTooLong = errors.New("the search takes too long without past state")

// isPruned reports whether no endpoint still has the requested data.
func isPruned(err error) bool {
	_, is := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return said.Meaning() == jsonrpc.Pruned })
	return is || errors.Is(err, errNoState)
}

// scanOn reads windows of logs after the searched ones until isFound. Blocks whose logs no endpoint still has, or that
// time does not suffice for, are a gap.
func (s *search) scanOn(ctx context.Context, isFound func() bool) error {
	latest, from := uint64(s.latest.Number), s.from
	if s.to > 0 {
		from = s.to + 1
	}
	until := time.Now().Add(longestScan)
	if deadline, limited := ctx.Deadline(); limited {
		if part := time.Now().Add(time.Until(deadline) / scanFraction); part.Before(until) {
			until = part
		}
	}
	for windows := 0; from <= latest && !isFound(); windows++ {
		if time.Now().After(until) || windows == mostWindows {
			s.lack(from, latest, errTooLong)
			return nil
		}
		to := min(from+windowBlocks-1, latest)
		err := s.collect(ctx, from, to)
		if isPruned(err) && to < latest {
			to = max(to, from+(latest-from)/2) // blocks half as old may be available
			s.lack(from, to, err)
			err = nil
		}
		if err != nil {
			return err
		}
		from, s.to = to+1, to
	}
	if isFound() {
		s.gap = nil
	}
	return nil
}

func (s *search) lack(from, to uint64, why error) {
	if s.gap == nil {
		s.gap = &order.PartialError{Gap: order.Gap{Chain: s.chain.chain.ID, From: from}}
	}
	s.gap.To, s.gap.Err = to, why
}

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
