package quote_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

// dryRun is a simulator with a result for every called contract.
type dryRun struct {
	found map[chain.Address]quote.Result
	errs  map[chain.Address]error
	takes time.Duration
	slow  map[chain.Address]time.Duration // overrides takes
	has   chain.Amount                    // balance of every account and token

	tried []quote.Simulation
}

var _ quote.Simulator = (*dryRun)(nil)

func (d *dryRun) Balance(context.Context, chain.Address, chain.Address) (chain.Amount, error) {
	return d.has, nil
}

func (d *dryRun) Simulate(ctx context.Context, t quote.Simulation) (quote.Result, error) {
	d.tried = append(d.tried, t)
	select {
	case <-time.After(cmp.Or(d.slow[t.Tx.To], d.takes)):
	case <-ctx.Done():
		return quote.Result{}, ctx.Err()
	}
	if err := d.errs[t.Tx.To]; err != nil {
		return quote.Result{}, err
	}
	found, known := d.found[t.Tx.To]
	if !known {
		return quote.Result{}, quote.ErrNotSimulated
	}
	return found, nil
}

func rehearsed(d *dryRun, venues ...quote.Venue) *quote.Estimator {
	return asking(quote.Chain{Simulator: d}, venues...)
}

// seen returns the result of usdcToDai's recipient at a rate.
func seen(perInput uint64) quote.Result {
	received := usdcToDai().AmountIn.MulDiv(perInput, 1)
	return quote.Result{Measured: true, Received: received, Gas: 200_000}
}

func TestSimulationDecidesWhoWins(t *testing.T) {
	failing := map[string]error{"first": quote.ErrReverted}
	for _, row := range []struct {
		name  string
		found map[string]quote.Result
		errs  map[string]error
		want  []string // compared; the quotes are 10000, 9995 and 9900 per unit
		out   uint64
	}{
		{"all do what they say", map[string]quote.Result{"first": seen(10_000), "second": seen(9_995), "third": seen(9_900)}, nil, []string{"first", "second", "third"}, 10_000},
		{"the best would fail", map[string]quote.Result{"second": seen(9_990)}, failing, []string{"second", "third"}, 9_990},
		{"the best pays less than the second says and does", map[string]quote.Result{"first": seen(9_992), "second": seen(9_994)}, nil, []string{"second", "first", "third"}, 9_994},
		{"the best pays less, but still most", map[string]quote.Result{"first": seen(9_992), "second": seen(9_991)}, nil, []string{"first", "second", "third"}, 9_992},
		{"the best pays less than its minimum", map[string]quote.Result{"first": seen(9_989), "second": seen(9_990)}, nil, []string{"second", "third"}, 9_990},
		{"the best pays its minimum and no more", map[string]quote.Result{"first": seen(9_990), "second": seen(9_988)}, nil, []string{"first", "second", "third"}, 9_990},
		{"nobody can be tried", nil, nil, []string{"first", "second", "third"}, 10_000},
		{"the node fails", nil, map[string]error{"first": errDown}, []string{"first", "second", "third"}, 10_000},
	} {
		venues := []*fakeVenue{{name: "first", perInput: 10_000}, {name: "second", perInput: 9_995}, {name: "third", perInput: 9_900}}
		d := &dryRun{found: map[chain.Address]quote.Result{}, errs: map[chain.Address]error{}}
		for _, b := range venues {
			if found, known := row.found[b.name]; known {
				d.found[b.router()] = found
			}
			d.errs[b.router()] = row.errs[b.name]
		}
		got, err := rehearsed(d, venues[0], venues[1], venues[2]).Estimate(t.Context(), usdcToDai())
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		expect(t, row.name, names(got.Compared), row.want)
		if want := usdcToDai().AmountIn.MulDiv(row.out, 1); got.Out.Amount != want {
			t.Errorf("%s: amount out %s, want %s", row.name, got.Out.Amount, want)
		}
	}
}

