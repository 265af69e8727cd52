package quote_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

var operator = address("0x3333333333333333333333333333333333333333")

// percent returns a share of the input for a recipient.
func percent(text string, to chain.Address) quote.Affiliate {
	return quote.Affiliate{Percent: decimal.RequireFromString(text), Recipient: to}
}

func same(a, b quote.Affiliate) bool { return a.Percent.Equal(b.Percent) && a.Recipient == b.Recipient }

// operated returns an estimator whose operator takes 0.2 % of direct swaps.
func operated(x quote.Execution, c *crossing, venues ...quote.Venue) *quote.Estimator {
	return asking(quote.Chain{Execution: x, Router: c, Operator: percent("0.2", operator)}, venues...)
}

// TestOperatorIsPaidByTheVenue passes the operator's share to the venue; the answer shows it in the output token: what
// it would have bought at the rate of the rest.
func TestOperatorIsPaidByTheVenue(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 998_000, affiliate: decimal.NewFromInt(3)} // after the share
	got := estimate(t, operated(quote.DirectOnly, &crossing{}, only), usdcToDai())
	if s := only.built.Load(); !same(s.Affiliate, percent("0.2", operator)) || s.Second.Percent.IsPositive() {
		t.Errorf("the venue was to pay %+v and %+v, want the operator alone", s.Affiliate, s.Second)
	}
	expect(t, "amount out", got.Out.Amount, amount("99800000000000"))
	expect(t, "protocol fee", got.ProtocolFee, amount("200000000000"))
	expect(t, "costs", got.Costs[0], quote.Cost{
		Type: "SingleChainSwapProtocolFee", AmountIn: amount("100000000000000"), AmountOut: amount("99800000000000"),
		Fee: amount("200000000000"), FeeBps: "20",
	})
	if last := got.Costs[len(got.Costs)-1]; last.AmountIn != got.Out.Amount || last.AmountOut != got.MinOut {
		t.Errorf("last cost = %+v, want what is between the amount and the minimum", last)
	}
}

// TestOperatorStandsBesideTheAffiliate uses venues that pay no shares, too small ones, one, and two.
func TestOperatorStandsBesideTheAffiliate(t *testing.T) {
	nobody := &fakeVenue{name: "nobody", perInput: 4_000_000}
	stingy := &fakeVenue{name: "stingy", perInput: 3_000_000, affiliate: decimal.RequireFromString("1.1"), paysTwo: true}
	single := &fakeVenue{name: "single", perInput: 2_000_000, affiliate: decimal.NewFromInt(3)}
	both := &fakeVenue{name: "both", perInput: 1_000_000, affiliate: decimal.NewFromInt(3), paysTwo: true}
	e := operated(quote.DirectOnly, &crossing{}, nobody, stingy, single, both)
	r := usdcToDai()
	r.Affiliate = percent("1", dai)
	got := estimate(t, e, r)
	expect(t, "compared", names(got.Compared), []string{"both"})
	if s := both.built.Load(); !same(s.Affiliate, r.Affiliate) || !same(s.Second, percent("0.2", operator)) {
		t.Errorf("the venue was to pay %+v and %+v, want affiliate and operator", s.Affiliate, s.Second)
	}
	for _, one := range got.Asked[1:] {
		if one.Verdict != quote.LeftOut || !strings.Contains(one.Err.Error(), "pay") {
			t.Errorf("%s: %s, %v, want it left out for whom it cannot pay", one.Venue, one.Verdict, one.Err)
		}
	}
	// floor(net × 20 / (10,000 − 120)): the share of the input at the rate of the 98.8 % that were swapped.
	expect(t, "protocol fee", got.ProtocolFee, amount("202429149797"))
}

// TestOperatorHasNothingOfThePublicRouter: the router's fee is the protocol's, and the venue pays no share.
func TestOperatorHasNothingOfThePublicRouter(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 1_000_000, affiliate: decimal.NewFromInt(3)}
	router := &crossing{feeBps: 8, lists: []*fakeVenue{only}}
	got := estimate(t, operated(quote.PreferRouter, router, only), usdcToDai())
	expect(t, "protocol fee", got.ProtocolFee, amount("80000000000"))
	if s := only.built.Load(); s.Affiliate.Percent.IsPositive() || got.Way != quote.Routed {
		t.Errorf("by way %s the venue was to pay %+v, want nobody by the public router", got.Way, s.Affiliate)
	}
	// Prices of the two ways differ if the operator is paid in one of them, so that both are requested.
	estimate(t, operated(quote.BestWay, router, only), usdcToDai())
	if asked := only.quotes.Load(); asked != 3 {
		t.Errorf("%d quotes were given, want one, and two for the two ways", asked)
	}
}

func TestWithoutAnybodyToPayTheOperatorThereIsNoRoute(t *testing.T) {
	got, err := operated(quote.DirectOnly, &crossing{}, &fakeVenue{name: "nobody", perInput: 1}).Estimate(t.Context(), usdcToDai())
	if !errors.Is(err, quote.ErrNoRoute) || len(got.Asked) != 1 || got.Asked[0].Verdict != quote.LeftOut {
		t.Errorf("Estimate = %+v, %v, want the venue left out and no route", got.Asked, err)
	}
}
