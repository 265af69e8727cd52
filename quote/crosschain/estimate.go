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

// Request is a swap between chains as a client asks for it.
type Request struct {
	Give, Take               chain.ID
	TokenIn, TokenOut        chain.Address // the zero address is the native coin
	AmountIn                 chain.Amount  // zero: as much as AmountOut takes
	MaxBalance               bool          // in place of AmountIn: all that the sender has
	AmountOut                chain.Amount  // zero: the recommended amount
	Prepend                  bool          // the operating expenses are added to AmountIn
	IncentiveBps             int           // more of the net amount for the taker
	Affiliate                quote.Affiliate
	GiveReserve, TakeReserve chain.Address // forced by the client; absent: ours
	ExternalCall             []byte
	CallTarget               chain.Address // the contract that it calls; absent: not known
	CallGas                  uint64        // that it may take
	Priority                 quote.Priority
	Since                    time.Time // comparisons begun before are not shared; zero: any is
	Making                   *Making   // nil, or without a recipient: an estimation alone
}

// Charges are what the contracts of a chain take for orders with another chain, as they say themselves.
type Charges struct {
	Fixed       chain.Amount // of the coin, for creating an order
	TransferBps int          // of the gross amount
	Message     chain.Amount // of the coin, by the gate for a message to the other chain
}

// Swaps compares swaps on one chain (quote.Estimator).
type Swaps interface {
	Estimate(context.Context, quote.Request) (quote.Estimate, error)
	Balance(ctx context.Context, id chain.ID, token, holder chain.Address) (chain.Amount, error)
}

// Chain is what can be asked of a chain.
type Chain struct {
	Fees    quote.FeeSource
	Charges func(_ context.Context, with chain.ID) (Charges, error) // nil: no order is created there
	Runner  Runner                                                  // nil: transactions are not simulated, and so not handed out
	Writer  Writer                                                  // on Solana alone
	// Forecast says what a transaction would create, and what a maker would regret of it; nil: that is not known.
	Forecast func(context.Context, creation.Transaction) ([]creation.Forecast, error)
	// HasCode reports whether a contract stands at an address; nil: that is not known.
	HasCode func(context.Context, chain.Address) (bool, error)
}

// Options configures an Estimator.
type Options struct {
	Registry    chain.Registry
	Swaps       Swaps
	Tokens      *token.Directory
	Chains      map[chain.ID]Chain
	CostPercent int // of a taker's costs that orders are charged
	Now         func() time.Time
}

// Estimator answers requests for orders. Safe for concurrent use.
type Estimator struct {
	Options
	recent recentCosts
}

// New returns an Estimator.
func New(o Options) *Estimator {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Estimator{Options: o, recent: recentCosts{known: map[costKey]keptCosts{}}}
}

// Estimate is the whole answer to a Request.
type Estimate struct {
	Course
	Route
	GiveChain, TakeChain chain.Chain
	InToken, GiveToken   token.Token // of the input, and of the reserve token on the source chain
	TakeToken, OutToken  token.Token
	Amount               chain.Amount // that the order takes: the client's where he fixed it
	Prepended            chain.Amount // part of Course.In; zero: nothing
	OperatingExpense     chain.Amount // in units of the input token
	Charges              Charges      // of the source chain
	TakerCosts           Expenses
	Pre, Post            *Leg // nil: no swap
	Passed               []Passed
	Prices               map[token.Key]*big.Rat // USD of a whole token, as far as is known
	At                   time.Time
	Made                 *Made // nil: an estimation alone
}

// Passed is a route that was followed and leaves less, or fails.
type Passed struct {
	Route       Route
	Recommended chain.Amount
	Err         error
}

// Estimate finds the best course of an amount and, where a transaction is to be made, makes it.
//
// The error wraps ErrSameChain, ErrIntermediary, ErrImpossibleRoute, ErrLowAmount or an error of package quote where
// the request is at fault, ErrUnknownCosts where fees or prices are missing. Passed alone is set beside an error.
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
	if found.Made, err = j.make(ctx, &found); errors.Is(err, quote.ErrNoTransaction) && ctx.Err() == nil {
		// The prices were shared, and none holds any more: ask for ourselves.
		j.request.Since = e.Now()
		if found, err = j.best(ctx); err == nil {
			found.Made, err = j.make(ctx, &found)
		}
	}
	return found, err
}

// journey is one request on its way. Its goroutines only read it once it is settled.
type journey struct {
	*Estimator
	request    Request
	give, take chain.Chain
	routes     []Route
	tokens     map[token.Key]token.Token
	charges    Charges
	reads      sync.WaitGroup // under way
	usd        func() map[token.Key]*big.Rat
	costs      [2]func() (Expenses, error) // without and with a swap into the take token
	kept       *quote.Reserve              // nil: not all of the coin is given
}

