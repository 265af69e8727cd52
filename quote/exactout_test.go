package quote_test

import (
	"context"
	"errors"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

// pool is a fakeVenue whose rate falls with the amount: depth units of the input halve it.
type pool struct {
	*fakeVenue
	depth uint64
}

func (p pool) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	q, err := p.fakeVenue.Quote(ctx, s)
	if err != nil {
		return q, err
	}
	depth, in := decimal.NewFromUint64(p.depth), decimal.NewFromBigInt(s.In.Amount.Big(), 0)
	out := decimal.NewFromBigInt(q.AmountOut.Big(), 0).Mul(depth).Div(depth.Add(in)).Floor()
	q.AmountOut, err = chain.AmountFromBig(out.BigInt())
	return q, err
}

func TestAFixedOutcomeTakesTheLeastInput(t *testing.T) {
	const perUnit = 1_000_000_000_000 // one DAI per USDC
	wanted := amount("250000000000000000000")
	flat := func() *fakeVenue { return &fakeVenue{name: "flat", perInput: perUnit} }
	for _, row := range []struct {
		name        string
		venues      []quote.Venue
		priced      bool
		execution   quote.Execution
		affiliate   quote.Affiliate
		least, most uint64 // input
	}{
		{"at a rate", []quote.Venue{flat()}, true, quote.DirectOnly, quote.Affiliate{}, 250_250_250, 250_500_500},
		{"without prices to begin with", []quote.Venue{flat()}, false, quote.DirectOnly, quote.Affiliate{}, 250_250_250, 250_500_500},
		{"from a pool that it moves", []quote.Venue{pool{flat(), 1_000_000_000}}, true, quote.DirectOnly, quote.Affiliate{}, 333_779_000, 334_300_000},
		{"from the better of two", []quote.Venue{pool{flat(), 1_000_000_000}, &fakeVenue{name: "other", perInput: perUnit * 9 / 10}}, true, quote.DirectOnly, quote.Affiliate{}, 278_055_000, 278_400_000},
		{"beside a promise of a thousand times as much", []quote.Venue{flat(), &fakeVenue{name: "liar", perInput: 1000 * perUnit, buildError: errDown}}, true, quote.DirectOnly, quote.Affiliate{}, 250_250_250, 250_500_500},
		{"after the public router and an affiliate", []quote.Venue{flat()}, true, quote.PreferRouter, percent("1", sender), 252_979_000, 253_300_000},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := quote.Chain{Execution: row.execution}
			if row.execution == quote.PreferRouter {
				c.Router = &crossing{feeBps: 8, lists: []*fakeVenue{flat()}}
			}
			o := quote.Options{Registry: chain.Documented(), Venues: row.venues, Tokens: directory(row.priced), Chains: ethereum(c)}
			r := usdcToDai()
			r.AmountIn, r.MinOut, r.Affiliate = chain.Amount{}, wanted, row.affiliate
			for _, recipient := range []chain.Address{r.Recipient, {}} { // with a transaction, and prices only
				r.Recipient = recipient
				got := estimate(t, quote.New(o), r)
				in := got.In.Amount
				if in.Cmp(chain.NewAmount(row.least)) < 0 || in.Cmp(chain.NewAmount(row.most)) > 0 {
					t.Errorf("input of %s, want %d to %d", in, row.least, row.most)
				}
				if got.MinOut.Cmp(wanted) < 0 || got.Out.Amount.Cmp(got.MinOut) < 0 {
					t.Errorf("an outcome of %s, at least %s, want at least %s", got.Out.Amount, got.MinOut, wanted)
				}
			}
		})
	}
}

// TestAFixedOutcomeDoesNotDependOnAVenueThatFails: the input that its quote would take is too little for the others.
func TestAFixedOutcomeDoesNotDependOnAVenueThatFails(t *testing.T) {
	const perUnit = 1_000_000_000_000
	honest, wanted := &fakeVenue{name: "honest", perInput: perUnit}, amount("250000000000000000000")
	for name, failing := range map[string]*fakeVenue{
		"no transaction":     {name: "failing", perInput: perUnit * 3 / 2, buildError: errDown},
		"little better":      {name: "failing", perInput: perUnit + perUnit/100, buildError: errDown},
		"another's contract": {name: "failing", perInput: perUnit * 3 / 2, lie: func(tx *quote.Tx) { tx.To = usdc }},
	} {
		r := usdcToDai()
		r.AmountIn, r.MinOut = chain.Amount{}, wanted
		got, err := estimator(honest, failing).Estimate(t.Context(), r)
		if err != nil || got.MinOut.Cmp(wanted) < 0 || got.In.Amount.Cmp(chain.NewAmount(250_500_500)) > 0 {
			t.Errorf("%s: at least %s for %s, %v, want %s", name, got.MinOut, got.In.Amount, err, wanted)
			continue
		}
		expect(t, name, names(got.Compared), []string{"honest"})
		if refused(got)["failing"] == nil {
			t.Errorf("%s: asked %+v, want why it was refused", name, got.Asked)
		}
	}
	failing := &fakeVenue{name: "failing", perInput: perUnit, buildError: errDown}
	r := usdcToDai()
	r.AmountIn, r.MinOut = chain.Amount{}, wanted
	if got, err := estimator(failing).Estimate(t.Context(), r); !errors.Is(err, quote.ErrNoTransaction) || len(got.Asked) != 1 {
		t.Errorf("alone: %+v, %v, want ErrNoTransaction", got.Asked, err)
	}
}

func TestAnOutcomeBeyondEveryPoolHasNoRoute(t *testing.T) {
	e := estimator(pool{&fakeVenue{name: "small", perInput: 1_000_000_000_000}, 100_000_000})
	r := usdcToDai()
	r.AmountIn, r.MinOut = chain.Amount{}, amount("250000000000000000000") // the pool holds a hundred in total
	got, err := e.Estimate(t.Context(), r)
	if !errors.Is(err, quote.ErrNoRoute) {
		t.Errorf("Estimate = %v, want ErrNoRoute", err)
	}
	if len(got.Asked) != 1 || got.Asked[0].Venue != "small" || !errors.Is(got.Asked[0].Err, quote.ErrRefused) {
		t.Errorf("asked = %+v, want that the pool was asked and guarantees too little", got.Asked)
	}
}

// TestWrappingIsOneForOne: an output of the wrapped coin takes the same amount of the coin, both for prices only and
// with a transaction.
func TestWrappingIsOneForOne(t *testing.T) {
	ethereumChain, _ := chain.Documented().Chain(chain.Ethereum)
	for _, ends := range [][2]chain.Address{{coin, ethereumChain.WrappedCoin}, {ethereumChain.WrappedCoin, coin}} {
		for _, to := range []chain.Address{recipient, {}} {
			wanted := amount("1000000000000000001")
			r := quote.Request{Chain: chain.Ethereum, TokenIn: ends[0], TokenOut: ends[1], MinOut: wanted, Recipient: to}
			dearer := &fakeVenue{name: "dearer", perInput: 1, fallback: true}
			got, err := estimator(&fakeVenue{name: "wrap", perInput: 1, wraps: true, exact: true}, dearer).Estimate(t.Context(), r)
			if err != nil {
				t.Errorf("to %q: %v", to, err)
				continue
			}
			if got.In.Amount != wanted || got.Out.Amount != wanted || got.MinOut != wanted {
				t.Errorf("to %q: %s for %s, at least %s; want one for one", to, got.In.Amount, got.Out.Amount, got.MinOut)
			}
		}
	}
}
