package quote

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"crossgate/chain"
)

// Limits of the search for the input of an exact output: clients do not wait for more than a few quote rounds.
const (
	maxSamples    = 4
	aimAboveBps   = 2  // above the wanted output, since prices move during the search
	goodEnoughBps = 10 // above the wanted output: close enough to stop the search
	aimAboveUnits = 2  // at least, in smallest units
)

// sample is an input with the minimum that a transaction for it would guarantee.
type sample struct{ in, out chain.Amount }

// compareExact is compare for both kinds of request. For an exact output it samples inputs, comparing quotes without
// building transactions, until it finds the smallest one whose transaction guarantees the output. Venues that fail to
// build it are left out of another search: the input is too small for those that quote less.
func (t *trade) compareExact(ctx context.Context) (comparison, error) {
	wanted := t.request.MinOut
	if wanted.IsZero() {
		return t.compare(ctx)
	}
	t.sampling = true
	var c comparison
	prices := t.prices()
	first := Guess(prices.in, prices.out, t.swap.In.Token.Decimals, t.swap.Out.Token.Decimals, wanted)
	if isWrapping(t.swap) {
		first = wanted
	}
	found, err := SearchInput(first, wanted, func(in chain.Amount) (out chain.Amount, err error) {
		t.swap.In.Amount = in
		c, err = t.compare(ctx)
		return c.minOut, err
	})
	if err != nil {
		return c, err
	}
	t.swap.In.Amount, t.sampling = found, false
	c, err = t.compare(ctx)
	failed := slices.DeleteFunc(slices.Clone(c.rejected), func(one Asked) bool {
		quoted := newPayout(one.AmountOut, t.charges(one.Way), t.swap.SlippagePercent)
		return one.Verdict != Refused || t.satisfied(quoted) != nil
	})
	if err == nil || len(failed) == 0 || ctx.Err() != nil || isDecisive(err) {
		return c, err
	}
	t.venues = slices.DeleteFunc(t.venues, func(v profiledVenue) bool {
		return slices.ContainsFunc(failed, func(one Asked) bool { return one.Venue == v.profile.Name })
	})
	again, againErr := t.compareExact(ctx)
	if againErr != nil { // the first failures explain more
		return c, err
	}
	again.rejected = append(again.rejected, failed...)
	return again, nil
}

// SearchInput searches for the smallest input whose outcome is wanted or slightly more, by sampling outcome a few times
// from a first guess on. An error of outcome ends the search; ErrNoRoute means that no input was found.
func SearchInput(first, wanted chain.Amount, outcome func(in chain.Amount) (out chain.Amount, err error)) (chain.Amount, error) {
	var before, last, found sample
	next := first
	for range maxSamples {
		out, err := outcome(next)
		if err != nil {
			return chain.Amount{}, err
		}
		before, last = last, sample{next, out}
		if last.out.Cmp(wanted) >= 0 && (found.in.IsZero() || next.Cmp(found.in) < 0) {
			found = last
		}
		if next = last.next(before, above(wanted, aimAboveBps)); next.IsZero() {
			break
		}
		if !found.in.IsZero() && found.out.Cmp(above(wanted, goodEnoughBps)) <= 0 {
			break
		}
	}
	if found.in.IsZero() {
		return chain.Amount{}, fmt.Errorf("%w: no input yields %s", ErrNoRoute, wanted)
	}
	return found.in, nil
}

// sample records the largest minimum that a transaction would guarantee according to the venues' quotes.
func (t *trade) sample(c *comparison) error {
	for _, o := range c.candidates {
		if o.compareOnly == nil && o.payout.minimum.Cmp(c.minOut) > 0 {
			c.minOut = o.payout.minimum
		}
		reason := t.satisfied(o.payout)
		if reason == nil {
			reason = o.compareOnly
		}
		c.refuse(o, reason)
	}
	c.candidates = nil
	if c.minOut.IsZero() {
		return c.failure()
	}
	return nil
}

// satisfied refuses a payout that guarantees nothing, or less than the request wants.
func (t *trade) satisfied(p payout) error {
	if p.minimum.IsZero() {
		return fmt.Errorf("%w: of %s with a slippage of %s %%", ErrNoMinimum, p.gross, p.slippagePercent)
	}
	if wanted := t.request.MinOut; p.minimum.Cmp(wanted) < 0 {
		return fmt.Errorf("%w: it guarantees %s, less than the requested %s", ErrRefused, p.minimum, wanted)
	}
	return nil
}

// next returns the input that should yield wanted, zero if none can. In a constant-product pool 1/output is linear in
// 1/input, so two samples determine the line; a single sample is taken as a rate.
func (s sample) next(before sample, wanted chain.Amount) chain.Amount {
	slope, distance := new(big.Rat).Quo(oneOver(s.in), oneOver(s.out)), new(big.Rat).Sub(oneOver(wanted), oneOver(s.out))
	if !before.in.IsZero() && before.out != s.out && before.in != s.in {
		slope.Sub(oneOver(s.in), oneOver(before.in))
		slope.Quo(slope, new(big.Rat).Sub(oneOver(s.out), oneOver(before.out)))
	}
	inverse := distance.Mul(distance, slope).Add(distance, oneOver(s.in))
	if inverse.Sign() <= 0 {
		return chain.Amount{}
	}
	in, err := chain.AmountFromBig(new(big.Int).Add(new(big.Int).Quo(inverse.Denom(), inverse.Num()), big.NewInt(1)))
	if err != nil {
		return chain.Amount{}
	}
	return in
}

func oneOver(amount chain.Amount) *big.Rat { return new(big.Rat).SetFrac(big.NewInt(1), amount.Big()) }

// above returns amount plus some basis points of it, but at least aimAboveUnits more.
func above(amount chain.Amount, bps uint64) chain.Amount {
	more := amount.MulDiv(bps, wholeBps)
	if least := chain.NewAmount(aimAboveUnits); more.Cmp(least) < 0 {
		more = least
	}
	return amount.Add(more)
}

// Guess is the input that is worth as much as an output at the prices of whole tokens, or a whole token where one of
// these is missing.
func Guess(inPrice, outPrice *big.Rat, inDecimals, outDecimals uint8, out chain.Amount) chain.Amount {
	smallest := chain.NewAmount(1)
	inUnit := new(big.Rat).Inv(smallest.Units(inDecimals))
	if inPrice != nil && outPrice != nil && inPrice.Sign() > 0 {
		value := new(big.Rat).Mul(out.Units(outDecimals), outPrice)
		value.Quo(value, inPrice).Mul(value, inUnit)
		whole := new(big.Int).Quo(value.Num(), value.Denom())
		if guessed, err := chain.AmountFromBig(whole.Add(whole, big.NewInt(1))); err == nil {
			return guessed
		}
	}
	token, err := chain.AmountFromBig(inUnit.Num())
	if err != nil {
		return smallest
	}
	return token
}
