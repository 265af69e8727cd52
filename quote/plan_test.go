package quote_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

// crossing is a public router that calls the venues in its lists.
type crossing struct {
	feeBps int
	lists  []*fakeVenue
	also   []chain.Address
	err    error

	wrapped quote.RouterSwap // the last one
}

var _ quote.Router = (*crossing)(nil)

var publicRouter = address("0x663DC15D3C1aC63ff12E45Ab68FeA3F0a883C251")

func (c *crossing) Terms(_ context.Context, venues []chain.Address) (quote.RouterTerms, error) {
	terms := quote.RouterTerms{Address: publicRouter, FeeBps: c.feeBps, Calls: map[chain.Address]bool{}}
	for _, asked := range venues {
		for _, b := range c.lists {
			terms.Calls[asked] = terms.Calls[asked] || asked == b.router()
		}
		for _, other := range c.also {
			terms.Calls[asked] = terms.Calls[asked] || asked == other
		}
	}
	return terms, c.err
}

func (c *crossing) Wrap(s quote.RouterSwap) quote.Tx {
	c.wrapped = s
	tx := quote.Tx{To: publicRouter, Data: append([]byte{0x25, 0x8c, 0x16, 0xee}, s.VenueData...)}
	if s.TokenIn.IsNative() {
		tx.Value = s.AmountIn
	}
	return tx
}

// crossroads returns an estimator with a public router.
func crossroads(x quote.Execution, c *crossing, venues ...quote.Venue) *quote.Estimator {
	return asking(quote.Chain{Execution: x, Router: c}, venues...)
}

// TestUnreadVenuesAreNotCalledDirectly uses a venue whose calldata cannot be read: the public router itself enforces
// the minimum, and without it the venue is not asked.
func TestUnreadVenuesAreNotCalledDirectly(t *testing.T) {
	for execution, asked := range map[quote.Execution]int64{quote.PreferRouter: 1, quote.BestWay: 1, quote.DirectOnly: 0} {
		unread := &fakeVenue{name: "unread", perInput: 2_000_000, unread: true}
		read := &fakeVenue{name: "read", perInput: 1_000_000}
		r := usdcToDai()
		r.Sender = sender
		got, err := crossroads(execution, &crossing{lists: []*fakeVenue{unread, read}}, unread, read).Estimate(t.Context(), r)
		if err != nil || (got.Tx.To == publicRouter) != (asked > 0) || unread.quotes.Load() != asked {
			t.Errorf("execution %d: transaction to %s, %v; the venue was asked %d times, want %d", execution, got.Tx.To, err, unread.quotes.Load(), asked)
		}
	}
}

func TestRoutedSwapIsThePublicRoutersCall(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 1_000_000}
	router := &crossing{feeBps: 8, lists: []*fakeVenue{only}}
	r := usdcToDai()
	r.Sender, r.ReferralCode = sender, 31742
	r.Affiliate = quote.Affiliate{Percent: decimal.RequireFromString("3.33"), Recipient: dai}
	slippage := decimal.RequireFromString("0.3")
	r.SlippagePercent = &slippage
	got := estimate(t, crossroads(quote.PreferRouter, router, only), r)
	// 100,000,000 × 1,000,000 = 10^14; the fee is 8 bps of it, the affiliate's 3.33 % of the rest.
	const gross, fee, affiliate = "100000000000000", "80000000000", "3327336000000"
	const net, minimum = "96592664000000", "96292664000000" // the minimum is net less 0.3 % of gross
	expect(t, "amount out", got.Out.Amount, amount(net))
	expect(t, "minimum", got.MinOut, amount(minimum))
	expect(t, "protocol fee", got.ProtocolFee, amount(fee))
	expect(t, "costs", got.Costs, []quote.Cost{
		{Type: "SingleChainSwapProtocolFee", AmountIn: amount(gross), AmountOut: amount("99920000000000"), Fee: amount(fee), FeeBps: "8"},
		{Type: "SingleChainSwapAffiliateFee", AmountIn: amount("99920000000000"), AmountOut: amount(net), Fee: amount(affiliate), FeeBps: "333"},
		{Type: "SingleChainSwapEstimatedSlippage", AmountIn: amount(net), AmountOut: amount(minimum), Fee: amount("300000000000"), FeeBps: "30"},
	})
	if s := only.built.Load(); s.Sender != publicRouter || s.Recipient != publicRouter || !s.Affiliate.Percent.IsZero() {
		t.Errorf("the venue was asked for %+v, want the public router as sender and recipient, without an affiliate", s)
	}
	want := quote.RouterSwap{
		TokenIn: usdc, AmountIn: chain.NewAmount(100_000_000), VenueRouter: only.router(), VenueData: router.wrapped.VenueData,
		TokenOut: dai, MinOut: amount(minimum), SurplusShareBps: 10_000,
		AffiliateFee: append([]byte{0x01, 0x4d}, dai.Bytes()...), Recipient: recipient, ReferralCode: 31742,
	}
	expect(t, "wrapped", router.wrapped, want)
	if got.Way != quote.Routed || got.Tx.To != publicRouter || !bytes.Contains(got.Tx.Data, publicRouter.Bytes()) {
		t.Errorf("transaction to %s by way %s, want the public router's", got.Tx.To, got.Way)
	}
}

