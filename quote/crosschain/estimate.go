package crosschain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/token"
)

// Request is a swap between chains as requested by a client.
type Request struct {
	Give, Take               chain.ID
	TokenIn, TokenOut        chain.Address // the zero address is the native coin
	AmountIn                 chain.Amount  // zero: as much as AmountOut requires
	MaxBalance               bool          // instead of AmountIn: the sender's whole balance
	AmountOut                chain.Amount  // zero: the recommended amount
	Prepend                  bool          // the operating expenses are added to AmountIn
	IncentiveBps             int           // additional share of the net amount for the taker
	Affiliate                quote.Affiliate
	GiveReserve, TakeReserve chain.Address // forced by the client; absent: chosen by the gateway
	ExternalCall             []byte
	CallTarget               chain.Address // the contract called by ExternalCall; absent: unknown
	CallGas                  uint64        // limit of ExternalCall
	Priority                 quote.Priority
	Since                    time.Time // earlier comparisons are not shared; zero: any may be
	Making                   *Making   // nil or without a recipient: only an estimate is requested
}

// Swaps compares swaps on one chain. quote.Estimator implements it.
type Swaps interface {
	Estimate(context.Context, quote.Request) (quote.Estimate, error)
	Balance(ctx context.Context, id chain.ID, token, holder chain.Address) (chain.Amount, error)
}

// Chain holds the adapters of one chain.
type Chain struct {
	Fees    quote.FeeSource
	Charges func(_ context.Context, with chain.ID) (Charges, error) // nil: orders cannot be created there
	Runner  Runner                                                  // nil: transactions are not simulated, so not handed out
	Writer  Writer                                                  // Solana only
	// Forecast returns the orders that a transaction would create, with warnings for their maker; nil: unknown.
	Forecast func(context.Context, creation.Transaction) ([]creation.Forecast, error)
	// Approvals returns transactions that together let a spender take an amount of the sender's token; nil: unknown.
	Approvals func(_ context.Context, sender, token, spender chain.Address, amount chain.Amount) ([]quote.Tx, error)
	// Delivers returns why an account would not get an amount of a token in full; nil: unknown.
	Delivers func(_ context.Context, token, to chain.Address, amount chain.Amount) error
	// Signable returns ErrKeyless if one of the accounts cannot sign; nil: unknown.
	Signable func(context.Context, ...chain.Address) error
	Code     func(context.Context, chain.Address) ([]byte, error) // at an address; nil: unknown
	IsAlone  bool                                                 // the chain has one endpoint, whose word is all there is
}

// Options configures an Estimator.
type Options struct {
	Registry    chain.Registry
	Swaps       Swaps
	Tokens      *token.Directory
	Chains      map[chain.ID]Chain
	CostPercent int // share of a taker's costs that orders are charged
}

// Estimator answers requests for orders. It is safe for concurrent use.
type Estimator struct {
	Options
	knownCosts   renewed[costKey, Expenses] // of each kind of work without an external call
	knownCharges renewed[pair, Charges]
}

// New returns an Estimator.
func New(o Options) *Estimator { return &Estimator{Options: o} }

// Estimate is the whole answer to a Request.
type Estimate struct {
	Course
	Route
	GiveChain, TakeChain chain.Chain
	InToken, GiveToken   token.Token // of the input, and of the reserve token on the source chain
	TakeToken, OutToken  token.Token
	Amount               chain.Amount // taken by the order: as fixed by the client, or as recommended
	Prepended            chain.Amount // part of Course.In; zero: nothing
	OperatingExpense     chain.Amount // in units of the input token
	Charges              Charges      // of the source chain
	TakerCosts           Expenses
	Pre, Post            *Leg // nil: no swap
	Passed               []Passed
	Prices               map[token.Key]*big.Rat // USD per whole token, as far as known
	At                   time.Time              // when the venues were asked; without swaps, of the estimate
	Made                 *Made                  // nil if only an estimate was requested
}