// TestOneTransactionIsBuiltAndTried: the other venues can no longer win, so they are asked only for prices.
func TestOneTransactionIsBuiltAndTried(t *testing.T) {
	var fakes []*fakeVenue
	var venues []quote.Venue
	d := &dryRun{found: map[chain.Address]quote.Result{}}
	for i := range uint64(8) {
		b := &fakeVenue{name: fmt.Sprint("venue ", i), perInput: 9_900 + i}
		d.found[b.router()] = seen(b.perInput)
		fakes, venues = append(fakes, b), append(venues, b)
	}
	estimate(t, rehearsed(d, venues...), usdcToDai())
	if len(d.tried) != 1 {
		t.Errorf("%d simulations for one answer, want 1", len(d.tried))
	}
	for i, b := range fakes {
		isBuilt, wins := b.built.Load() != nil, i == len(fakes)-1
		if asked := b.quotes.Load(); asked != 1 || isBuilt != wins {
			t.Errorf("%s: quoted %d times, built: %v, want once and %v", b.name, asked, isBuilt, wins)
		}
	}
}

func TestMoreSlippageIsRecommendedWhereLessWasSeen(t *testing.T) {
	for _, row := range []struct {
		sees uint64 // of 10000 quoted
		want float64
	}{
		{10_000, 0.1}, // as between two stablecoins
		{10_001, 0.1},
		{9_997, 0.1},
		{9_950, 0.75},
		{9_923, 1.16},
		{9_123, 5},
	} {
		only := &fakeVenue{name: "only", perInput: 10_000}
		r := usdcToDai()
		most := decimal.NewFromInt(10)
		r.SlippagePercent = &most
		got := estimate(t, rehearsed(&dryRun{found: map[chain.Address]quote.Result{only.router(): seen(row.sees)}}, only), r)
		if got.RecommendedSlippage != row.want || got.SlippagePercent != 10 {
			t.Errorf("recommended with %d seen of 10000 = %v, want %v", row.sees, got.RecommendedSlippage, row.want)
		}
	}
}

func TestSimulationIsOfTheAnswersTransaction(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 10_000, affiliate: decimal.NewFromInt(1)}
	d := &dryRun{found: map[chain.Address]quote.Result{only.router(): seen(10_000)}}
	r := usdcToDai()
	r.Sender, r.Affiliate = sender, quote.NewAffiliate(10, weth)
	got := estimate(t, rehearsed(d, only), r)
	want := quote.Simulation{
		Sender: sender, Recipient: recipient, In: usdc, Out: dai, AmountIn: r.AmountIn, Tx: got.Tx, Gas: 350_000, Spender: only.router(),
		Shares: []quote.Affiliate{r.Affiliate},
	}
	r.Affiliate.Recipient = sender // who loses what they gain
	own := want
	own.Shares, own.Tx = nil, estimate(t, rehearsed(d, only), r).Tx
	expect(t, "simulations", d.tried, []quote.Simulation{want, own})
	if f := got.Asked[0].Result; f == nil || f.Gas != 200_000 {
		t.Errorf("finding = %+v, want the simulation's", f)
	}
}

// TestInputLeftInThePublicRouterIsRefused, since the next swap could take it.
func TestInputLeftInThePublicRouterIsRefused(t *testing.T) {
	wasteful := &fakeVenue{name: "wasteful", perInput: 10_000}
	left := seen(10_000)
	left.Gross, left.Left = left.Received, chain.NewAmount(1)
	run := &dryRun{found: map[chain.Address]quote.Result{publicRouter: left}}
	e := asking(quote.Chain{
		Router:    &crossing{lists: []*fakeVenue{wasteful}},
		Simulator: run,
	}, wasteful)
	if _, err := e.Estimate(t.Context(), usdcToDai()); !errors.Is(err, quote.ErrRefused) {
		t.Errorf("Estimate = %v, want ErrRefused", err)
	}
	if len(run.tried) != 1 || run.tried[0].Through != publicRouter {
		t.Errorf("simulated %+v, want one through the public router", run.tried)
	}
}