// TestWays uses two venues, one of which the public router lists.
func TestWays(t *testing.T) {
	listed := func() *fakeVenue { return &fakeVenue{name: "listed", perInput: 10_000} }
	stranger := func() *fakeVenue { return &fakeVenue{name: "stranger", perInput: 9_000} }
	for _, row := range []struct {
		name      string
		execution quote.Execution
		routerErr error
		affiliate string // percent
		want      map[string]quote.Way
		wantTo    string // venue whose router is called; empty: the public router
	}{
		{"router where it can be", quote.PreferRouter, nil, "0", map[string]quote.Way{"listed": quote.Routed}, ""},
		{"direct", quote.DirectOnly, nil, "0", map[string]quote.Way{"listed": quote.Direct, "stranger": quote.Direct}, "listed"},
		{"best: nothing is kept on the direct way", quote.BestWay, nil, "0", map[string]quote.Way{"listed": quote.Direct, "stranger": quote.Direct}, "listed"},
		{"best: who pays no affiliate is routed", quote.BestWay, nil, "1", map[string]quote.Way{"listed": quote.Routed}, ""},
		{"direct where the router does not stand", quote.PreferRouter, quote.ErrNoRouter, "0", map[string]quote.Way{"listed": quote.Direct, "stranger": quote.Direct}, "listed"},
		{"direct where the router does not answer", quote.BestWay, errDown, "0", map[string]quote.Way{"listed": quote.Direct, "stranger": quote.Direct}, "listed"},
	} {
		first, second := listed(), stranger()
		r := usdcToDai()
		r.Affiliate = quote.Affiliate{Percent: decimal.RequireFromString(row.affiliate), Recipient: sender}
		e := crossroads(row.execution, &crossing{feeBps: 8, lists: []*fakeVenue{first}, err: row.routerErr}, first, second)
		got, err := e.Estimate(t.Context(), r)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		ways := map[string]quote.Way{}
		for _, one := range got.Asked { // best first
			if _, seen := ways[one.Venue]; !seen && one.Verdict != quote.LeftOut {
				ways[one.Venue] = one.Way
			}
		}
		expect(t, row.name, ways, row.want)
		wantTo := publicRouter
		if row.wantTo != "" {
			wantTo = first.router()
		}
		if got.Tx.To != wantTo {
			t.Errorf("%s: transaction to %s, want %s", row.name, got.Tx.To, wantTo)
		}
		if n := first.quotes.Load(); n != 1 {
			t.Errorf("%s: the listed venue quoted %d times, want once for both ways", row.name, n)
		}
	}
}

func TestWhoOnlyWrapsIsAskedAboutNothingElse(t *testing.T) {
	for name, ends := range map[string][2]chain.Address{
		"a token for another": {usdc, dai}, "the coin for a token": {coin, dai}, "a token for the coin": {usdc, weth}, "to another wallet": {coin, weth},
	} {
		r := usdcToDai()
		r.TokenIn, r.TokenOut, r.Sender = ends[0], ends[1], sender
		down := &fakeVenue{name: "down", quoteError: errDown}
		got, err := estimator(&fakeVenue{name: "wrap", wraps: true, quoteError: quote.ErrNoRoute}, down).Estimate(t.Context(), r)
		if !errors.Is(err, errDown) || errors.Is(err, quote.ErrNoRoute) {
			t.Errorf("%s: Estimate = %v, want what kept the other venue from answering", name, err)
		}
		for _, one := range got.Asked {
			if one.Venue == "wrap" && one.Verdict != quote.LeftOut {
				t.Errorf("%s: wrap was asked: %+v", name, one)
			}
		}
	}
}