// settle finds out what all routes need: reading of prices and costs begins, and charges and metadata are read.
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
	for swaps := range j.costs {
		w := work{give: j.give, take: j.take, takesCoin: r.TokenOut.IsNative(), swaps: swaps == 1, callGas: r.CallGas}
		if !slices.ContainsFunc(j.routes, func(one Route) bool { return one.SwapsAfter() == w.swaps }) {
			continue
		}
		j.costs[swaps] = sync.OnceValues(func() (Expenses, error) { return j.expenses(ctx, w, j.usd) })
		j.reads.Go(func() { _, _ = j.costs[swaps]() }) // its error is for who needs them
	}
	var reading sync.WaitGroup
	var chargesErr error
	reading.Go(func() { j.charges, chargesErr = j.Estimator.charges(ctx, r.Give, r.Take) })
	j.tokens, err = j.lookup(ctx)
	reading.Wait()
	if err == nil && chargesErr != nil {
		err = fmt.Errorf("%w: %w", ErrUnknownCosts, chargesErr)
	}
	if err == nil && r.MaxBalance {
		j.request.AmountIn, err = j.balance(ctx)
	}
	return err
}

func (e *Estimator) charges(ctx context.Context, id, with chain.ID) (Charges, error) {
	read := e.Chains[id].Charges
	if read == nil {
		return Charges{}, fmt.Errorf("the order contracts of chain %d are not read", id)
	}
	return read(ctx, with)
}

// keys are all tokens whose price matters.
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

// Reserves of the coin for the largest creations: gas through the router (executed ones took up to 420,000 beside the
// venue's part), and on Solana the deposits of five accounts, in lamports.
const (
	createGas      = 800_000
	createDeposits = 11_000_000
)

// balance is all that the sender has, less the fixed fee and the cost of the transaction where that is the coin.
func (j *journey) balance(ctx context.Context) (chain.Amount, error) {
	has, err := j.Swaps.Balance(ctx, j.give.ID, j.request.TokenIn, j.request.Making.payer())
	if err != nil {
		return chain.Amount{}, fmt.Errorf("balance of the sender: %w", err)
	}
	rest := has
	if j.request.TokenIn.IsNative() {
		price, err := j.Chains[j.give.ID].Fees.GasPrice(ctx, j.request.Priority)
		if err != nil {
			return chain.Amount{}, fmt.Errorf("%w: %w", ErrUnknownCosts, err)
		}
		need := quote.Need{Sender: j.request.Making.payer(), Gas: createGas, Deposits: createDeposits}
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

// best follows the routes with the fewest swaps at the same time, and returns that which leaves most. The others have
// their turn where these fail for want of a route or a price, not of an amount.
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

// isBetter compares two routes of the same kind: an exact output by what goes in, all others by what comes out.
func (j *journey) isBetter(a, b *Estimate) bool {
	if j.request.AmountIn.IsZero() {
		return a.In.Cmp(b.In) < 0
	}
	return a.Recommended.Cmp(b.Recommended) > 0
}

// worst is the error that explains most: an amount that is too low before a route that does not exist, and that before
// one without a price.
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

// follow makes the estimate of one route.
func (j *journey) follow(ctx context.Context, route Route) (Estimate, error) {
	s := &step{journey: j, route: route, rules: Rules{
		ProtocolBps: j.charges.TransferBps, Affiliate: j.request.Affiliate.Percent, IncentiveBps: j.request.IncentiveBps,
	}}
	if err := s.settle(); err != nil {
		return Estimate{}, err
	}
	in := j.request.AmountIn
	if !in.IsZero() {
		return s.from(ctx, in.Add(s.prepended))
	}
	if !route.SwapsBefore() && !route.SwapsAfter() {
		return s.from(ctx, s.rules.GrossFor(j.request.AmountOut, s.decimals, s.expenses))
	}
	// A taker's costs are the same for any amount: the rest is in proportion.
	costs, err := s.inInput(s.rules.Prepended(s.expenses, s.decimals))
	if err != nil {
		return Estimate{}, err
	}
	wanted, prices := j.request.AmountOut, j.usd()
	first := quote.Guess(prices[s.in()], prices[s.out()], s.tokens[s.in()].Decimals, s.tokens[s.out()].Decimals, wanted)
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
	if most := wanted.MulDiv(101, 100).Add(chain.NewAmount(2)); made.Recommended.IsZero() || made.Recommended.Cmp(most) > 0 { // which a taker would keep
		return made, fmt.Errorf("%w: nothing near %s comes out of it, but %s", ErrLowAmount, wanted, made.Recommended)
	}
	return made, nil
}
