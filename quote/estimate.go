package quote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

// DefaultWindow is how long venues are waited for as long as one has answered. Two-call venues were
// recorded at 0.8 to 1.3 s, the slowest useful one below 2 s.
const DefaultWindow = 2500 * time.Millisecond

// Options says whom an Estimator asks.
type Options struct {
	Registry   chain.Registry
	Venues     []Venue
	Tokens     *token.Directory
	Fees       map[chain.ID]FeeSource // a chain without one has answers without a fee
	Routers    map[chain.ID]Router    // a chain without one has direct swaps only
	Simulators map[chain.ID]Simulator // a chain without one has transactions that were not tried
	Execution  Execution              // of chains that are not in Executions
	Executions map[chain.ID]Execution
	// Operators are paid a share of the input of direct swaps; a chain without one has none.
	Operators map[chain.ID]Affiliate
	Window    time.Duration    // DefaultWindow when zero
	Logger    *slog.Logger     // of transactions that did not pass; slog.Default() when nil
	Now       func() time.Time // time.Now by default
}

// Estimator answers swap requests. Safe for concurrent use.
type Estimator struct {
	registry   chain.Registry
	entries    []entry
	tokens     *token.Directory
	fees       map[chain.ID]FeeSource
	routers    map[chain.ID]Router
	simulators map[chain.ID]Simulator
	usual      Execution
	executions map[chain.ID]Execution
	operators  map[chain.ID]Affiliate
	window     time.Duration
	now        func() time.Time
	log        *slog.Logger
	board      board
	measures   measures
	tally      tally
}

// entry is a venue with what it declares about itself.
type entry struct {
	venue   Venue
	profile Profile
}

// New returns an Estimator over o.Venues, in whose sequence equal quotes are ranked.
func New(o Options) *Estimator {
	e := &Estimator{
		registry: o.Registry, tokens: o.Tokens, fees: o.Fees, routers: o.Routers, simulators: o.Simulators,
		usual: o.Execution, executions: o.Executions, operators: o.Operators, window: cmp.Or(o.Window, DefaultWindow), now: o.Now,
		log: cmp.Or(o.Logger, slog.Default()), measures: newMeasures(),
	}
	if e.now == nil {
		e.now = time.Now
	}
	for _, v := range o.Venues {
		e.entries = append(e.entries, entry{v, v.Profile()})
	}
	return e
}

// Estimate finds the best outcome of a swap and the transaction that makes it.
//
// The error wraps ErrUnsupportedChain, ErrUnsupportedTokenIn, ErrUnsupportedTokenOut or ErrNoRoute when
// the request is at fault, and ErrNoTransaction with what each venue said when the venues are. Else it is
// what kept the chain from telling the tokens. With an error, Asked alone is set, as far as it came.
func (e *Estimator) Estimate(ctx context.Context, r Request) (estimate Estimate, err error) {
	ctx, span := startEstimate(ctx, r)
	defer func() {
		e.measures.judged(ctx, estimate.Asked)
		e.tally.add(e.now(), estimate.Asked)
		finish(span, err)
	}()

	serving, err := e.serving(r)
	if err != nil {
		return Estimate{}, err
	}
	awaitPrices := e.askPrices(ctx, r)
	swap, gasPrice, err := e.settle(ctx, r)
	if err != nil {
		return Estimate{}, err
	}
	if !r.LeastOut.IsZero() {
		var asked []Asked
		if swap, asked, err = e.aim(ctx, r, swap, serving, awaitPrices); err != nil {
			return Estimate{Asked: asked}, err
		}
	}
	p, err := e.plan(ctx, r, swap, serving)
	if err != nil {
		return Estimate{}, err
	}
	if len(p.asked) == 0 {
		return Estimate{Asked: p.leftOut}, nobodyAble(p.leftOut)
	}
	c, err := e.contest(ctx, r, swap, p, awaitPrices)
	if err != nil {
		return Estimate{Asked: c.asked()}, err
	}
	estimate = e.answer(ctx, swap, *c.won, gasPrice, c.prices)
	estimate.Whole = r.Whole
	estimate.QuotedAt, estimate.Compared, estimate.Asked = c.at, c.list(swap), c.asked()
	return estimate, nil
}

// contest is the comparison that r is answered with. Where those whom the public router calls come to nothing,
// the others are asked.
func (e *Estimator) contest(ctx context.Context, r Request, s Swap, p plan, awaitPrices func() market) (comparison, error) {
	began := e.now()
	c, err := e.compare(ctx, r, s, p, awaitPrices, time.Time{})
	if errors.Is(err, ErrNoTransaction) && c.at.Before(began) {
		// The prices were shared, and none holds any more: ask for ourselves.
		c, err = e.compare(ctx, r, s, p, awaitPrices, began)
	}
	if err == nil || len(p.reserve) == 0 || ctx.Err() != nil {
		c.told = append(c.told, p.spared()...)
		return c, err
	}
	second, reserveErr := e.compare(ctx, r, s, plan{asked: p.reserve, operator: p.operator}, awaitPrices, time.Time{})
	second.told = append(second.told, c.asked()...)
	if reserveErr != nil && requestFault(reserveErr) != nil {
		return second, err // what the first ones said is worth more than a no of the others
	}
	return second, reserveErr
}

