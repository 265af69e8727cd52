package quote_test

import (
	"context"
	"errors"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/token"
)

func TestEstimateIsTheWholeAnswer(t *testing.T) {
	best := &fakeVenue{name: "best", perInput: 1_000_000_000_000, gas: 200_000}
	var renewals atomic.Int64
	e := quote.New(quote.Options{
		Registry: chain.Documented(), Tokens: directory(true),
		Venues: []quote.Venue{&fakeVenue{name: "next", perInput: 998_765_000_000, gas: 200_000}, best},
		Chains: ethereum(quote.Chain{Fees: meter{
			price: quote.GasPrice{Expected: chain.NewAmount(1_145_840_813), Base: chain.NewAmount(145_840_813)}, gas: 319_508,
			dataFee: chain.NewAmount(7), renewals: &renewals,
		}}),
	})
	got := estimate(t, e, usdcToDai())
	if len(got.Asked) != 2 || got.QuotedAt.IsZero() {
		t.Errorf("asked = %+v at %s, want both venues and the time", got.Asked, got.QuotedAt)
	}
	got.Asked, got.QuotedAt = nil, time.Time{}
	ethereum, _ := chain.Documented().Chain(1)
	logo := "https://tokens.debridge.finance/Logo/1/"
	out := amount("100000000000000000000")
	want := quote.Estimate{
		Chain: ethereum,
		In: quote.Priced{USD: new(100.0), Side: quote.Side{
			Address: usdc, Amount: chain.NewAmount(100_000_000),
			Token: token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC", LogoURI: logo + usdc.String() + "/big/token-logo.png"},
		}},
		Out: quote.Priced{USD: new(99.9), Side: quote.Side{
			Address: dai, Amount: out,
			Token: token.Token{Decimals: 18, Name: "Dai Stablecoin", Symbol: "DAI", LogoURI: logo + dai.String() + "/big/token-logo.png"},
		}},
		MinOut:              amount("99900000000000000000"),
		Gross:               out,
		SlippagePercent:     0.1,
		RecommendedSlippage: 0.1,
		Compared: []quote.Compared{
			{Name: "best", Amount: out, USD: new(99.9), ImageURL: "https://logo.example/best.png"},
			{Name: "next", Amount: amount("99876500000000000000"), USD: new(99.776624), PriceDrop: 0.12, ImageURL: "https://logo.example/next.png"},
		},
		ProtocolFeeUSD: new(0.0),
		Unsimulated:    true,   // nothing here can simulate
		Tx:             got.Tx, // the guard's own tests are about it
		Fee: &quote.Fee{ // but for publishing, the recorded answer of the hosted service has this total for this gas and price
			Total: amount("439326826112337"), GasLimit: 383_410, USD: new(1.31798), Beside: chain.NewAmount(7),
			Price: quote.GasPrice{Expected: chain.NewAmount(1_145_840_813), Base: chain.NewAmount(145_840_813)},
		},
		Costs: []quote.Cost{{
			Type: "SingleChainSwapEstimatedSlippage", AmountIn: out, AmountOut: amount("99900000000000000000"),
			Fee: amount("100000000000000000"), FeeBps: "10",
		}},
	}
	expect(t, "Estimate", got, want)
	if s := best.built.Load(); s.Sender != recipient || s.GasPrice != chain.NewAmount(1_145_840_813) {
		t.Errorf("swap = %+v, want the recipient as sender and the gas price", s)
	}
	if e.Close(); renewals.Load() != 1 {
		t.Errorf("the gas price was renewed %d times for later requests, want once", renewals.Load())
	}
}

func TestEstimateWithoutPricesOrFees(t *testing.T) {
	e := asking(quote.Chain{}, &fakeVenue{name: "only", perInput: 7})
	got := estimate(t, e, usdcToDai())
	if got.Fee != nil || got.In.USD != nil || got.Out.USD != nil {
		t.Errorf("Estimate = %+v, want neither fee nor values", got)
	}
	priced := meter{price: quote.GasPrice{Expected: chain.NewAmount(2)}, gas: 21_000, silent: true}
	for _, to := range []chain.Address{recipient, {}} {
		r := usdcToDai()
		r.Recipient = to
		if got := estimate(t, asking(quote.Chain{Fees: priced}, &fakeVenue{name: "only", perInput: 7}), r); got.Fee != nil {
			t.Errorf("to %q: fee of %+v, want none while that of publishing is not known", to, got.Fee)
		}
	}
}

