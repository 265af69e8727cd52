package crosschain

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/token"
)

// step is a request on one route.
type step struct {
	*journey
	route     Route
	rules     Rules
	decimals  [2]uint8 // of the reserve tokens
	costs     Expenses
	expenses  chain.Amount // costs in the take chain's reserve token
	prepended chain.Amount // input token
}

func (s *step) in() token.Key { return token.Key{Chain: s.route.Give.Chain, Address: s.route.TokenIn} }

func (s *step) out() token.Key {
	return token.Key{Chain: s.route.Take.Chain, Address: s.route.TokenOut}
}

// settle waits for a taker's costs and converts them to amounts. It fails if the input is worth less, to spare venues.
func (s *step) settle(ctx context.Context) (err error) {
	if s.route.SwapsBefore() && s.give.Family != chain.SVM && s.give.Contracts.Router.IsAbsent() {
		return legError("source", quote.ErrNoRouter, nil)
	}
	for i, reserve := range []token.Key{s.route.Give, s.route.Take} {
		known := s.tokens[reserve]
		isDoubtful := known.IsSingle && !s.Chains[reserve.Chain].IsAlone // wrong ones give the order away
		if s.decimals[i] = known.Decimals; isDoubtful || s.Tokens.IsSilent(reserve) {
			return fmt.Errorf("%w: decimals of %s, which two endpoints or tokens.own must have", ErrUnknownCosts, known.Symbol)
		}
	}
	if s.costs, err = s.journey.costs[s.route.SwapsAfter()](); err != nil {
		return err
	}
	if s.expenses, err = s.worth(s.costs.USD(), s.route.Take); err != nil {
		return err
	}
	if s.request.Prepend && !s.request.AmountIn.IsZero() && !s.request.MaxBalance {
		s.prepended, err = s.inInput(ctx, s.rules.Prepended(s.expenses, s.decimals), s.request.AmountIn)
		return err
	}
	price, in := s.usd()[s.in()], s.request.AmountIn
	if s.route.SwapsBefore() && !in.IsZero() && price != nil {
		worth := new(big.Rat).Mul(in.Units(s.tokens[s.in()].Decimals), price)
		if costs := s.costs.USD(); worth.Cmp(costs) < 0 {
			return fmt.Errorf("%w: %s USD are given, and a taker has costs of %s USD", ErrLowAmount, worth.FloatString(6), costs.FloatString(6))
		}
	}
	return nil
}

// worth converts USD to smallest units of a token, rounding down.
func (s *step) worth(usd *big.Rat, of token.Key) (chain.Amount, error) {
	price := s.usd()[of]
	if price == nil || price.Sign() <= 0 {
		return chain.Amount{}, fmt.Errorf("%w: no price of %s", ErrUnknownCosts, s.tokens[of].Symbol)
	}
	return unitsOf(new(big.Rat).Quo(usd, price), s.tokens[of].Decimals), nil
}

// inInput converts an amount of the give chain's reserve token to the input token: by their prices if they differ, or,
// where one is missing, at the rate of a swap of another amount.
func (s *step) inInput(ctx context.Context, reserve, other chain.Amount) (chain.Amount, error) {
	if !s.route.SwapsBefore() {
		return reserve, nil
	}
	price, in := s.usd()[s.route.Give], s.usd()[s.in()]
	if price != nil && in != nil && in.Sign() > 0 {
		return s.worth(new(big.Rat).Mul(reserve.Units(s.decimals[0]), price), s.in())
	}
	swap, err := s.before(ctx, s.request, s.route, other)
	if err != nil {
		return chain.Amount{}, err
	}
	if swap.Out.IsZero() {
		return chain.Amount{}, fmt.Errorf("%w: nothing comes out of the swap before", ErrLowAmount)
	}
	return other.Over(swap.Out).Of(reserve), nil
}

// from follows an input to its end.
func (s *step) from(ctx context.Context, in chain.Amount) (Estimate, error) {
	first, err := s.before(ctx, s.request, s.route, in)
	if err != nil {
		return Estimate{}, err
	}
	course, err := s.rules.Give(in, first.swapped(), s.decimals, s.expenses)
	if err != nil {
		return Estimate{}, err
	}
	last, err := s.after(ctx, s.request, s.route, course.Left)
	if err != nil {
		return Estimate{}, err
	}
	course = course.Take(last.swapped())
	if course.Recommended.IsZero() {
		return Estimate{}, fmt.Errorf("%w: nothing is left of the output token", ErrLowAmount)
	}
	made := Estimate{
		Course: course, Route: s.route, GiveChain: s.give, TakeChain: s.take,
		InToken: s.tokens[s.in()], GiveToken: s.tokens[s.route.Give],
		TakeToken: s.tokens[s.route.Take], OutToken: s.tokens[s.out()],
		Amount: course.Recommended, Prepended: s.prepended, Charges: s.journey.charges, TakerCosts: s.costs,
		Pre: first, Post: last, Prices: s.usd(), At: time.Now(),
	}
	for _, leg := range []*Leg{first, last} { // their comparisons may have been shared
		if leg != nil && leg.Estimates.QuotedAt.Before(made.At) {
			made.At = leg.Estimates.QuotedAt
		}
	}
	if fixed := s.request.AmountOut; !fixed.IsZero() {
		made.Amount = fixed
	}
	made.OperatingExpense = made.Prepended
	if made.Prepended.IsZero() {
		made.OperatingExpense = rescaled(course.Expenses, s.decimals[1], s.decimals[0])
		if course.Before != nil { // at the rate of that swap
			made.OperatingExpense = course.In.Over(course.Before.Out).Of(made.OperatingExpense)
		}
	}
	return made, nil
}

// swapped is the leg's outcome; nil without one.
func (l *Leg) swapped() *Swapped {
	if l == nil {
		return nil
	}
	return &l.Swapped
}