// answer says all that there is to say about the best transaction.
func (e *Estimator) answer(ctx context.Context, s Swap, best built, gasPrice *GasPrice, prices market) Estimate {
	s.Out.Amount = best.received()
	return Estimate{
		Chain:               s.Chain,
		In:                  prices.in.side(s.In),
		Out:                 prices.out.side(s.Out),
		MinOut:              best.outcome.minimum,
		SlippagePercent:     s.SlippagePercent.InexactFloat64(),
		RecommendedSlippage: best.recommended(s).InexactFloat64(),
		Way:                 best.way,
		Tx:                  best.tx,
		Expires:             best.quote.Expires,
		ProtocolFee:         best.outcome.fee(),
		ProtocolFeeUSD:      prices.out.of(best.outcome.fee(), s.Out.Token.Decimals),
		Fee:                 e.fee(ctx, s, best, gasPrice, prices),
		Costs:               best.outcome.costs(),
	}
}

// Serves reports whether any venue serves a chain.
func (e *Estimator) Serves(id chain.ID) bool {
	_, err := e.serving(Request{Chain: id})
	return err == nil
}

// serving returns the venues that serve the request's chain.
func (e *Estimator) serving(r Request) ([]entry, error) {
	serving := make([]entry, 0, len(e.entries))
	for _, one := range e.entries {
		if _, served := one.profile.Routers[r.Chain]; served {
			serving = append(serving, one)
		}
	}
	if _, known := e.registry.Chain(r.Chain); !known || len(serving) == 0 {
		return nil, fmt.Errorf("chain %d: %w", r.Chain, ErrUnsupportedChain)
	}
	return serving, nil
}

// nobodyAble is the failure of a request for which every venue was left out.
func nobodyAble(leftOut []Asked) error {
	var reasons causes
	for _, one := range leftOut {
		reasons = append(reasons, fmt.Errorf("%s: %w", one.Venue, one.Err))
	}
	return fmt.Errorf("%w: %v", ErrNoRoute, reasons)
}

// somebody stands in for the recipient where prices alone are asked for, since some venues want to know one:
// on each family an address that has no meaning anywhere.
var somebody = map[chain.Family]chain.Address{
	chain.EVM: chain.NewAddress([]byte("crossgate: somebody.")),
	chain.TVM: chain.NewAddress([]byte("crossgate: somebody.")),
	chain.SVM: chain.NewAddress([]byte("crossgate: somebody on Solana.  ")),
}

// settle turns a request into what venues need: metadata and gas price are read at the same time.
func (e *Estimator) settle(ctx context.Context, r Request) (Swap, *GasPrice, error) {
	c, _ := e.registry.Chain(r.Chain)
	gasPrice := make(chan *GasPrice, 1)
	go func() { gasPrice <- e.gasPrice(ctx, r.Chain, r.Priority) }()
	tokens, err := e.lookup(ctx, r)
	if err != nil {
		return Swap{}, nil, err
	}
	s := Swap{
		Chain:     c,
		In:        Side{Address: r.TokenIn, Token: tokens[0], Amount: r.AmountIn},
		Out:       Side{Address: r.TokenOut, Token: tokens[1]},
		Sender:    r.Sender,
		Recipient: r.Recipient,
		Affiliate: r.Affiliate,
		Priority:  r.Priority,
	}
	if s.Recipient.IsAbsent() {
		s.Recipient = somebody[c.Family]
	}
	if s.Sender.IsAbsent() {
		s.Sender = s.Recipient
	}
	s.SlippagePercent = recommendedSlippage(s)
	if r.SlippagePercent != nil {
		s.SlippagePercent = *r.SlippagePercent
	}
	price := <-gasPrice
	if price != nil {
		s.GasPrice, s.Bid = price.Expected, price.Bid
	}
	if r.Whole {
		s.In.Amount, s.Kept, err = e.whole(ctx, s, price)
	}
	return s, price, err
}

// lookup returns the metadata of both tokens. What tells no decimals is no token.
func (e *Estimator) lookup(ctx context.Context, r Request) ([]token.Token, error) {
	tokens, err := e.tokens.Lookup(ctx, r.Chain, r.TokenIn, r.TokenOut)
	switch {
	case err != nil:
		return nil, err
	case e.tokens.IsSilent(token.Key{Chain: r.Chain, Address: r.TokenIn}):
		return nil, fmt.Errorf("%s: %w", tokens[0].Symbol, ErrUnsupportedTokenIn)
	case e.tokens.IsSilent(token.Key{Chain: r.Chain, Address: r.TokenOut}):
		return nil, fmt.Errorf("%s: %w", tokens[1].Symbol, ErrUnsupportedTokenOut)
	}
	return tokens, nil
}
