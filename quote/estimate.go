package quote

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/token"
)

// Estimate finds the best outcome of a swap and the transaction that makes it.
//
// The error wraps ErrUnsupportedChain, ErrUnsupportedTokenIn, ErrUnsupportedTokenOut or ErrNoRoute when
// the request is at fault, and ErrNoTransaction with what each venue said when the venues are. Otherwise it is
// why the tokens could not be read from the chain. With an error, Asked alone is set, as far as it came.
func (e *Estimator) Estimate(ctx context.Context, r Request) (estimate Estimate, err error) {
	ctx, span := startEstimate(ctx, r.Chain)
	defer func() {
		e.measures.judged(ctx, estimate.Asked)
		now := e.now()
		e.tally.add(now, estimate.Asked)
		e.wins.note(now, estimate.Asked)
		e.failures.note(ctx, e.log, now, estimate.Asked)
		finish(span, err)
	}()

	t, err := e.settle(ctx, r)
	if err != nil {
		return Estimate{}, err
	}
	c, err := t.compareExact(ctx)
	if errors.Is(err, ErrNoAffiliate) && !r.Affiliate.Percent.IsPositive() { // the operator would not be paid
		err = fmt.Errorf("%w: %v", ErrNoRoute, err)
	}
	if err != nil {
		return Estimate{Asked: c.asked()}, err
	}
	return t.estimate(ctx, c), nil
}

// trade is one request on its way through the estimator, with its resolved facts and services. One goroutine has it;
// those that it starts read it only.
type trade struct {
	*Estimator
	request  Request
	swap     Swap
	chain    Chain
	venues   []profiledVenue // that serve the chain
	gasPrice *GasPrice       // nil: not known
	prices   func() market   // waits for the prices in USD
	router   routing
	payments []payment // of shares that the gateway pays
	sampling bool      // the input of an exact output is searched for: quotes are compared, nothing is built
}

// placeholderAddress is the recipient where prices alone are asked for, since some venues want to know one:
// on each family an address that has no meaning anywhere.
var placeholderAddress = map[chain.Family]chain.Address{
	chain.EVM: chain.NewAddress([]byte("crossgate: somebody.")),
	chain.TVM: chain.NewAddress([]byte("crossgate: somebody.")),
	chain.SVM: chain.NewAddress([]byte("crossgate: somebody on Solana.  ")),
}

// settle finds out what venues need to know about a request: prices, gas price and metadata are read at the same time.
func (e *Estimator) settle(ctx context.Context, r Request) (*trade, error) {
	venues, err := e.serving(r.Chain)
	if err != nil {
		return nil, err
	}
	t := &trade{Estimator: e, request: r, venues: venues, chain: e.chains[r.Chain], prices: e.startPrices(ctx, r)}
	gasPrice := make(chan *GasPrice, 1)
	go func() { gasPrice <- t.readGasPrice(ctx) }()
	tokens, err := t.lookup(ctx)
	if err != nil {
		return nil, err
	}
	t.swap = newSwap(e.registry, r, tokens)
	if t.gasPrice = <-gasPrice; t.gasPrice != nil {
		t.swap.GasPrice, t.swap.Bid = t.gasPrice.Expected, t.gasPrice.Bid
	}
	if r.MaxBalance {
		if err := t.takeBalance(ctx); err != nil {
			return nil, err
		}
	}
	if err := t.settlePayees(ctx); err != nil {
		return nil, err
	}
	t.router, err = t.readRouter(ctx)
	return t, err
}

// newSwap fills in what a request leaves open.
func newSwap(registry chain.Registry, r Request, tokens []token.Token) Swap {
	c, _ := registry.Chain(r.Chain)
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
		s.Recipient = placeholderAddress[c.Family]
	}
	if s.Sender.IsAbsent() {
		s.Sender = s.Recipient
	}
	s.SlippagePercent = recommendedSlippage(s)
	if r.SlippagePercent != nil {
		s.SlippagePercent = *r.SlippagePercent
	}
	return s
}

// lookup returns the metadata of both tokens. A contract without decimals is not a token.
func (t *trade) lookup(ctx context.Context) ([]token.Token, error) {
	r := t.request
	tokens, err := t.tokens.Lookup(ctx, r.Chain, r.TokenIn, r.TokenOut)
	switch {
	case err != nil:
		return nil, err
	case t.tokens.IsSilent(token.Key{Chain: r.Chain, Address: r.TokenIn}):
		return nil, fmt.Errorf("%s: %w", tokens[0].Symbol, ErrUnsupportedTokenIn)
	case t.tokens.IsSilent(token.Key{Chain: r.Chain, Address: r.TokenOut}):
		return nil, fmt.Errorf("%s: %w", tokens[1].Symbol, ErrUnsupportedTokenOut)
	}
	return tokens, nil
}

// estimate is all that there is to say about the best transaction.
func (t *trade) estimate(ctx context.Context, c comparison) Estimate {
	best, out := c.won, t.swap.Out
	out.Amount = best.received()
	return Estimate{
		Chain:               t.swap.Chain,
		In:                  c.prices.in.side(t.swap.In),
		Out:                 Priced{out, c.prices.out.of(best.payout.whole(), out.Token.Decimals)},
		MinOut:              best.payout.minimum,
		SlippagePercent:     t.swap.SlippagePercent.InexactFloat64(),
		RecommendedSlippage: best.recommended(t.swap).InexactFloat64(),
		Compared:            c.list(t.swap.Out.Token.Decimals),
		Asked:               c.asked(),
		Way:                 best.way,
		Tx:                  best.tx,
		Unsimulated:         best.notSimulated != nil && best.notSimulated != errNoTransaction,
		QuotedAt:            c.at,
		Expires:             best.quote.Expires,
		ProtocolFee:         best.payout.fee(),
		ProtocolFeeUSD:      c.prices.out.of(best.payout.fee(), t.swap.Out.Token.Decimals),
		Fee:                 t.fee(ctx, best, c.prices),
		MaxBalance:          t.request.MaxBalance,
		Costs:               best.payout.costs(),
	}
}