// TestUnsimulatedDirectTransactionsAreRefused: no venue wins by not being simulated, for whatever reason.
func TestUnsimulatedDirectTransactionsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := &dryRun{found: map[chain.Address]quote.Result{(&fakeVenue{name: "only"}).router(): {Gas: 200_000}}}
		for _, row := range []struct {
			name      string
			simulator quote.Simulator
			writes    bool
			allowed   bool
			router    bool
			refused   bool
		}{
			{name: "no simulator", refused: true},
			{name: "it cannot", simulator: &dryRun{}, refused: true},
			{name: "it fails", simulator: &dryRun{errs: map[chain.Address]error{(&fakeVenue{name: "only"}).router(): errDown}}, refused: true},
			{name: "it takes for ever", simulator: &dryRun{takes: time.Hour}, refused: true},
			{name: "it runs and is not measured", simulator: ran, refused: true},
			{name: "it runs and is not measured, and the operator allows it", simulator: ran, allowed: true},
			{name: "it runs and is not measured, and the gateway wrote it", simulator: ran, writes: true},
			{name: "it takes for ever, and the operator allows it", simulator: &dryRun{takes: time.Hour}, allowed: true},
			{name: "the operator allows it", allowed: true},
			{name: "the gateway wrote it", writes: true},
			{name: "the public router stands before it", router: true},
		} {
			only := &fakeVenue{name: "only", perInput: 10_000, writes: row.writes}
			c := quote.Chain{Simulator: row.simulator, AllowUnsimulated: row.allowed}
			if row.router {
				c.Router = &crossing{lists: []*fakeVenue{only}}
			}
			e := askingStrictly(c, only)
			got, err := e.Estimate(t.Context(), usdcToDai())
			if row.refused != errors.Is(err, quote.ErrUnsimulated) || !row.refused && (err != nil || !got.Unsimulated) {
				t.Errorf("%s: unsimulated %v, error %v", row.name, got.Unsimulated, err)
			}
		}
	})
}

// TestPromisesOfAThousandTimesAsMuchAreSimulated: without that they lose to a plausible quote.
func TestPromisesOfAThousandTimesAsMuchAreSimulated(t *testing.T) {
	const perUnit = 1_000_000_000_000 // one DAI per USDC
	honest, liar := &fakeVenue{name: "honest", perInput: perUnit}, &fakeVenue{name: "liar", perInput: 1000 * perUnit}
	for want, found := range map[string]map[chain.Address]quote.Result{"honest": nil, "liar": {liar.router(): seen(1000 * perUnit)}} {
		e := quote.New(quote.Options{
			Registry: chain.Documented(), Venues: []quote.Venue{honest, liar}, Tokens: directory(true),
			Chains: ethereum(quote.Chain{Simulator: &dryRun{found: found}}),
		})
		got := estimate(t, e, usdcToDai())
		expect(t, "winner", got.Asked[0].Venue, want)
		if why := refused(got)["liar"]; errors.Is(why, quote.ErrRefused) != (want == "honest") {
			t.Errorf("the liar is refused for %v where %s wins", why, want)
		}
	}
}

// TestSlowTransactionsLose: a venue whose transaction is not simulated in time loses to the next best.
func TestSlowTransactionsLose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, next := &fakeVenue{name: "slow", perInput: 10_000}, &fakeVenue{name: "next", perInput: 9_900}
		d := &dryRun{
			found: map[chain.Address]quote.Result{slow.router(): seen(10_000), next.router(): seen(9_900)},
			slow:  map[chain.Address]time.Duration{slow.router(): time.Hour},
		}
		e := askingStrictly(quote.Chain{Simulator: d}, slow, next)
		got := estimate(t, e, usdcToDai())
		expect(t, "compared", names(got.Compared), []string{"next"})
		if why := refused(got)["slow"]; !errors.Is(why, quote.ErrUnsimulated) || got.Unsimulated {
			t.Errorf("the slow one: %v; the answer unsimulated: %v", why, got.Unsimulated)
		}
	})
}

// TestFaultsOfTheRequestAreToldWhateverVenuesSay: a slippage that leaves no minimum, and a sender without the input.
func TestFaultsOfTheRequestAreToldWhateverVenuesSay(t *testing.T) {
	most := decimal.RequireFromString("99.99")
	loose := usdcToDai()
	loose.SlippagePercent = &most
	price := loose
	price.Recipient = chain.Address{}
	for _, row := range []struct {
		name    string
		request quote.Request
		err     error
		want    error
	}{
		{"no minimum", loose, nil, quote.ErrNoMinimum},
		{"no minimum of a price", price, nil, quote.ErrNoMinimum},
		{"no input", usdcToDai(), fmt.Errorf("%w: %w", quote.ErrNotSimulated, quote.ErrSenderLacks), quote.ErrSenderLacks},
	} {
		first, second := &fakeVenue{name: "first", perInput: 10_000}, &fakeVenue{name: "second", perInput: 9_000, buildError: errDown}
		d := &dryRun{errs: map[chain.Address]error{first.router(): row.err}}
		c := quote.Chain{Simulator: d}
		if row.err == nil {
			c.Router = &crossing{lists: []*fakeVenue{first}, feeBps: 10}
		}
		e := askingStrictly(c, first, second)
		if _, err := e.Estimate(t.Context(), row.request); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
	}
}