// Passed is a route that was followed but leaves less than the best one, or fails.
type Passed struct {
	Route       Route
	Recommended chain.Amount
	Err         error
}

// Estimate finds the best course of an amount and makes the transaction for it, if one is requested.
//
// The error wraps ErrSameChain, ErrIntermediary, ErrImpossibleRoute, ErrLowAmount or an error of package quote if the
// request is at fault, ErrUnknownCosts if fees or prices are missing. With an error only Passed is meaningful.
func (e *Estimator) Estimate(ctx context.Context, r Request) (Estimate, error) {
	ctx, cancel := context.WithCancel(ctx)
	j := &journey{Estimator: e, request: r}
	defer j.reads.Wait()
	defer cancel()
	if err := j.settle(ctx); err != nil {
		return Estimate{}, err
	}
	found, err := j.best(ctx)
	if err != nil || r.Making == nil || r.Making.Recipient.IsAbsent() {
		return found, err
	}
	found.Made, err = j.make(ctx, &found)
	switch {
	case ctx.Err() != nil:
		return found, err
	case errors.Is(err, quote.ErrNoTransaction):
		j.request.Since = time.Now() // the prices were shared and none is valid any longer: ask for our own
	case errors.As(err, new(*quote.ShortReserveError)):
		const roomPercent = 125 // for another venue, and blocks to come
		if j.request.AmountIn, err = j.balance(ctx, max(createGas, found.Made.Fee.GasLimit*roomPercent/100)); err != nil {
			return found, err
		}
	default:
		return found, err
	}
	if found, err = j.best(ctx); err == nil {
		found.Made, err = j.make(ctx, &found)
	}
	return found, err
}

// journey is one request on its way. Once it is settled, its goroutines only read it.
type journey struct {
	*Estimator
	request    Request
	give, take chain.Chain
	routes     []Route
	tokens     map[token.Key]token.Token
	charges    Charges
	reads      sync.WaitGroup // in flight
	usd        func() map[token.Key]*big.Rat
	costs      map[bool]func() (Expenses, error) // by whether the take token is swapped into
	kept       *quote.Reserve                    // nil unless all of the coin is given
}

// settle prepares what all routes need: it starts reading prices and costs, and reads charges and metadata.
func (j *journey) settle(ctx context.Context) (err error) {
	r, isKnown, takeIsKnown := j.request, false, false
	j.give, isKnown = j.Registry.Chain(r.Give)
	j.take, takeIsKnown = j.Registry.Chain(r.Take)
	if !isKnown || !takeIsKnown || j.Chains[r.Give].Charges == nil {
		return fmt.Errorf("orders from chain %d to %d: %w", r.Give, r.Take, quote.ErrUnsupportedChain)
	}
	if j.routes, err = routes(r, j.give, j.take); err != nil {
		return err
	}
	j.usd = sync.OnceValue(func() map[token.Key]*big.Rat { return j.Tokens.USD(ctx, j.keys()...) })
	j.reads.Go(func() { j.usd() })
	j.costs = map[bool]func() (Expenses, error){}
	for _, each := range j.routes {
		w := work{give: j.give, take: j.take, takesCoin: r.TokenOut.IsNative(), swaps: each.SwapsAfter(), calls: len(r.ExternalCall) > 0, callGas: r.CallGas}
		if j.costs[w.swaps] == nil {
			read := sync.OnceValues(func() (Expenses, error) { return j.expenses(ctx, w, j.usd) })
			j.costs[w.swaps] = read
			j.reads.Go(func() {
				_, _ = read() // an error reaches the routes that need the costs
				j.renewCosts(ctx, w)
			})
		}
	}
	var reading sync.WaitGroup
	var chargesErr error
	reading.Go(func() { j.charges, chargesErr = j.Estimator.charges(ctx, pair{r.Give, r.Take}) })
	j.reads.Go(func() { j.renewCharges(ctx, pair{r.Give, r.Take}) })
	j.tokens, err = j.lookup(ctx)
	reading.Wait()
	if err == nil && chargesErr != nil {
		err = fmt.Errorf("%w: %w", ErrUnknownCosts, chargesErr)
	}
	if err == nil && r.MaxBalance {
		j.request.AmountIn, err = j.balance(ctx, createGas)
	}
	return err
}