func TestEstimateTakesTheVenuesGasWhenTheChainCannotTell(t *testing.T) {
	for _, row := range []struct {
		name      string
		gas, want uint64
	}{
		{"the venue's figure", 210_001, 210_001},
		{"nobody's figure", 0, 350_000},
		{"less than any transaction takes", 20_999, 350_000},
		{"as much as any takes", 21_000, 21_000},
		{"more than any takes", 1<<40 + 1, 350_000},
	} {
		e := asking(quote.Chain{Fees: meter{
			price: quote.GasPrice{Expected: chain.NewAmount(2)}, err: quote.ErrReverted,
		}}, &fakeVenue{name: "only", perInput: 7, gas: row.gas})
		got, err := e.Estimate(t.Context(), usdcToDai())
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if got.Fee.GasLimit != row.want || got.Fee.Total != chain.NewAmount(2*row.want) {
			t.Errorf("%s: fee = %+v, want a gas limit of %d", row.name, got.Fee, row.want)
		}
	}
}

func TestEstimateKeepsToTheRequest(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 7, affiliate: decimal.NewFromInt(10)}
	percent := decimal.RequireFromString("2.5")
	affiliate := quote.Affiliate{Percent: decimal.NewFromInt(1), Recipient: address("0x3333333333333333333333333333333333333333")}
	got := must.Get(estimator(only).Estimate(t.Context(), quote.Request{
		Chain: 1, TokenIn: coin, TokenOut: usdc, AmountIn: chain.NewAmount(1000), Recipient: recipient, Sender: sender,
		SlippagePercent: &percent, Affiliate: affiliate,
	}))(t)
	s := only.built.Load()
	if s.Sender != sender || s.Recipient != recipient || !s.SlippagePercent.Equal(percent) || s.Affiliate != affiliate {
		t.Errorf("swap = %+v, want what the request says", s)
	}
	if got.SlippagePercent != 2.5 || got.RecommendedSlippage != 0.3 || got.Tx.Value != chain.NewAmount(1000) {
		t.Errorf("slippage %v, recommended %v, value %s; want 2.5, 0.3, 1000", got.SlippagePercent, got.RecommendedSlippage, got.Tx.Value)
	}
}

func TestEstimateOfPricesAloneBuildsNothing(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 10_000, buildPanic: true}
	r := usdcToDai()
	r.Recipient = chain.Address{}
	got := estimate(t, crossroads(quote.PreferRouter, &crossing{feeBps: 8, lists: []*fakeVenue{only}}, only), r)
	expect(t, "amount out", got.Out.Amount, amount("999200000000"))
	expect(t, "minimum", got.MinOut, amount("998200000000"))
	expect(t, "transaction", got.Tx, quote.Tx{})
}

var errDown = errors.New("no connection")

type downReader struct{}

func (downReader) ReadTokens(context.Context, []chain.Address) ([]token.Reading, error) {
	return nil, errDown
}

func TestEstimateNeedsTheTokensButNoPrices(t *testing.T) {
	o := quote.Options{
		Registry: chain.Documented(), Venues: []quote.Venue{&fakeVenue{name: "only", perInput: 7}}, Chains: ethereum(quote.Chain{}),
		Tokens: token.NewDirectory(token.DirectoryOptions{
			Readers: map[chain.ID]token.Reader{1: downReader{}},
		}),
	}
	if _, err := quote.New(o).Estimate(t.Context(), usdcToDai()); !errors.Is(err, errDown) {
		t.Errorf("Estimate with the chain down = %v, want its error", err)
	}
	o.Tokens = token.NewDirectory(token.DirectoryOptions{
		Prices: []token.PriceSource{func(context.Context, []token.Key) (map[token.Key]*big.Rat, error) { return nil, errDown }},
	})
	if _, err := quote.New(o).Estimate(t.Context(), usdcToDai()); err != nil {
		t.Errorf("Estimate without prices = %v, want an answer", err)
	}
}

// shelf is a token reader that knows the decimals of some tokens.
type shelf map[chain.Address]uint8

func (s shelf) ReadTokens(_ context.Context, addresses []chain.Address) ([]token.Reading, error) {
	readings := make([]token.Reading, len(addresses))
	for i, a := range addresses {
		if decimals, known := s[a]; known {
			readings[i].Decimals = &decimals
		}
	}
	return readings, nil
}

func TestWhatTellsNoDecimalsIsNoToken(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 7}
	e := quote.New(quote.Options{
		Registry: chain.Documented(), Venues: []quote.Venue{only}, Chains: ethereum(quote.Chain{}),
		Tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: shelf{usdc: 6}},
		}),
	})
	for _, test := range []struct {
		in, out chain.Address
		want    error
	}{
		{usdc, coin, nil},
		{usdc, dai, quote.ErrUnsupportedTokenOut},
		{dai, usdc, quote.ErrUnsupportedTokenIn},
		{dai, sender, quote.ErrUnsupportedTokenIn},
	} {
		r := usdcToDai()
		r.TokenIn, r.TokenOut = test.in, test.out
		if _, err := e.Estimate(t.Context(), r); !errors.Is(err, test.want) {
			t.Errorf("Estimate(%s to %s) = %v, want %v", test.in, test.out, err, test.want)
		}
	}
	if got := only.quotes.Load(); got != 1 {
		t.Errorf("the venue was asked %d times, want once: for what is a swap of tokens", got)
	}
}