// TestVenuesThatThePublicRouterDoesNotCallAreTheReserve: one approval suffices while any venue is reachable that way.
func TestVenuesThatThePublicRouterDoesNotCallAreTheReserve(t *testing.T) {
	for _, row := range []struct {
		name   string
		listed *fakeVenue
		want   string
	}{
		{"the listed one pays less", &fakeVenue{perInput: 10_000}, "listed"},
		{"the listed one has no route", &fakeVenue{quoteError: quote.ErrNoRoute}, "stranger"},
		{"the listed one is down", &fakeVenue{quoteError: errDown}, "stranger"},
		{"the listed one does not build", &fakeVenue{perInput: 10_000, buildError: errDown}, "stranger"},
	} {
		listed := row.listed
		listed.name = "listed"
		stranger := &fakeVenue{name: "stranger", perInput: 20_000}
		got, err := crossroads(quote.PreferRouter, &crossing{lists: []*fakeVenue{listed}}, listed, stranger).Estimate(t.Context(), usdcToDai())
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		expect(t, row.name, names(got.Compared), []string{row.want})
		if len(got.Asked) != 2 {
			t.Errorf("%s: asked = %+v, want both", row.name, got.Asked)
		}
	}
	down := &fakeVenue{name: "listed", quoteError: errDown}
	noRoute := &fakeVenue{name: "stranger", quoteError: quote.ErrNoRoute}
	_, err := crossroads(quote.PreferRouter, &crossing{lists: []*fakeVenue{down}}, down, noRoute).Estimate(t.Context(), usdcToDai())
	if !errors.Is(err, errDown) {
		t.Errorf("Estimate with the listed one down = %v, want that it is down", err)
	}
}

// TestSharesAreGivenWholeOrNotAtAll covers shares at and beyond the limits of venues.
func TestSharesAreGivenWholeOrNotAtAll(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	solana, _ := chain.Documented().Chain(chain.Solana)
	none, most := quote.Affiliate{}, percent("3", sender)
	for _, row := range []struct {
		name              string
		profile           quote.Profile
		affiliate, second quote.Affiliate
		want              error
	}{
		{"no share", quote.Profile{}, none, none, nil},
		{"as much as it gives", quote.Profile{}, most, none, nil},
		{"more", quote.Profile{}, percent("3.01", sender), none, quote.ErrNoAffiliate},
		{"two, together as much", quote.Profile{PaysTwo: true}, percent("2", sender), percent("1", dai), nil},
		{"two, together more", quote.Profile{PaysTwo: true}, percent("2", sender), percent("1.01", dai), quote.ErrNoAffiliate},
		{"two where it pays one", quote.Profile{}, percent("1", sender), percent("1", dai), quote.ErrNoAffiliate},
		{"finer than a basis point", quote.Profile{}, percent("0.125", sender), none, quote.ErrNoAffiliate},
		{"finer, where it can", quote.Profile{FineAffiliate: true}, percent("0.125", sender), none, nil},
		{"a finer second", quote.Profile{FineAffiliate: true, PaysTwo: true}, percent("1", sender), percent("0.125", dai), quote.ErrNoAffiliate},
		{"of a token, where it shares the coin", quote.Profile{SharesOfCoin: true}, most, none, quote.ErrNoAffiliate},
		{"none of a token, where it shares the coin", quote.Profile{SharesOfCoin: true}, none, none, nil},
		{"another chain", quote.Profile{Routers: map[chain.ID]chain.Address{56: dai}}, none, none, quote.ErrUnsupportedChain},
	} {
		p := row.profile
		p.MaxAffiliatePercent = decimal.NewFromInt(3)
		if p.Routers == nil {
			p.Routers = map[chain.ID]chain.Address{chain.Ethereum: dai, chain.Solana: dai}
		}
		s := quote.Swap{Chain: ethereum, In: quote.Side{Address: usdc}, Affiliate: row.affiliate, Second: row.second}
		if err := p.Suits(s); !errors.Is(err, row.want) || row.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
		s.Chain, s.In.Amount = solana, amount("18446744073709551616")
		if err := p.Suits(s); err == nil {
			t.Errorf("%s: more than 64 bits on Solana suit", row.name)
		}
	}
}

