package quote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"crossgate/chain"
	"crossgate/token"
)

// Estimate finds the best outcome of a swap and the transaction for it.
//
// The error wraps ErrUnsupportedChain, ErrUnsupportedTokenIn, ErrUnsupportedTokenOut or ErrNoRoute if the request is at
// fault, and ErrNoTransaction with each venue's reason if the venues are. Other errors come from reading the chain.
// With an error only Asked is set, as far as the comparison got.
func (e *Estimator) Estimate(ctx context.Context, r Request) (estimate Estimate, err error) {
	ctx, span := start(ctx, "quote.estimate", chainKey.Int64(int64(r.Chain)))
	defer func() {
		e.measures.judged(ctx, estimate.Asked)
		e.History.note(ctx, e.Logger, e.Now(), estimate.Asked)
		finish(span, err)
	}()
	t := &trade{Estimator: e, request: r}
	ctx, cancel := context.WithCancel(ctx)
	defer t.reads.Wait()
	defer cancel()
	if err := t.settle(ctx); err != nil {
		return Estimate{}, err
	}
	defer t.renewGasPrice(ctx)
	c, err := t.compareExact(ctx)
	if errors.Is(err, ErrNoAffiliate) && !r.Affiliate.Percent.IsPositive() { // the operator would not be paid
		err = fmt.Errorf("%w: %v", ErrNoRoute, err)
	}
	if err != nil {
		return Estimate{Asked: c.asked()}, err
	}
	return t.estimate(ctx, c), nil
}

// trade is one request on its way through the estimator. One goroutine owns it; the goroutines it starts only read it.
type trade struct {
	*Estimator
	request  Request
	swap     Swap
	chain    Chain
	venues   []profiledVenue // serving the chain
	gasPrice *GasPrice       // nil if unknown
	reads    sync.WaitGroup  // in flight, of prices and the usual data fee
	prices   func() market   // waits for the prices in USD
	router   routing
	payments []payment // of shares, made by the gateway
	kept     *Reserve  // nil unless all of the coin is swapped
	sampling bool      // searching the input of an exact output: quotes are compared, nothing is built

	usualDataFee func() (chain.Amount, bool) // waits for the fee; nil unless only prices are requested
}

// placeholderAddress is the recipient if only prices are requested: a meaningless address for each family.
var placeholderAddress = map[chain.Family]chain.Address{
	chain.EVM: chain.NewAddress([]byte("crossgate: recipient")),
	chain.TVM: chain.NewAddress([]byte("crossgate: recipient")),
	chain.SVM: chain.NewAddress([]byte("crossgate: recipient on Solana. ")),
}

// settle fills in what venues need to know about a request. It reads prices, gas price and metadata concurrently.
func (t *trade) settle(ctx context.Context) (err error) {
	r := t.request
	if t.venues, err = t.serving(r.Chain); err != nil {
		return err
	}
	t.chain, t.prices = t.Chains[r.Chain], t.startPrices(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { t.gasPrice = t.readGasPrice(ctx) })
	tokens, err := t.lookup(ctx)
	reading.Wait()
	if err != nil {
		return err
	}
	t.swap = newSwap(t.Registry, r, tokens)
	if t.gasPrice != nil {
		t.swap.GasPrice, t.swap.Bid = t.gasPrice.Expected, t.gasPrice.Bid
	}
	if r.Recipient.IsAbsent() { // then that of a typical transaction counts, which takes a round trip on rollups
		usual := Filled(typicalBytes[t.swap.Chain.Family])
		t.usualDataFee = sync.OnceValues(func() (chain.Amount, bool) { return t.dataFee(ctx, usual, typicalGas) })
		t.reads.Go(func() { t.usualDataFee() })
	}
	if r.MaxBalance {
		if err := t.takeBalance(ctx); err != nil {
			return err
		}
	}
	if err := t.settlePayees(ctx); err != nil {
		return err
	}
	t.router, err = t.readRouter(ctx)
	return err
}

// newSwap returns the swap of a request, with defaults for everything that the request leaves open.
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
	tokens, err := t.Tokens.Lookup(ctx, r.Chain, r.TokenIn, r.TokenOut)
	switch {
	case err != nil:
		return nil, err
	case t.Tokens.IsSilent(token.Key{Chain: r.Chain, Address: r.TokenIn}):
		return nil, fmt.Errorf("%s: %w", tokens[0].Symbol, ErrUnsupportedTokenIn)
	case t.Tokens.IsSilent(token.Key{Chain: r.Chain, Address: r.TokenOut}):
		return nil, fmt.Errorf("%s: %w", tokens[1].Symbol, ErrUnsupportedTokenOut)
	}
	return tokens, nil
}

func (t *trade) estimate(ctx context.Context, c comparison) Estimate {
	best, out := c.won, t.swap.Out
	out.Amount = best.received()
	return Estimate{
		Chain:               t.swap.Chain,
		In:                  Priced{t.swap.In, USD(c.prices.in, t.swap.In.Amount, t.swap.In.Token.Decimals)},
		Out:                 Priced{out, USD(c.prices.out, best.payout.whole(), out.Token.Decimals)},
		MinOut:              best.payout.minimum,
		Gross:               best.payout.whole(),
		SlippagePercent:     t.swap.SlippagePercent.InexactFloat64(),
		RecommendedSlippage: best.recommended(t.swap).InexactFloat64(),
		Compared:            c.list(out.Token.Decimals),
		Asked:               c.asked(),
		Way:                 best.way,
		Tx:                  best.tx,
		Unsimulated:         best.notSimulated != nil && best.notSimulated != errNoTransaction,
		QuotedAt:            c.at,
		Expires:             best.quote.Expires,
		ProtocolFee:         best.payout.fee(),
		ProtocolFeeUSD:      USD(c.prices.out, best.payout.fee(), out.Token.Decimals),
		Fee:                 t.fee(ctx, best, c.prices),
		MaxBalance:          t.request.MaxBalance,
		Costs:               best.payout.costs(),
	}
}
