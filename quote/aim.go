package quote

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"crossgate/chain"
)

// How an input is searched for: with more than a few rounds of questions nobody waits for the answer any more.
const (
	aimRounds  = 4
	aimAbove   = 2  // basis points above what is wanted that the search goes for, since prices move meanwhile
	aimEnough  = 10 // basis points above it that it is content with
	aimAtLeast = 2  // smallest units, where basis points come to nothing
)

// shot is an input with the minimum that a transaction for it would have.
type shot struct{ in, out chain.Amount }

// aim returns the swap with the least input whose transaction guarantees what the request wants. Inputs are tried,
// each by asking the venues, and the next one is chosen by what came of the last two. The rest of the walk is that of
// any other swap, so every venue and both ways can serve it: what they enforce is their minimum.
// With an error it tells who was asked last, and what became of them.
func (e *Estimator) aim(
	ctx context.Context, r Request, s Swap, serving []entry, awaitPrices func() market,
) (Swap, []Asked, error) {
	var before, last, found shot
	var asked []Asked
	next := awaitPrices().guess(s, r.LeastOut)
	for range aimRounds {
		s.In.Amount = next
		out, told, err := e.guaranteed(ctx, r, s, serving)
		if asked = told; err != nil {
			return Swap{}, asked, err
		}
		before, last = last, shot{next, out}
		if out.Cmp(r.LeastOut) >= 0 && (found.in.IsZero() || next.Cmp(found.in) < 0) {
			found = last
		}
		if next = last.next(before, above(r.LeastOut, aimAbove)); next.IsZero() {
			break
		}
		if !found.in.IsZero() && found.out.Cmp(above(r.LeastOut, aimEnough)) <= 0 {
			break
		}
	}
	if found.in.IsZero() {
		return Swap{}, asked, fmt.Errorf("%w: no input was found that gives %s", ErrNoRoute, r.LeastOut)
	}
	s.In.Amount = found.in
	return s, nil, nil
}

// next is the input that should give wanted; zero when none can. In a pool that keeps the product of its reserves,
// one over the outcome is linear in one over the input, so two shots tell the rest, and one is taken for a rate.
func (s shot) next(before shot, wanted chain.Amount) chain.Amount {
	slope, aim := new(big.Rat).Quo(one(s.in), one(s.out)), new(big.Rat).Sub(one(wanted), one(s.out))
	if !before.in.IsZero() && before.out != s.out && before.in != s.in {
		slope.Sub(one(s.in), one(before.in))
		slope.Quo(slope, new(big.Rat).Sub(one(s.out), one(before.out)))
	}
	inverse := aim.Mul(aim, slope).Add(aim, one(s.in))
	if inverse.Sign() <= 0 {
		return chain.Amount{}
	}
	in, err := chain.AmountFromBig(new(big.Int).Add(new(big.Int).Quo(inverse.Denom(), inverse.Num()), big.NewInt(1)))
	if err != nil {
		return chain.Amount{}
	}
	return in
}

// one is one over an amount.
func one(over chain.Amount) *big.Rat { return new(big.Rat).SetFrac(big.NewInt(1), over.Big()) }

// above is amount and some basis points of it, or some units where those are more.
func above(amount chain.Amount, bps uint64) chain.Amount {
	more := amount.MulDiv(bps, wholeBps)
	if least := chain.NewAmount(aimAtLeast); more.Cmp(least) < 0 {
		more = least
	}
	return amount.Add(more)
}

// guess is the input that is worth as much as an outcome, or a whole token where a price is missing.
func (m market) guess(s Swap, out chain.Amount) chain.Amount {
	smallest := chain.NewAmount(1)
	inUnit := new(big.Rat).Inv(smallest.Units(s.In.Token.Decimals))
	if m.in.usd != nil && m.out.usd != nil && m.in.usd.Sign() > 0 {
		value := new(big.Rat).Mul(out.Units(s.Out.Token.Decimals), m.out.usd)
		value.Quo(value, m.in.usd).Mul(value, inUnit)
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

// guaranteed is the largest minimum that a transaction for the swap would have, as the venues' quotes go. Where those
// whom the public router calls come to nothing, the others are asked.
func (e *Estimator) guaranteed(ctx context.Context, r Request, s Swap, serving []entry) (chain.Amount, []Asked, error) {
	p, err := e.plan(ctx, r, s, serving)
	if err != nil {
		return chain.Amount{}, nil, err
	}
	if len(p.asked) == 0 {
		return chain.Amount{}, p.leftOut, nobodyAble(p.leftOut)
	}
	best, asked, err := e.highestMinimum(ctx, r, s, p)
	if err != nil && len(p.reserve) > 0 && ctx.Err() == nil {
		best, others, err := e.highestMinimum(ctx, r, s, plan{asked: p.reserve, operator: p.operator})
		return best, append(others, asked...), err
	}
	return best, append(asked, p.spared()...), err
}

func (e *Estimator) highestMinimum(ctx context.Context, r Request, s Swap, p plan) (chain.Amount, []Asked, error) {
	answered, err := e.shared(ctx, r, s, p.asked, time.Time{})
	if err != nil {
		return chain.Amount{}, p.leftOut, err
	}
	c := p.offers(s, answered)
	var best chain.Amount
	for _, o := range c.offers {
		if o.profile.Wraps {
			o.outcome.minimum = o.outcome.gross
		}
		if o.tellOnly == nil && o.outcome.minimum.Cmp(best) > 0 {
			best = o.outcome.minimum
		}
		reason := r.satisfiedBy(o.outcome)
		if reason == nil {
			reason = o.tellOnly
		}
		c.refuse(o, reason)
	}
	c.offers = nil
	if best.IsZero() {
		return chain.Amount{}, c.told, c.failure()
	}
	return best, c.told, nil
}

// satisfiedBy refuses an outcome that guarantees less than the request wants.
func (r Request) satisfiedBy(o outcome) error {
	if o.minimum.Cmp(r.LeastOut) < 0 {
		return fmt.Errorf("%w: it guarantees %s, less than the %s that are wanted", ErrRefused, o.minimum, r.LeastOut)
	}
	return nil
}