// keys returns all tokens whose price matters.
func (j *journey) keys() []token.Key {
	keys := []token.Key{coinOf(j.give), coinOf(j.take), {Chain: j.give.ID, Address: j.request.TokenIn}, {Chain: j.take.ID, Address: j.request.TokenOut}}
	for _, each := range j.routes {
		keys = append(keys, each.Give, each.Take)
	}
	return keys
}

// lookup returns the metadata of all tokens. A contract without decimals is not a token.
func (j *journey) lookup(ctx context.Context) (map[token.Key]token.Token, error) {
	found := make(map[token.Key]token.Token)
	for _, key := range j.keys() {
		tokens, err := j.Tokens.Lookup(ctx, key.Chain, key.Address)
		if err != nil {
			return nil, err
		}
		found[key] = tokens[0]
	}
	if key := (token.Key{Chain: j.give.ID, Address: j.request.TokenIn}); j.Tokens.IsSilent(key) {
		return nil, fmt.Errorf("%s: %w", found[key].Symbol, quote.ErrUnsupportedTokenIn)
	}
	if key := (token.Key{Chain: j.take.ID, Address: j.request.TokenOut}); j.Tokens.IsSilent(key) {
		return nil, fmt.Errorf("%s: %w", found[key].Symbol, quote.ErrUnsupportedTokenOut)
	}
	return found, nil
}

// Reserves of the coin for the largest creations: gas through the router (executed ones took up to 420,000 besides the
// venue's part) unless a simulation needs more, and on Solana the deposits of five accounts, in lamports.
const (
	createGas      = 800_000
	createDeposits = 11_000_000
)

// balance returns the sender's whole balance, less the fixed fee and the transaction's cost if it is in the coin.
func (j *journey) balance(ctx context.Context, gas uint64) (chain.Amount, error) {
	has, err := j.Swaps.Balance(ctx, j.give.ID, j.request.TokenIn, j.request.Making.Sender)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("balance of the sender: %w", err)
	}
	rest := has
	if j.request.TokenIn.IsNative() {
		price, err := j.Chains[j.give.ID].Fees.GasPrice(ctx, j.request.Priority)
		if err != nil {
			return chain.Amount{}, fmt.Errorf("%w: %w", ErrUnknownCosts, err)
		}
		need := quote.Need{Gas: gas, Deposits: createDeposits}
		if j.kept, err = quote.NewReserve(ctx, j.give, j.Chains[j.give.ID].Fees, price, need); err != nil {
			return chain.Amount{}, fmt.Errorf("%w: %w", ErrUnknownCosts, err)
		}
		rest = has.Sub(j.charges.Fixed).Sub(j.kept.Total)
	}
	if rest.IsZero() {
		return rest, fmt.Errorf("%w: the sender has %s", quote.ErrLowBalance, has)
	}
	return rest, nil
}

// best follows the routes with the fewest swaps concurrently and returns the one that leaves most. It tries those with
// more swaps if these fail for another reason than a low amount.
func (j *journey) best(ctx context.Context) (found Estimate, err error) {
	var errs []error
	for rest := j.routes; len(rest) > 0; {
		equal := rest
		if i := slices.IndexFunc(rest, func(r Route) bool { return r.swaps() > rest[0].swaps() }); i > 0 {
			equal = rest[:i]
		}
		before := found.Passed
		found, err = j.bestOf(ctx, equal)
		found.Passed = append(before, found.Passed...)
		if err == nil || errors.Is(err, ErrLowAmount) || ctx.Err() != nil {
			return found, err
		}
		errs, rest = append(errs, err), rest[len(equal):]
	}
	return found, worst(errs)
}

