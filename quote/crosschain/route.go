package crosschain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/token"
)

// Errors of a well-formed order request.
var (
	ErrSameChain       = errors.New("source and destination chain are the same")
	ErrImpossibleRoute = errors.New("no route between the chains")
	ErrIntermediary    = errors.New("not a reserve token of the chain")
)

// Route lists the tokens of an amount's way: into a reserve token, over to its equivalent, and out of that.
type Route struct {
	TokenIn, TokenOut chain.Address
	Give, Take        token.Key // equal reserve tokens of the source and the destination chain
}

// SwapsBefore and SwapsAfter report whether the order's tokens differ from the reserve tokens.
func (r Route) SwapsBefore() bool { return r.TokenIn != r.Give.Address }
func (r Route) SwapsAfter() bool  { return r.TokenOut != r.Take.Address }

// swaps returns how many swaps a route needs.
func (r Route) swaps() (n int) {
	for _, is := range []bool{r.SwapsBefore(), r.SwapsAfter()} {
		if is {
			n++
		}
	}
	return n
}

// routes returns the possible routes of a request, ordered by the number of swaps, then by the reserve's name.
func routes(r Request, give, take chain.Chain) ([]Route, error) {
	if give.ID == take.ID {
		return nil, ErrSameChain
	}
	for _, forced := range []struct {
		token chain.Address
		on    chain.Chain
	}{{r.GiveReserve, give}, {r.TakeReserve, take}} {
		if !forced.token.IsAbsent() && !slices.Contains(slices.Collect(maps.Values(forced.on.Reserves)), forced.token) {
			return nil, fmt.Errorf("%w %s", ErrIntermediary, forced.on.Name)
		}
	}
	var all []Route
	for _, asset := range slices.Sorted(maps.Keys(give.Reserves)) {
		from, to := give.Reserves[asset], take.Reserves[asset]
		isOther := !r.GiveReserve.IsAbsent() && r.GiveReserve != from || !r.TakeReserve.IsAbsent() && r.TakeReserve != to
		if to.IsAbsent() || isOther {
			continue
		}
		all = append(all, Route{r.TokenIn, r.TokenOut, token.Key{Chain: give.ID, Address: from}, token.Key{Chain: take.ID, Address: to}})
	}
	slices.SortStableFunc(all, func(a, b Route) int { return a.swaps() - b.swaps() })
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %s and %s have no reserve token in common", ErrImpossibleRoute, give.Name, take.Name)
	}
	return all, nil
}

// Leg is the swap into or out of a reserve token.
type Leg struct {
	Swapped
	DropBps   int            // price drop from about a tenth of the amount to all of it; -1: unknown
	Estimates quote.Estimate // prices only
}

// venueSlippage is the slippage that venues' own calldata allows, in percent: the contract they pay enforces less.
var venueSlippage = decimal.NewFromInt(3)

// Slippage by price drop, both in basis points, as in the public package legacy-dln-profitability 3.2.0.
var dropSteps = []struct{ below, slippage int }{{3, 5}, {5, 10}, {15, 30}, {50, 100}, {100, 150}, {200, 200}}

const (
	mostSlippage    = 300
	leastSlippage   = 30  // in hosted answers
	closeSlippage   = 5   // between stable coins, or a coin and its wrapped form
	unknownSlippage = 100 // if the price of a tenth is unknown
	closePercent    = 0.1 // recommended by package quote for the pairs of closeSlippage
)

func slippageOf(dropBps int, isClose bool) int {
	least := leastSlippage
	if isClose {
		least = closeSlippage
	}
	if dropBps < 0 {
		return max(unknownSlippage, least)
	}
	for _, step := range dropSteps {
		if dropBps < step.below {
			return max(step.slippage, least)
		}
	}
	return mostSlippage
}

