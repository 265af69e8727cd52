package quote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"crossgate/chain"
	"crossgate/token"
)

// Estimate finds the best outcome of a swap and the transaction that makes it.
//
// The error wraps ErrUnsupportedChain, ErrUnsupportedTokenIn, ErrUnsupportedTokenOut or ErrNoRoute when
// the request is at fault, and ErrNoTransaction with what each venue said when the venues are. Otherwise it is
// why the tokens could not be read from the chain. With an error, Asked alone is set, as far as it came.
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
	c, err := t.compareExact(ctx)
	if errors.Is(err, ErrNoAffiliate) && !r.Affiliate.Percent.IsPositive() { // the operator would not be paid
		err = fmt.Errorf("%w: %v", ErrNoRoute, err)
	}
	if err != nil {
		return Estimate{Asked: c.asked()}, err
	}
	return t.estimate(ctx, c), nil
}

// trade is one request on its way through the estimator. One goroutine has it; those that it starts only read it.
type trade struct {
	*Estimator
	request  Request
	swap     Swap
	chain    Chain
	venues   []profiledVenue // that serve the chain
	gasPrice *GasPrice       // nil: not known
	reads    sync.WaitGroup  // of prices, under way
	prices   func() market   // waits for the prices in USD
	router   routing
	payments []payment // of shares that the gateway pays
	kept     *Reserve  // nil: not all of the coin is swapped
	sampling bool      // the input of an exact output is searched for: quotes are compared, nothing is built

	usualDataFee func() (chain.Amount, bool) // waits for it, where prices alone are asked for
}

// placeholderAddress is the recipient where prices alone are asked for: on each family an address without a meaning.
var placeholderAddress = map[chain.Family]chain.Address{
	chain.EVM: chain.NewAddress([]byte("crossgate: recipient")),
	chain.TVM: chain.NewAddress([]byte("crossgate: recipient")),
	chain.SVM: chain.NewAddress([]byte("crossgate: recipient on Solana. ")),
}

// settle finds out what venues need to know about a request: prices, gas price and metadata are read at the same time.
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
		usual := filled(t.swap.Recipient, typicalBytes[t.swap.Chain.Family])
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