func (j *journey) bestOf(ctx context.Context, routes []Route) (Estimate, error) {
	estimates, errs := make([]Estimate, len(routes)), make([]error, len(routes))
	var following sync.WaitGroup
	for i, route := range routes {
		following.Go(func() { estimates[i], errs[i] = j.follow(ctx, route) })
	}
	following.Wait()
	won := -1
	for i, err := range errs {
		if err == nil && (won < 0 || j.isBetter(&estimates[i], &estimates[won])) {
			won = i
		}
	}
	var found Estimate
	if won >= 0 {
		found = estimates[won]
	}
	for i, err := range errs {
		if i != won {
			found.Passed = append(found.Passed, Passed{routes[i], estimates[i].Recommended, err})
		}
	}
	if won < 0 {
		return found, worst(errs)
	}
	return found, nil
}

// isBetter compares two routes with equally many swaps: for an exact output by the input, otherwise by the output.
func (j *journey) isBetter(a, b *Estimate) bool {
	if j.request.AmountIn.IsZero() {
		return a.In.Cmp(b.In) < 0
	}
	return a.Recommended.Cmp(b.Recommended) > 0
}

// worst returns the error that explains most: a low amount before any other, then a missing route, and a missing price
// last.
func worst(errs []error) error {
	weight := func(err error) int {
		switch {
		case errors.Is(err, ErrLowAmount):
			return 3
		case errors.Is(err, ErrImpossibleRoute):
			return 1
		case errors.Is(err, ErrUnknownCosts):
			return 0
		}
		return 2
	}
	return slices.MaxFunc(errs, func(a, b error) int { return weight(a) - weight(b) })
}

// follow returns the estimate of one route.
func (j *journey) follow(ctx context.Context, route Route) (Estimate, error) {
	s := &step{journey: j, route: route, rules: Rules{
		ProtocolBps: j.charges.TransferBps, Affiliate: j.request.Affiliate.Percent, IncentiveBps: j.request.IncentiveBps,
	}}
	if err := s.settle(ctx); err != nil {
		return Estimate{}, err
	}
	in := j.request.AmountIn
	if !in.IsZero() {
		return s.from(ctx, in.Add(s.prepended))
	}
	if !route.SwapsBefore() && !route.SwapsAfter() {
		return s.from(ctx, s.rules.GrossFor(j.request.AmountOut, s.decimals, s.expenses))
	}
	// A taker's costs are the same for any amount; everything else is proportional.
	wanted, prices := j.request.AmountOut, j.usd()
	first := quote.Guess(prices[s.in()], prices[s.out()], s.tokens[s.in()].Decimals, s.tokens[s.out()].Decimals, wanted)
	costs, err := s.inInput(ctx, s.rules.Prepended(s.expenses, s.decimals), first)
	if err != nil {
		return Estimate{}, err
	}
	samples := map[chain.Amount]Estimate{} // a second question could have another answer
	found, err := quote.SearchInput(first, wanted, func(in chain.Amount) (chain.Amount, error) {
		sample, err := s.from(ctx, in.Add(costs))
		if errors.Is(err, ErrLowAmount) {
			return chain.NewAmount(1), nil
		}
		samples[in] = sample
		return sample.Recommended, err
	})
	if err != nil {
		return Estimate{}, err
	}
	made := samples[found]
	if most := wanted.MulDiv(101, 100).Add(chain.NewAmount(2)); made.Recommended.IsZero() || made.Recommended.Cmp(most) > 0 { // a taker would keep it
		return made, fmt.Errorf("%w: nothing near %s comes out of it, but %s", ErrLowAmount, wanted, made.Recommended)
	}
	return made, nil
}