// leg compares a swap on one chain and, concurrently, one of about a tenth of it. onward passes the output to the
// order's creation; nil if a taker swaps for himself, and on Solana.
func (e *Estimator) leg(ctx context.Context, r Request, from token.Key, into chain.Address, amount chain.Amount, onward *quote.Onward) (*Leg, error) {
	asked := quote.Request{
		Chain: from.Chain, TokenIn: from.Address, TokenOut: into, SlippagePercent: &venueSlippage, Priority: r.Priority,
		Onward: onward, Since: r.Since,
	}
	var whole, tenth quote.Estimate
	var err, tenthErr error
	var comparing sync.WaitGroup
	compare := func(amount chain.Amount, to *quote.Estimate, failed *error) {
		asked := asked
		asked.AmountIn = amount
		*to, *failed = e.Swaps.Estimate(ctx, asked)
	}
	part := roughTenth(amount)
	if !part.IsZero() {
		comparing.Go(func() { compare(part, &tenth, &tenthErr) })
	}
	compare(amount, &whole, &err)
	comparing.Wait()
	if err != nil {
		return nil, err
	}
	made := &Leg{Swapped: Swapped{Out: whole.Gross}, DropBps: -1, Estimates: whole}
	if tenthErr == nil && !tenth.Gross.IsZero() {
		least := amount.Over(part).Of(tenth.Gross)
		drop, _ := least.Sub(whole.Gross).Over(least).Of(chain.NewAmount(wholeBps)).Uint64()
		made.DropBps = int(drop)
	}
	made.SlippageBps = slippageOf(made.DropBps, whole.RecommendedSlippage <= closePercent)
	return made, nil
}

// roughTenth returns a tenth of an amount, rounded down to one digit so that similar amounts share its comparison.
func roughTenth(amount chain.Amount) chain.Amount {
	step := chain.NewAmount(1)
	for part := amount.MulDiv(1, 100); !part.IsZero(); part = part.MulDiv(1, 10) {
		step = step.MulDiv(10, 1)
	}
	digit, _ := amount.MulDiv(1, 10).Over(step).Of(chain.NewAmount(1)).Uint64()
	return step.MulDiv(digit, 1)
}

// before compares the swap into the reserve token, which goes to the order contract.
func (e *Estimator) before(ctx context.Context, r Request, route Route, in chain.Amount) (*Leg, error) {
	if !route.SwapsBefore() {
		return nil, nil
	}
	give, _ := e.Registry.Chain(route.Give.Chain)
	onward := &quote.Onward{Target: give.Contracts.DlnSource}
	if give.Family == chain.SVM { // here the order is an instruction of the same transaction
		onward = nil
	}
	leg, err := e.leg(ctx, r, token.Key{Chain: route.Give.Chain, Address: route.TokenIn}, route.Give.Address, in, onward)
	if err == nil {
		leg.Out = leg.Estimates.Out.Amount // less the operator's share, which is paid on Solana
	}
	return leg, legError("source", err, quote.ErrUnsupportedTokenOut)
}

// after compares the swap out of the reserve token that the taker is expected to make.
func (e *Estimator) after(ctx context.Context, r Request, route Route, left chain.Amount) (*Leg, error) {
	if !route.SwapsAfter() {
		return nil, nil
	}
	leg, err := e.leg(ctx, r, route.Take, route.TokenOut, left, nil)
	return leg, legError("destination", err, quote.ErrUnsupportedTokenIn)
}

// legError adds on which chain a swap failed. notClients is an error that blames the reserve token, which the client
// did not choose.
func legError(side string, err, notClients error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, quote.ErrNoRouter):
		return fmt.Errorf("%w: on the %s chain: %w", ErrImpossibleRoute, side, err)
	case errors.Is(err, quote.ErrNoRoute), errors.Is(err, quote.ErrUnsupportedChain), errors.Is(err, notClients):
		return fmt.Errorf("%w: on the %s chain: %v", ErrImpossibleRoute, side, err)
	}
	return fmt.Errorf("swap on the %s chain: %w", side, err)
}