func TestNobodyIsLeftWhenTheAffiliateCannotBePaid(t *testing.T) {
	unable := &fakeVenue{name: "unable", perInput: 7}
	r := usdcToDai()
	r.Affiliate = quote.Affiliate{Percent: decimal.RequireFromString("0.125"), Recipient: sender} // 12.5 basis points
	got, err := crossroads(quote.BestWay, &crossing{lists: []*fakeVenue{unable}}, unable).Estimate(t.Context(), r)
	if !errors.Is(err, quote.ErrNoRoute) {
		t.Errorf("Estimate = %v, want ErrNoRoute", err)
	}
	if len(got.Asked) != 1 || got.Asked[0].Verdict != quote.LeftOut || got.Asked[0].Err == nil {
		t.Errorf("asked = %+v, want the venue left out, with the reason", got.Asked)
	}
}

// TestForeignSpenders covers venues whose input is spent by another contract than the one called.
func TestForeignSpenders(t *testing.T) {
	spender := address("0x4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d")
	foreign := func() *fakeVenue { return &fakeVenue{name: "foreign", perInput: 9, approves: spender} }
	plain := &fakeVenue{name: "plain", perInput: 8}

	lesser, least := &fakeVenue{name: "lesser", perInput: 7}, &fakeVenue{name: "least", perInput: 6, approves: spender}
	got := estimate(t, estimator(foreign(), least, lesser, plain), usdcToDai())
	expect(t, "chosen when an approval is needed", got.Asked[0].Venue, "plain")
	expect(t, "compared when an approval is needed", names(got.Compared), []string{"plain", "foreign", "lesser", "least"})
	if drop := got.Compared[1].PriceDrop; drop != 0 {
		t.Errorf("price drop of who pays more = %v, want 0", drop)
	}
	if _, err := estimator(foreign()).Estimate(t.Context(), usdcToDai()); !errors.Is(err, quote.ErrNoTransaction) || !errors.Is(err, quote.ErrRefused) {
		t.Errorf("Estimate with the foreign spender alone = %v, want ErrNoTransaction by ErrRefused", err)
	}

	r := usdcToDai()
	r.TokenIn, r.TokenOut = coin, usdc
	got = estimate(t, estimator(foreign(), plain), r)
	expect(t, "compared when none is", names(got.Compared), []string{"foreign", "plain"})

	known := foreign()
	router := &crossing{lists: []*fakeVenue{known}, also: []chain.Address{spender}}
	estimate(t, crossroads(quote.PreferRouter, router, known), usdcToDai())
	expect(t, "spender for the public router", router.wrapped.Spender, spender)
	router.also = nil
	if _, err := crossroads(quote.PreferRouter, router, known).Estimate(t.Context(), usdcToDai()); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("Estimate with a spender that the public router does not know = %v, want ErrRefused", err)
	}
}

// TestWaysDoNotChangeInSilence uses a chain that does not answer whether it has the public router.
func TestWaysDoNotChangeInSilence(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 10_000}
	if _, err := crossroads(quote.PreferRouter, &crossing{err: errDown}, only).Estimate(t.Context(), usdcToDai()); !errors.Is(err, errDown) {
		t.Errorf("Estimate through the router = %v, want what kept the chain from telling", err)
	}
	got := estimate(t, crossroads(quote.BestWay, &crossing{err: errDown}, only), usdcToDai())
	told := slices.ContainsFunc(got.Asked, func(a quote.Asked) bool {
		return a.Way == quote.Routed && a.Verdict == quote.LeftOut && errors.Is(a.Err, errDown)
	})
	if got.Tx.To != only.router() || !told {
		t.Errorf("transaction to %s, asked = %+v, want the venue's and why there is no way through the router", got.Tx.To, got.Asked)
	}
}

