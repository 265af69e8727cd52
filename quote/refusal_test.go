package quote_test

import (
	"errors"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// failing returns an estimator with a venue for each error, none of which quotes.
func failing(errs ...error) *quote.Estimator {
	var venues []quote.Venue
	for i, err := range errs {
		venues = append(venues, &fakeVenue{name: string(rune('a' + i)), quoteError: err})
	}
	return estimator(venues...)
}

// TestRefusalsSayWhoseFaultTheyAre covers every reason for not answering: the request, the venues, and missing facts.
func TestRefusalsSayWhoseFaultTheyAre(t *testing.T) {
	down := &upstream.Error{Class: upstream.Unreachable, Endpoint: "a"}
	limited := &upstream.Error{Class: upstream.RateLimited, Endpoint: "b", RetryAfter: time.Second}
	only := &fakeVenue{name: "only", perInput: 10_000}
	cheap := &fakeVenue{name: "cheap", perInput: 9, affiliate: decimal.RequireFromString("0.99")}
	lost := &fakeVenue{name: "lost", affiliate: decimal.NewFromInt(1), quoteError: quote.ErrNoRoute}
	less := amount("249800000000000000000").Bytes32() // within the rounding allowed to venues
	mean := &fakeVenue{name: "mean", perInput: 1_000_000_000_000, lie: func(tx *quote.Tx) { copy(tx.Data[4:], less[:]) }}
	unbuilt := estimator(&fakeVenue{name: "a", quoteError: quote.ErrNoRoute},
		&fakeVenue{name: "b", perInput: 1, lie: func(tx *quote.Tx) { tx.To = usdc }}, &fakeVenue{name: "c", perInput: 1, life: -time.Second})
	unguarded := quote.New(quote.Options{
		Registry: chain.Documented(), Venues: []quote.Venue{only}, Tokens: directory(false), Chains: map[chain.ID]quote.Chain{chain.Ethereum: {AllowUnsimulated: true}},
	})
	taxed := rehearsed(&dryRun{found: map[chain.Address]quote.Result{only.router(): seen(1)}}, only)
	operated := asking(quote.Chain{Operator: percent("0.2", sender)}, only)
	price := quote.GasPrice{Expected: chain.NewAmount(10), MaxFee: chain.NewAmount(20)}
	rich := &dryRun{has: chain.NewAmount(1_000_000_000)}
	// On a rollup the data fee may be most of a transaction's cost.
	silent := asking(quote.Chain{Fees: meter{price: price, gas: 200_000, silent: true}, Simulator: rich}, only)
	hungry := purse(1_000_000_000, price, &fakeVenue{name: "hungry", perInput: 10_000, gas: 700_000})

	plain := func(*quote.Request) {}
	on := func(id chain.ID) func(*quote.Request) { return func(r *quote.Request) { r.Chain = id } }
	shared := func(r *quote.Request) { r.Affiliate = percent("1", sender) }
	fixed := func(r *quote.Request) { r.AmountIn, r.MinOut = chain.Amount{}, amount("250000000000000000000") }
	whole := func(in chain.Address) func(*quote.Request) { return func(r *quote.Request) { *r = wholeOf(in, dai) } }
	for _, row := range []struct {
		name         string
		of           *quote.Estimator
		change       func(*quote.Request)
		want, unlike error // not this one
	}{
		{"nobody has a route", failing(quote.ErrNoRoute, quote.ErrNoRoute), plain, quote.ErrNoRoute, quote.ErrNoTransaction},
		{"who answered has no route", failing(quote.ErrNoRoute, down), plain, quote.ErrNoRoute, down},
		{"nobody knows the token", failing(quote.ErrUnsupportedTokenIn, quote.ErrUnsupportedTokenIn), plain, quote.ErrUnsupportedTokenIn, quote.ErrNoRoute},
		{"one knows the token", failing(quote.ErrUnsupportedTokenOut, quote.ErrNoRoute), plain, quote.ErrNoRoute, quote.ErrUnsupportedTokenOut},
		{"nobody answered", failing(down, limited), plain, down, quote.ErrNoRoute},
		{"nobody answered, all named", failing(down, limited), plain, limited, quote.ErrNoRoute},
		{"an exchange that is not there, beside one that fails", failing(quote.ErrUnsupportedChain, errDown), plain, quote.ErrNoTransaction, quote.ErrUnsupportedChain},
		{"an exchange that is not there, alone", failing(quote.ErrUnsupportedChain), plain, quote.ErrUnsupportedChain, nil},
		{"a chain that no venue serves", estimator(only), on(56), quote.ErrUnsupportedChain, nil},
		{"a chain of another family", estimator(only), on(chain.Solana), quote.ErrUnsupportedChain, nil},
		{"a chain that is not known", estimator(only, &fakeVenue{name: "stranger", chains: []chain.ID{4}}), on(4), quote.ErrUnsupportedChain, nil},
		{"no transaction is built: none", unbuilt, plain, quote.ErrNoTransaction, quote.ErrNoRoute},
		{"no transaction is built: a lie", unbuilt, plain, quote.ErrRefused, quote.ErrNoRoute},
		{"no transaction is built: an old quote", unbuilt, plain, quote.ErrExpired, quote.ErrNoRoute},
		{"no transaction pays its minimum", taxed, plain, quote.ErrBelowMinimum, quote.ErrNoRoute},
		{"no guard checks transactions", unguarded, plain, quote.ErrRefused, nil},
		{"no venue can pay the affiliate", estimator(cheap), shared, quote.ErrNoAffiliate, nil},
		{"who can pay the affiliate has no route", estimator(cheap, lost), shared, quote.ErrNoAffiliate, nil},
		{"no route, and no affiliate", estimator(lost), plain, quote.ErrNoRoute, quote.ErrNoAffiliate},
		{"no venue can pay the operator", operated, plain, quote.ErrNoRoute, quote.ErrNoAffiliate},
		{"a minimum below the outcome that is wanted", estimator(mean), fixed, quote.ErrRefused, nil},
		{"all of a token, and none is there", purse(0, price, only), whole(usdc), quote.ErrLowBalance, nil},
		{"all of the coin, and none is there", purse(0, price, only), whole(coin), quote.ErrLowBalance, nil},
		{"all of the coin, for more gas than is kept", hungry, whole(coin), quote.ErrRefused, nil},
		{"all of the coin, and publishing has no price", silent, whole(coin), quote.ErrNoTransaction, nil},
		{"all of a token, and publishing has no price", silent, whole(usdc), nil, quote.ErrNoTransaction},
		{"all of the coin, and gas has no price", asking(quote.Chain{Simulator: rich}, only), whole(coin), quote.ErrNoTransaction, nil},
	} {
		r := usdcToDai()
		row.change(&r)
		_, err := row.of.Estimate(t.Context(), r)
		if !errors.Is(err, row.want) || row.unlike != nil && errors.Is(err, row.unlike) {
			t.Errorf("%s: error = %v, want %v and not %v", row.name, err, row.want, row.unlike)
		}
	}
}