// TestAVenueIsRoutedByAnyOfItsRouters lets the public router list only a venue's second router: the venue is asked
// behind the public router, and is called directly only if its transaction calls the first one.
func TestAVenueIsRoutedByAnyOfItsRouters(t *testing.T) {
	second := address("0x5555555555555555555555555555555555555555")
	for _, row := range []struct {
		name  string
		calls func(*quote.Tx)
		want  quote.Way
	}{
		{"its transaction calls the one that is listed", func(tx *quote.Tx) { tx.To = second }, quote.Routed},
		{"its transaction calls the other", nil, quote.Direct},
	} {
		t.Run(row.name, func(t *testing.T) {
			venue := &fakeVenue{name: "two routers", perInput: 10_000, more: []chain.Address{second}, lie: row.calls}
			got, err := crossroads(quote.PreferRouter, &crossing{also: []chain.Address{second}}, venue).Estimate(t.Context(), usdcToDai())
			if err != nil || got.Way != row.want {
				t.Errorf("Estimate = way %s, %v, want way %s", got.Way, err, row.want)
			}
		})
	}
}

// TestOutputGoesOnToAContract that the public router calls, if the venue pays what the contract expects; the venue's
// transaction must also go to a router that the public one calls.
func TestOutputGoesOnToAContract(t *testing.T) {
	second := address("0x5555555555555555555555555555555555555555")
	for name, row := range map[string]struct {
		target   chain.Address
		expected uint64
		check    error
		calls    func(*quote.Tx)
		want     error
	}{
		"it is paid":                  {dai, 900_000_000, nil, nil, nil},
		"it expects more":             {dai, 900_000_001, nil, nil, quote.ErrRefused},
		"it reverts":                  {dai, 900_000_000, quote.ErrReverted, nil, quote.ErrReverted},
		"the router does not call it": {usdc, 900_000_000, nil, nil, quote.ErrNoRoute},
		"nor a router of the venue":   {dai, 900_000_000, nil, func(tx *quote.Tx) { tx.To = second }, quote.ErrRefused},
	} {
		only := &fakeVenue{name: "only", perInput: 9, more: []chain.Address{second}, lie: row.calls}
		r := usdcToDai()
		r.Recipient, r.Sender = publicRouter, sender
		r.Onward = &quote.Onward{
			Target: row.target, Expected: chain.NewAmount(row.expected),
			Make:  func(venue quote.Tx) quote.Tx { return quote.Tx{To: publicRouter, Data: venue.Data[:4]} },
			Check: func(context.Context, quote.Tx) (uint64, error) { return 70_000, row.check },
		}
		router := &crossing{feeBps: 8, lists: []*fakeVenue{only}, also: []chain.Address{dai}}
		got, err := crossroads(quote.PreferRouter, router, only).Estimate(t.Context(), r)
		if !errors.Is(err, row.want) || err == nil && (got.Tx.To != publicRouter || len(got.Tx.Data) != 4 || got.MinOut != r.Onward.Expected) {
			t.Errorf("%s: %+v for at least %s, %v, want %v", name, got.Tx, got.MinOut, err, row.want)
		}
	}
}

// TestTheRoutersGasIsCounted: what the public router takes for its call, and for an affiliate, comes to what the venue
// takes, or to that of a usual swap where its figure is absurd.
func TestTheRoutersGasIsCounted(t *testing.T) {
	for _, row := range []struct {
		percent   string
		gas, want uint64
	}{{"0", 100_000, 165_000}, {"1", 100_000, 177_000}, {"0", math.MaxUint64, 415_000}} {
		only := &fakeVenue{name: "only", perInput: 1_000_000, gas: row.gas}
		r := usdcToDai()
		r.Affiliate = quote.Affiliate{Percent: decimal.RequireFromString(row.percent), Recipient: dai}
		got := estimate(t, crossroads(quote.PreferRouter, &crossing{lists: []*fakeVenue{only}}, only), r)
		if gas := got.Asked[0].Gas; gas != row.want {
			t.Errorf("gas of %d with an affiliate's %s %% = %d, want %d", row.gas, row.percent, gas, row.want)
		}
	}
}
