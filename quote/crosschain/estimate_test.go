package crosschain_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

// Tokens of both chains: a reserve worth 1 USD, one worth 3,000 USD, and two that must be swapped.
var (
	usd, eth, dai, pepe = named(1), chain.NativeCoin(chain.EVM), named(3), named(4)
	payer, receiver     = named(7), named(8)
	source, router      = named(9), named(10)
)

func named(b byte) chain.Address { return chain.NewAddress(bytes.Repeat([]byte{b}, 20)) }

const (
	here  = chain.ID(1)
	there = chain.ID(8453)
)

// exchange fakes swaps that pay a token's worth, less a fee and an impact that grows with the amount.
type exchange struct {
	mu          sync.Mutex
	asked       []quote.Request
	impact      int64 // drop of the price for each USD, in 1e-8
	missing     chain.Address
	venue       quote.Tx
	failures    int    // number of failures to build a transaction
	operatorBps uint64 // operator's share of direct swaps
	falls       uint64 // drop of payouts with each request, in 1e-6
	poor        chain.Address
}

var worths = map[chain.Address]struct {
	usd      int64 // thousandths
	decimals uint8
}{
	usd: {1_000, 6}, eth: {3_000_000, 18}, dai: {1_000, 18}, pepe: {20_000, 18},
	chain.NativeCoin(chain.SVM): {1, 9},
}

func (x *exchange) Estimate(ctx context.Context, r quote.Request) (quote.Estimate, error) {
	x.mu.Lock()
	earlier := 0 // the whole and a tenth are asked in any order, and so are routes
	for _, each := range x.asked {
		if each.TokenIn == r.TokenIn && each.TokenOut == r.TokenOut {
			earlier++
		}
	}
	kept1e6 := 1_000_000 - x.falls*uint64(earlier/2*2)
	x.asked = append(x.asked, r)
	x.mu.Unlock()
	if r.TokenIn == x.missing || r.TokenOut == x.missing {
		return quote.Estimate{}, quote.ErrNoRoute
	}
	in, out := worths[r.TokenIn], worths[r.TokenOut]
	value := new(big.Rat).Mul(r.AmountIn.Units(in.decimals), big.NewRat(in.usd, 1000)) // USD
	lost := new(big.Rat).Mul(value, big.NewRat(x.impact, 100_000_000))
	kept := new(big.Rat).Quo(value, lost.Add(lost, big.NewRat(1, 1)))
	units := kept.Quo(kept, big.NewRat(out.usd, 1000)).Quo(kept, chain.NewAmount(1).Units(out.decimals))
	paid, err := chain.AmountFromBig(new(big.Int).Quo(units.Num(), units.Denom()))
	if err != nil {
		return quote.Estimate{}, err
	}
	paid = paid.MulDiv(kept1e6, 1_000_000)
	e := quote.Estimate{Gross: paid, MinOut: paid.Sub(quote.Share(paid, *r.SlippagePercent)), RecommendedSlippage: 1, QuotedAt: time.Unix(1, 0)}
	e.Out.Amount = paid.Sub(paid.MulDiv(x.operatorBps, 10_000))
	e.MinOut = e.Out.Amount
	if r.Onward == nil && !r.Sender.IsAbsent() {
		e.Tx = x.venue
	}
	if o := r.Onward; o != nil && !o.Expected.IsZero() {
		x.failures--
		if x.failures >= 0 || paid.Cmp(o.Expected) < 0 {
			return quote.Estimate{}, quote.ErrNoTransaction
		}
		e.Tx = o.Make(x.venue)
		gas, err := o.Check(ctx, e.Tx)
		if err != nil {
			return quote.Estimate{}, err
		}
		e.Fee = &quote.Fee{GasLimit: gas}
	}
	return e, nil
}

func (x *exchange) Balance(_ context.Context, _ chain.ID, _, holder chain.Address) (chain.Amount, error) {
	if holder == x.poor {
		return chain.NewAmount(1), nil
	}
	return chain.NewAmount(1_000_000_000_000_000_000), nil
}

// fees is a chain whose gas costs 1 gwei and whose transactions pay another 1,000 gwei.
type fees struct{ quote.FeeSource }

func (fees) GasPrice(context.Context, quote.Priority) (quote.GasPrice, error) {
	return quote.GasPrice{Expected: chain.NewAmount(1e9), MaxFee: chain.NewAmount(2e9)}, nil
}

func (fees) DataFee(context.Context, quote.Tx, uint64) (chain.Amount, error) {
	return chain.NewAmount(1e12), nil
}

func (fees) EstimateGas(context.Context, chain.Address, quote.Tx) (uint64, error) { return 21_000, nil }

// runner accepts every transaction as creating the promised order, unless err is set.
type runner struct {
	promised []creation.Promise
	sent     []creation.Transaction
	err      error
	gas      uint64 // in addition to the usual gas
	growth   uint64 // of that with each transaction
}

func (r *runner) Creation(_ context.Context, t creation.Transaction, p creation.Promise) (uint64, error) {
	r.promised, r.sent = append(r.promised, p), append(r.sent, t)
	r.gas += r.growth
	return 200_000 + r.gas, r.err
}

// journey is an estimator with its fakes.
type journey struct {
	*crosschain.Estimator
	exchange *exchange
	runner   *runner
}

func newJourney(change ...func(*crosschain.Options)) journey {
	var chains []chain.Chain
	for _, id := range []chain.ID{here, there} {
		chains = append(chains, chain.Chain{
			ID: id, Native: uint64(id), Family: chain.EVM, Coin: chain.Coin{Symbol: "ETH", Decimals: 18}, BlockTime: 2 * time.Second,
			Reserves: map[string]chain.Address{"usd": usd, "eth": eth}, Contracts: chain.Contracts{DlnSource: source, Router: router},
		})
	}
	registry := chain.NewRegistry(chains...)
	own := map[token.Key]token.Token{}
	for _, c := range chains {
		for address, worth := range worths {
			own[token.Key{Chain: c.ID, Address: address}] = token.Token{Decimals: worth.decimals, Symbol: "T", Name: "T"}
		}
	}
	j := journey{exchange: &exchange{}, runner: &runner{}}
	charges := func(context.Context, chain.ID) (crosschain.Charges, error) {
		return crosschain.Charges{Fixed: chain.NewAmount(1e15), TransferBps: 4, Message: chain.NewAmount(1e15)}, nil
	}
	of := crosschain.Chain{Fees: fees{}, Charges: charges, Runner: j.runner}
	o := crosschain.Options{
		Registry: registry, Swaps: j.exchange, CostPercent: 100,
		Chains: map[chain.ID]crosschain.Chain{here: of, there: of},
		Tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: registry, Own: own,
			Prices: []token.PriceSource{func(_ context.Context, keys []token.Key) (map[token.Key]*big.Rat, error) {
				prices := map[token.Key]*big.Rat{}
				for _, key := range keys {
					prices[key] = big.NewRat(worths[key.Address].usd, 1000)
				}
				return prices, nil
			}},
		}),
	}
	for _, each := range change {
		each(&o)
	}
	j.Estimator = crosschain.New(o)
	return j
}

// on changes how one of the chains is asked.
func on(id chain.ID, change func(*crosschain.Chain)) func(*crosschain.Options) {
	return func(o *crosschain.Options) {
		c := o.Chains[id]
		change(&c)
		o.Chains[id] = c
	}
}

// between changes the facts about both chains.
func between(change func(from, to *chain.Chain)) func(*crosschain.Options) {
	return func(o *crosschain.Options) {
		from, _ := o.Registry.Chain(here)
		to, _ := o.Registry.Chain(there)
		change(&from, &to)
		o.Registry = chain.NewRegistry(from, to)
	}
}

func request(in, out chain.Address, amount uint64) crosschain.Request {
	return crosschain.Request{Give: here, Take: there, TokenIn: in, TokenOut: out, AmountIn: chain.NewAmount(amount)}
}

// TestOrdersAreAppraised covers orders that leave less than a taker's costs, by a cent, or with an account that fails.
func TestOrdersAreAppraised(t *testing.T) {
	costs := must.Get(newJourney().Estimate(t.Context(), request(usd, usd, 1e9)))(t).TakerCosts.USD()
	enough := new(big.Rat).Mul(costs, big.NewRat(1e6, 1))
	units := new(big.Int).Add(new(big.Int).Quo(enough.Num(), enough.Denom()), big.NewInt(1)).Uint64()
	made := func(takes chain.Address, amount uint64) order.Terms {
		return order.Terms{
			Give: order.Offer{Chain: here, Token: usd, Amount: chain.NewAmount(9e6 + units)}, Take: order.Offer{Chain: there, Token: takes, Amount: chain.NewAmount(amount)},
			Receiver: receiver, Authorities: order.Authorities{CancelBeneficiary: receiver},
		}
	}
	elsewhere := made(usd, 11e6)
	elsewhere.Take.Chain = 999
	for name, row := range map[string]struct {
		terms    order.Terms
		refusing chain.ID
		want     []creation.WarningCode
	}{
		"enough":            {made(usd, 9e6), 0, nil},
		"a cent too little": {made(usd, 9e6+1e4), 0, []creation.WarningCode{creation.TakerNotPaid}},
		"a token to buy":    {made(dai, 9e18), 0, []creation.WarningCode{creation.TakerNotPaid}},
		"a tenth too much":  {made(usd, 81e5), 0, nil},
		"next to nothing":   {made(usd, 1), 0, []creation.WarningCode{creation.TakesLittle}},
		"unknown costs":     {elsewhere, 0, nil},
		"unknown decimals":  {made(pepe, 9e18), 0, nil},
		"a receiver":        {made(eth, 3e15), there, []creation.WarningCode{creation.ReceiverRefuses}},
		"a receiver of usd": {made(usd, 9e6), there, nil},
		"a beneficiary":     {made(usd, 9e6), here, []creation.WarningCode{creation.BeneficiaryRefuses}},
	} {
		j := newJourney(wrapping, func(o *crosschain.Options) {
			o.Tokens.DirectoryOptions.Readers = map[chain.ID]token.Reader{there: said{}}
			delete(o.Tokens.DirectoryOptions.Own, token.Key{Chain: there, Address: pepe})
			if _, is := o.Chains[row.refusing]; is {
				on(row.refusing, func(c *crosschain.Chain) { c.Fees = refusing{} })(o)
			}
		})
		var got []creation.WarningCode
		for _, warning := range j.Appraise(t.Context(), row.terms) {
			got = append(got, warning.Code)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: warnings %v, want %v", name, got, row.want)
		}
	}
}

// TestExpensesAreThoseOfATaker recomputes the steps by hand: gas at 1 gwei plus a quarter, and a tenth of unlock, claim
// and message, at 3,000 USD per coin.
func TestExpensesAreThoseOfATaker(t *testing.T) {
	e := must.Get(newJourney().Estimate(t.Context(), request(usd, usd, 1e9)))(t)
	const gwei, beside = 1e9, 1e12
	want := map[string]uint64{
		"fulfil":  (140_000*gwei + beside) * 5 / 4,
		"unlock":  (320_000*gwei + beside) * 5 / 4 / 10,
		"claim":   (900_000*gwei + beside) * 5 / 4 / 10,
		"message": 1e14,
	}
	sum := uint64(0)
	for _, step := range e.TakerCosts {
		if got, _ := step.Coin.Uint64(); got != want[step.Name] {
			t.Errorf("%s costs %d, want %d", step.Name, got, want[step.Name])
		}
		sum += want[step.Name]
	}
	if wanted := chain.NewAmount(sum * 3000 / 1e12); e.Expenses != wanted || len(e.TakerCosts) != 4 {
		t.Errorf("expenses are %s of %d steps, want %s of 4", e.Expenses, len(e.TakerCosts), wanted)
	}
	swaps := must.Get(newJourney().Estimate(t.Context(), request(usd, pepe, 1e9)))(t)
	if more := swaps.Expenses.Sub(e.Expenses); more != chain.NewAmount(250_000*gwei*5/4*3000/1e12) {
		t.Errorf("a swap costs %s more", more)
	}
	called, j := request(usd, usd, 1e9), newJourney()
	called.ExternalCall, called.CallGas = []byte{1}, 300_000
	must.Get(j.Estimate(t.Context(), called))(t)
	if after := must.Get(j.Estimate(t.Context(), request(usd, usd, 1e9)))(t); after.Expenses != e.Expenses {
		t.Errorf("after an order with a call expenses are %s, want %s", after.Expenses, e.Expenses)
	}
	before := must.Get(newJourney().Estimate(t.Context(), request(dai, usd, 5e18)))(t)
	if before.OperatingExpense != before.Expenses.MulDiv(1e12, 1) {
		t.Errorf("expenses of %s are %s of the input", before.Expenses, before.OperatingExpense)
	}
	double := must.Get(newJourney(func(o *crosschain.Options) { o.CostPercent = 200 }).Estimate(t.Context(), request(usd, usd, 1e9)))(t)
	if double.Expenses != e.Expenses.MulDiv(2, 1) {
		t.Errorf("at 200 %% expenses are %s, want twice %s", double.Expenses, e.Expenses)
	}
}

// publishing notes the bytes that transactions publish.
type publishing struct {
	fees
	note func(bytes int)
}

func (p publishing) DataFee(ctx context.Context, tx quote.Tx, gas uint64) (chain.Amount, error) {
	p.note(len(tx.Data))
	return p.fees.DataFee(ctx, tx, gas)
}

// TestTakersPublishTheirTransactions: a fulfilment and an unlock on a rollup; on Solana a claim costs a signature.
func TestTakersPublishTheirTransactions(t *testing.T) {
	var noting sync.Mutex
	published := map[chain.ID][]int{}
	j := newJourney(onSolana, func(o *crosschain.Options) {
		for id, c := range o.Chains {
			c.Fees = publishing{note: func(bytes int) {
				noting.Lock()
				published[id] = append(published[id], bytes)
				noting.Unlock()
			}}
			o.Chains[id] = c
		}
	})
	r := request(usd, usd, 1e9)
	r.GiveReserve = usd
	must.Get(j.Estimate(t.Context(), r))(t)
	slices.Sort(published[there])
	if !slices.Equal(published[here], []int{0}) || !slices.Equal(published[there], []int{562, 3125}) {
		t.Errorf("bytes %v, want 562 and 3125 on the rollup", published)
	}
}

// TestRouteIsThatWhichLeavesMost covers routes through both reserves, through the one that is the input, and through
// the other one if that has no market.
func TestRouteIsThatWhichLeavesMost(t *testing.T) {
	for _, test := range []struct {
		name    string
		request crosschain.Request
		missing chain.Address
		want    chain.Address
		rounds  int // comparisons: of each swap, and of a tenth of it
		passed  int
	}{
		{"an input that is one", request(usd, pepe, 1e9), chain.Address{}, usd, 2, 0},
		{"an output that is one", request(pepe, eth, 1e18), chain.Address{}, eth, 2, 0},
		{"neither", request(dai, pepe, 18e18), chain.Address{}, usd, 8, 1},
		{"no swap", request(usd, usd, 1e9), chain.Address{}, usd, 0, 0},
		{"either has one swap", request(usd, eth, 1e9), chain.Address{}, usd, 4, 1},
	} {
		j := newJourney()
		j.exchange.missing = test.missing
		e, err := j.Estimate(t.Context(), test.request)
		if err != nil || e.Route.Give.Address != test.want && test.name != "either has one swap" && test.name != "neither" {
			t.Errorf("%s: by %s, %v, want %s", test.name, e.Route.Give.Address, err, test.want)
		}
		if len(j.exchange.asked) != test.rounds || len(e.Passed) != test.passed {
			t.Errorf("%s: %d comparisons and %d other routes, want %d and %d", test.name, len(j.exchange.asked), len(e.Passed), test.rounds, test.passed)
		}
		for _, other := range e.Passed {
			if other.Err == nil && other.Recommended.Cmp(e.Recommended) > 0 {
				t.Errorf("%s: another route leaves %s, more than %s", test.name, other.Recommended, e.Recommended)
			}
		}
	}
	j := newJourney()
	j.exchange.missing = usd
	if e, err := j.Estimate(t.Context(), request(dai, pepe, 18e18)); err != nil || e.Route.Give.Address != eth || len(e.Passed) != 1 {
		t.Errorf("without a market of one reserve: by %s, %v", e.Route.Give.Address, err)
	}
	j = newJourney()
	j.exchange.missing = pepe
	if _, err := j.Estimate(t.Context(), request(usd, pepe, 1e9)); !errors.Is(err, crosschain.ErrImpossibleRoute) {
		t.Errorf("a token without a market: %v, want ErrImpossibleRoute", err)
	}
}

// TestSlippageFollowsTheDropOfThePrice requests increasing amounts in one market.
func TestSlippageFollowsTheDropOfThePrice(t *testing.T) {
	for amount, want := range map[uint64]int{1e8: 30, 30e9: 30, 200e9: 100, 400e9: 150, 1000e9: 200, 4000e9: 300} {
		j := newJourney()
		j.exchange.impact = 2
		e := must.Get(j.Estimate(t.Context(), request(usd, pepe, amount)))(t)
		if e.Post.SlippageBps != want {
			t.Errorf("%d units drop the price by %d and slip by %d, want %d", amount, e.Post.DropBps, e.Post.SlippageBps, want)
		}
		if e.At != e.Post.Estimates.QuotedAt {
			t.Errorf("prices of %s count as those of %s", e.Post.Estimates.QuotedAt, e.At)
		}
		if got := e.SlippagePercent(); got != float64(want)/100 {
			t.Errorf("slippage in all is %v %%, want that of %d basis points", got, want)
		}
	}
}

// TestNearAmountsShareTheirTenth counts the amounts that venues are asked to quote.
func TestNearAmountsShareTheirTenth(t *testing.T) {
	j, asked := newJourney(), map[chain.Amount]bool{}
	for _, amount := range []uint64{1_200_000_000, 1_200_000_001, 1_250_000_000, 6_700_000_000} {
		must.Get(j.Estimate(t.Context(), request(usd, pepe, amount)))(t)
	}
	for _, r := range j.exchange.asked {
		asked[r.AmountIn] = true
	}
	if len(asked) != 6 {
		t.Errorf("%d amounts were compared, want 4 and two tenths: %v", len(asked), asked)
	}
}

// TestPrependedExpensesLeaveTheRecipientWhole compares with an order that has no expenses. They are converted to a token
// without a price at the rate of its swap.
func TestPrependedExpensesLeaveTheRecipientWhole(t *testing.T) {
	for _, row := range []struct {
		in     chain.Address
		amount uint64
		change func(*crosschain.Options)
	}{{usd, 5e6, withoutPrice(here, pepe)}, {dai, 5e18, withoutPrice(here, pepe)}, {dai, 5e18, withoutPrice(here, dai)}} {
		plain := request(row.in, usd, row.amount)
		prepended := plain
		prepended.Prepend = true
		e := must.Get(newJourney(row.change).Estimate(t.Context(), prepended))(t)
		free := must.Get(newJourney(row.change, func(o *crosschain.Options) { o.CostPercent = 0 }).Estimate(t.Context(), plain))(t)
		less := free.Amount.Sub(e.Amount)
		// The slippage of a swap also applies to the prepended part.
		if slack := chain.NewAmount(1000).Add(e.Prepended.MulDiv(30, 10_000).MulDiv(1, 1e12)); e.Prepended.IsZero() || less.Cmp(slack) > 0 || e.Course.In != prepended.AmountIn.Add(e.Prepended) {
			t.Errorf("%s with %s prepended, %s in: %s instead of %s", row.in, e.Prepended, e.Course.In, e.Amount, free.Amount)
		}
	}
}

// withoutPrice leaves out the price of a token.
func withoutPrice(on chain.ID, address chain.Address) func(*crosschain.Options) {
	return func(o *crosschain.Options) {
		all := o.Tokens.DirectoryOptions.Prices[0]
		o.Tokens.DirectoryOptions.Prices = []token.PriceSource{func(ctx context.Context, keys []token.Key) (map[token.Key]*big.Rat, error) {
			prices, err := all(ctx, keys)
			delete(prices, token.Key{Chain: on, Address: address})
			return prices, err
		}}
	}
}

// TestExactOutputTakesTheLeastInput: without swaps by computing it, with swaps by a search, even in a falling market.
func TestExactOutputTakesTheLeastInput(t *testing.T) {
	for n, pair := range [][2]chain.Address{{usd, usd}, {usd, pepe}, {dai, usd}, {dai, pepe}, {usd, pepe}, {dai, usd}, {dai, pepe}} {
		wanted := chain.NewAmount(1e18)
		if pair[1] == usd {
			wanted = chain.NewAmount(77e6)
		}
		r := request(pair[0], pair[1], 0)
		r.AmountOut = wanted
		j := newJourney()
		if j.exchange.impact = 2; n > 3 {
			j.exchange.falls = 20
		}
		e, err := j.Estimate(t.Context(), r)
		if err != nil || e.Amount != wanted || e.Recommended.Cmp(wanted) < 0 || e.Recommended.Cmp(wanted.MulDiv(1002, 1000)) > 0 {
			t.Errorf("%v: %s of %s, %v, want %s", pair, e.Amount, e.Recommended, err, wanted)
		}
	}
}

// TestNoInputGivesFarMoreThanTheFixedOutput, since the taker keeps the excess: it covers outputs that are small
// compared with a taker's costs, part of which the swap before the order also takes.
func TestNoInputGivesFarMoreThanTheFixedOutput(t *testing.T) {
	for _, wanted := range []uint64{1, 100, 1000, 3000, 5000, 20_000, 200_000} {
		r := request(dai, usd, 0)
		r.AmountOut = chain.NewAmount(wanted)
		j := newJourney(func(o *crosschain.Options) { o.CostPercent = 400 })
		j.exchange.impact = 2000
		e, err := j.Estimate(t.Context(), r)
		if most := chain.NewAmount(wanted + wanted/100 + 2); e.Recommended.Cmp(most) > 0 || err != nil && !errors.Is(err, crosschain.ErrLowAmount) {
			t.Errorf("for %d: %s gives %s, %v", wanted, e.In, e.Recommended, err)
		}
	}
}

// TestFixedAmountsAreTaken keeps both amounts of the client; the margin shows what they leave the taker.
func TestFixedAmountsAreTaken(t *testing.T) {
	r := request(usd, usd, 1e9)
	r.AmountOut = chain.NewAmount(2e9)
	e := must.Get(newJourney().Estimate(t.Context(), r))(t)
	left, bps := e.TakerMargin()
	if e.Amount != r.AmountOut || e.Recommended.Cmp(r.AmountIn) > 0 || left.Sign() >= 0 || bps > -9_000 {
		t.Errorf("takes %s of the recommended %s, leaves %s, %v bps", e.Amount, e.Recommended, left, bps)
	}
	market := must.Get(newJourney().Estimate(t.Context(), request(usd, usd, 1e9)))(t)
	if left, bps := market.TakerMargin(); left.Cmp(market.Margin.Big()) != 0 || bps != 4 {
		t.Errorf("a market order leaves %s, %v bps, want %s, 4", left, bps, market.Margin)
	}
	taken, _ := chain.NewAmount(1e9).Sub(market.Amount).Uint64()
	if impact, known := market.PriceImpact(); !known || math.Abs(impact+float64(taken)/1e7) > 1e-9 {
		t.Errorf("a price impact of %v, %t, want %v", impact, known, -float64(taken)/1e7)
	}
	if _, known := market.MarginClass(); !known {
		t.Error("the margin has no class")
	}
	delete(market.Prices, market.Route.Take)
	if _, known := market.MarginClass(); known {
		t.Error("the margin has a class without a price")
	}
	market.Prices = nil
	if impact, known := market.PriceImpact(); known {
		t.Errorf("a price impact of %v without prices", impact)
	}
	for block, want := range map[time.Duration]uint64{400 * time.Millisecond: 1, 12 * time.Second: 12} {
		market.TakeChain.BlockTime = block
		if got := market.Delay(); got != want {
			t.Errorf("a delay of %d s by blocks of %s, want %d", got, block, want)
		}
	}
}

// said is a token reader of a chain whose contracts all say the same; nothing if there are none.
type said token.Reading

func (s said) ReadTokens(_ context.Context, addresses []chain.Address) ([]token.Reading, error) {
	return slices.Repeat([]token.Reading{token.Reading(s)}, len(addresses)), nil
}

// TestNothingIsEstimatedWithoutItsInputs expects an error for each missing input, and for an amount that cannot pay a
// taker; venues are asked only in the last case, whose token has no market, and nothing is simulated.
func TestNothingIsEstimatedWithoutItsInputs(t *testing.T) {
	down := errors.New("down")
	// Both chains have another reserve token, which has no price on one of them.
	unpriced := func(o *crosschain.Options) {
		both := map[string]chain.Address{"dai": dai, "usd": usd}
		between(func(from, to *chain.Chain) { from.Reserves, to.Reserves = both, both })(o)
		withoutPrice(there, dai)(o)
	}
	silent := func(o *crosschain.Options) {
		o.Tokens.DirectoryOptions.Readers = map[chain.ID]token.Reader{here: said{}, there: said{}}
	}
	unread := func(o *crosschain.Options) { // one chain's contract of that token does not answer
		unpriced(o)
		o.Tokens.DirectoryOptions.Readers = map[chain.ID]token.Reader{here: said{}}
		delete(o.Tokens.DirectoryOptions.Own, token.Key{Chain: here, Address: dai})
		o.Tokens.DirectoryOptions.Prices = newJourney().Tokens.DirectoryOptions.Prices
	}
	lied := func(o *crosschain.Options) { // by the only endpoint that was heard
		o.Tokens.DirectoryOptions.Readers = map[chain.ID]token.Reader{there: said{Decimals: new(uint8(0)), IsSingle: true}}
		delete(o.Tokens.DirectoryOptions.Own, token.Key{Chain: there, Address: usd})
	}
	byUSD := request(usd, usd, 1e9)
	byUSD.GiveReserve = usd
	byDai := crosschain.Request{Give: here, Take: there, TokenIn: usd, TokenOut: dai, AmountIn: chain.NewAmount(1e9), GiveReserve: dai}
	for _, test := range []struct {
		name    string
		request crosschain.Request
		change  func(*crosschain.Options)
		want    error
	}{
		{"a reserve without decimals", byDai, unread, crosschain.ErrUnknownCosts},
		{"a reserve whose decimals one endpoint invents", byUSD, lied, crosschain.ErrUnknownCosts},
		{"an amount below the expenses", request(usd, usd, 1000), nil, crosschain.ErrLowAmount},
		{"an amount below them to be swapped", request(pepe, usd, 1), nil, crosschain.ErrLowAmount},
		{"one of which a route has no price", request(dai, usd, 1), unpriced, crosschain.ErrLowAmount},
		{"the same with a swap more", request(dai, pepe, 1), unpriced, crosschain.ErrLowAmount},
		{"a little of a token that no router takes", request(dai, usd, 1), between(func(from, _ *chain.Chain) {
			from.Contracts.Router = chain.Address{}
		}), quote.ErrNoRouter},
		{"a token without a contract", request(named(5), usd, 1e9), silent, quote.ErrUnsupportedTokenIn},
		{"an output without one", request(usd, named(5), 1e9), silent, quote.ErrUnsupportedTokenOut},
		{"one chain", crosschain.Request{Give: here, Take: here, TokenIn: usd, TokenOut: usd, AmountIn: chain.NewAmount(1)}, nil, crosschain.ErrSameChain},
		{"a reserve that is none", crosschain.Request{Give: here, Take: there, TokenIn: usd, TokenOut: usd, AmountIn: chain.NewAmount(1e9), GiveReserve: pepe}, nil, crosschain.ErrIntermediary},
		{"no prices", request(usd, usd, 1e9), func(o *crosschain.Options) {
			o.Tokens.DirectoryOptions.Prices = []token.PriceSource{func(context.Context, []token.Key) (map[token.Key]*big.Rat, error) { return nil, down }}
		}, crosschain.ErrUnknownCosts},
		{"no charges", request(usd, usd, 1e9), on(here, func(c *crosschain.Chain) {
			c.Charges = func(context.Context, chain.ID) (crosschain.Charges, error) { return crosschain.Charges{}, down }
		}), crosschain.ErrUnknownCosts},
		{"no fees", request(usd, usd, 1e9), on(there, func(c *crosschain.Chain) { c.Fees = nil }), crosschain.ErrUnknownCosts},
		{"no market, and a route without a price", request(pepe, usd, 1e18), unpriced, crosschain.ErrImpossibleRoute},
	} {
		j := newJourney()
		if test.change != nil {
			j = newJourney(test.change)
		}
		isAsked := test.want == crosschain.ErrImpossibleRoute
		j.exchange.missing = pepe
		test.request.Making = &crosschain.Making{Sender: payer, Recipient: receiver, Authorities: order.Authorities{GivePatch: payer, Order: receiver}}
		if _, err := j.Estimate(t.Context(), test.request); !errors.Is(err, test.want) || isAsked != (len(j.exchange.asked) > 0) || len(j.runner.sent) > 0 {
			t.Errorf("%s: %v after %d comparisons and %d simulations, want %v", test.name, err, len(j.exchange.asked), len(j.runner.sent), test.want)
		}
	}
	lone := newJourney(lied, on(there, func(c *crosschain.Chain) { c.IsAlone = true }))
	if _, err := lone.Estimate(t.Context(), byUSD); err != nil {
		t.Errorf("decimals of a chain's only endpoint: %v", err)
	}
}

// TestTransactionIsThePromisedOrder parses the transaction that is handed out, direct and behind a swap.
func TestTransactionIsThePromisedOrder(t *testing.T) {
	for _, in := range []chain.Address{usd, eth, dai} {
		r := request(in, pepe, 5e18)
		if in == usd {
			r.AmountIn = chain.NewAmount(1e9)
		}
		r.Affiliate, r.IncentiveBps = quote.NewAffiliate(10, named(0xaf)), 85
		r.Making = &crosschain.Making{
			Sender: payer, Recipient: receiver, ReferralCode: 31805, Permit: bytes.Repeat([]byte{1}, 129),
			Authorities: order.Authorities{GivePatch: payer, Order: receiver},
		}
		j := newJourney()
		j.exchange.venue = quote.Tx{To: named(0x66), Data: []byte{1, 2, 3, 4}}
		e := must.Get(j.Estimate(t.Context(), r))(t)
		data, value := e.Made.Data, e.Charges.Fixed
		if in == dai {
			swap := must.Get(creation.ParseSwap(data))(t)
			if swap.ExpectedOut != e.Gross || swap.AmountIn != r.AmountIn || swap.RefundRecipient != payer || swap.Target != source ||
				!slices.Equal(swap.Permit, r.Making.Permit) || e.Made.To != router {
				t.Errorf("the router's call is %+v", swap)
			}
			data = swap.TargetData
		}
		lacks := map[chain.Address][]crosschain.Short{ // of 1e18
			eth: {{Token: eth, Missing: chain.NewAmount(4e18 + 1e15)}}, dai: {{Token: dai, Missing: chain.NewAmount(4e18)}},
		}[in]
		if !slices.Equal(e.Made.Short, lacks) {
			t.Errorf("%s: too little of %v, want %v", in, e.Made.Short, lacks)
		}
		if f := e.Made.Fee; in != dai && (f == nil || f.GasLimit != 240_000 || f.Total != chain.NewAmount(240_000*1e9+1e12)) {
			t.Errorf("%s: a fee of %+v", in, f)
		}
		if in == eth {
			value = value.Add(r.AmountIn)
		}
		c := must.Get(creation.Parse(data))(t)
		split := must.Get(creation.SplitOf(c.GiveAmount, c.Affiliate(), 4))(t)
		terms := c.Terms(here, payer, *c.Salt, split.Net)
		if onchain.ID(terms) != e.Made.ID || split.Net != e.Net || c.Take.Amount != e.Amount || e.Made.Value != value {
			t.Errorf("%s: the order is %+v of %+v with value %s", in, terms, split, e.Made.Value)
		}
		m, known := onchain.ParseMetadata(c.Metadata)
		want := onchain.Metadata{
			Version: 1, CreationProcessType: "SrcAmountSet", Origin: "Default", AdditionalTakerIncentiveBps: 85,
			OperatingExpenses: e.OperatingExpense, RecommendedTake: e.Recommended, PromotionType: "None", OrderTradeType: "Market",
		}
		if difference := cmp.Diff(want, m, cmp.Comparer(func(a, b chain.Amount) bool { return a == b })); !known || difference != "" {
			t.Error(difference)
		}
		if affiliate := c.Affiliate(); affiliate == nil || affiliate.Amount != e.AffiliateFee || affiliate.Amount.IsZero() {
			t.Errorf("the affiliate gets %+v, want %s", affiliate, e.AffiliateFee)
		}
		if len(j.runner.promised) != 1 || j.runner.promised[0].ID != e.Made.ID || j.runner.sent[0].Sender != payer {
			t.Errorf("%s: %d simulations, want one of the promise", in, len(j.runner.promised))
		}
	}
}

// TestOfAContractWalletTheIDIsNotKnown since its maker is the account that signs.
func TestOfAContractWalletTheIDIsNotKnown(t *testing.T) {
	for code, want := range map[string]int{"": 0, "\x60\x01": 1, "\xef\x01\x00" + string(payer.Bytes()): 0, "unread": 0} {
		j := newJourney(on(here, func(c *crosschain.Chain) {
			c.Code = func(_ context.Context, at chain.Address) ([]byte, error) {
				if code == "unread" || at != payer {
					return nil, quote.ErrNotSimulated
				}
				return []byte(code), nil
			}
		}))
		r := request(usd, usd, 1e9)
		r.Making = &crosschain.Making{Sender: payer, Recipient: receiver, Authorities: order.Authorities{GivePatch: payer, Order: receiver}}
		warnings := must.Get(j.Estimate(t.Context(), r))(t).Made.Warnings
		if len(warnings) != want || want > 0 && warnings[0].Code != creation.MakerNotSender {
			t.Errorf("code %x: warnings %v, want %d", code, warnings, want)
		}
	}
}

// TestCallsOfAWalletBeginWithItsApprovals unless the input is the coin, or permitted by a signature.
func TestCallsOfAWalletBeginWithItsApprovals(t *testing.T) {
	asked := quote.Tx{To: named(0xa9)}
	for name, row := range map[string]struct {
		in       chain.Address
		making   crosschain.Making
		approved []quote.Tx
		calls    int
	}{
		"one":         {usd, crosschain.Making{Bundle: true}, []quote.Tx{asked}, 2},
		"two":         {dai, crosschain.Making{Bundle: true}, []quote.Tx{asked, asked}, 3},
		"none needed": {usd, crosschain.Making{Bundle: true}, nil, 1},
		"the coin":    {eth, crosschain.Making{Bundle: true}, []quote.Tx{asked}, 1},
		"a permit":    {usd, crosschain.Making{Bundle: true, Permit: make([]byte, 129)}, []quote.Tx{asked}, 1},
		"not wanted":  {usd, crosschain.Making{}, []quote.Tx{asked}, 0},
	} {
		spender, r := source, request(row.in, usd, 5e18)
		j := newJourney(on(here, func(c *crosschain.Chain) {
			c.Approvals = func(_ context.Context, sender, token, to chain.Address, amount chain.Amount) ([]quote.Tx, error) {
				if sender != payer || token != row.in || to != spender || amount != r.AmountIn {
					t.Errorf("%s: %s of %s by %s for %s", name, amount, token, sender, to)
				}
				return slices.Clone(row.approved), nil
			}
		}))
		if row.in == dai {
			spender = router
		}
		row.making.Sender, row.making.Recipient, row.making.Authorities = payer, receiver, order.Authorities{GivePatch: payer, Order: receiver}
		r.Making = &row.making
		made := must.Get(j.Estimate(t.Context(), r))(t).Made
		if n := len(made.Calls); n != row.calls || n > 0 && !bytes.Equal(made.Calls[n-1].Data, made.Data) {
			t.Errorf("%s: %d calls, want %d that end with the creation", name, n, row.calls)
		}
	}
}

// onSolana makes the give chain a Solana chain; wrapping gives both chains a wrapped coin.
var (
	onSolana = between(func(from, _ *chain.Chain) { from.Family, from.Coin = chain.SVM, chain.Coin{Symbol: "SOL", Decimals: 9} })
	wrapping = between(func(from, to *chain.Chain) { from.WrappedCoin, to.WrappedCoin = named(0xee), named(0xee) })
)

// TestTheOperatorsShareOnSolanaIsNotOrdered: the swap before the order is direct, and pays the operator first.
func TestTheOperatorsShareOnSolanaIsNotOrdered(t *testing.T) {
	j := newJourney(onSolana)
	j.exchange.operatorBps = 100
	e := must.Get(j.Estimate(t.Context(), request(dai, usd, 5e18)))(t)
	if want := chain.NewAmount(4_950_000); e.Before.Out != want {
		t.Errorf("the order is made of %s, want the %s that the sender gets", e.Before.Out, want)
	}
}

// writer writes a transaction of Solana without the order, but requires a swap before.
type writer struct{}

func (writer) Create(_ context.Context, _ creation.OnSolana, _ order.ID, before []byte, _ quote.Priority) ([]byte, error) {
	if len(before) == 0 {
		return nil, quote.ErrNoTransaction
	}
	return solana.Draft{FeePayer: chain.NewAddress(make([]byte, 32)), Instructions: solana.Budget{Units: 200_000, Price: 1}.Instructions()}.Compile()
}

// TestTheSwapOnSolanaPaysForTheOrder even if prices fall between the comparison and the transaction.
func TestTheSwapOnSolanaPaysForTheOrder(t *testing.T) {
	j := newJourney(onSolana, on(here, func(c *crosschain.Chain) { c.Writer = writer{} }))
	j.exchange.falls, j.exchange.venue = 100, quote.Tx{Data: []byte{1}}
	r := request(dai, usd, 5e18)
	r.Making = &crosschain.Making{Sender: payer, Recipient: receiver, Authorities: order.Authorities{GivePatch: payer, Order: receiver}}
	e, err := j.Estimate(t.Context(), r)
	if err != nil || e.Made.Venue.MinOut.Cmp(e.Gross) < 0 || e.Made.Venue.MinOut.Cmp(e.Before.Out) >= 0 {
		t.Fatalf("made %+v, %v, want a swap that pays at least %s", e.Made, err, e.Gross)
	}
	if slips := j.exchange.asked[len(j.exchange.asked)-1].SlippagePercent; slips.String() != "0.22" { // of 0.3
		t.Errorf("it may slip by %s %%", slips)
	}
	if f := e.Made.Fee; f == nil || f.GasLimit != 240_000 || f.Total != chain.NewAmount(1e12+1) { // at a micro-lamport
		t.Errorf("a fee of %+v", f)
	}
}

// TestTheWholeBalanceIsEstimated without a transaction, as the order's parties are unknown; of the coin, less the fixed
// fee and the most that the transaction may cost.
func TestTheWholeBalanceIsEstimated(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*crosschain.Options)
		in     chain.Address
		kept   uint64
	}{
		"a token":       {func(*crosschain.Options) {}, usd, 0},
		"the coin":      {func(*crosschain.Options) {}, eth, 1e15 + 800_000*2e9 + 1e12}, // including the data fee
		"coin, Solana":  {onSolana, chain.NativeCoin(chain.SVM), 1e15 + 12_000_000 + 1e12},
		"token, Solana": {onSolana, usd, 0},
	} {
		j := newJourney(row.change)
		r := request(row.in, usd, 0)
		r.MaxBalance, r.Making = true, &crosschain.Making{Sender: payer}
		e, err := j.Estimate(t.Context(), r)
		if want := chain.NewAmount(1e18 - row.kept); err != nil || e.Made != nil || e.In != want {
			t.Errorf("%s: %s, made %+v, %v, want an estimation of %s", name, e.In, e.Made, err, want)
		}
	}
}

// TestTheWholeBalancePaysForItsTransaction, or none is built: some chains count gas in large units.
func TestTheWholeBalancePaysForItsTransaction(t *testing.T) {
	for name, row := range map[string]struct {
		gas, growth uint64
		want        error
	}{
		"usual units":               {0, 0, nil},
		"large units":               {20e6, 0, nil},
		"a gas that does not stand": {20e6, 10e6, quote.ErrRefused},
		"a gas above the balance":   {1e9, 0, quote.ErrLowBalance},
	} {
		j := newJourney()
		j.runner.gas, j.runner.growth = row.gas, row.growth
		r := request(eth, usd, 0)
		r.MaxBalance = true
		r.Making = &crosschain.Making{Sender: payer, Recipient: receiver, Authorities: order.Authorities{GivePatch: payer, Order: receiver}}
		e, err := j.Estimate(t.Context(), r)
		if !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
		if err != nil {
			continue
		}
		if most := e.Made.Value.Add(chain.NewAmount(e.Made.Fee.GasLimit*2e9 + 1e12)); most.Cmp(chain.NewAmount(1e18)) > 0 || most.Cmp(chain.NewAmount(98e16)) < 0 {
			t.Errorf("%s: it may cost %s in all, want nearly all of the balance", name, most)
		}
	}
}

// fullWriter writes what does not fit into a transaction.
type fullWriter struct{}

func (fullWriter) Create(context.Context, creation.OnSolana, order.ID, []byte, quote.Priority) ([]byte, error) {
	return nil, solana.ErrTooLong
}

// TestNoOtherOrderIsHandedOut lets the simulation fail in each way, and requests fresh prices if shared ones expired.
func TestNoOtherOrderIsHandedOut(t *testing.T) {
	r := request(usd, usd, 1e9)
	r.Making = &crosschain.Making{Sender: payer, Recipient: receiver, Authorities: order.Authorities{GivePatch: payer, Order: receiver}}
	for said, want := range map[error]error{
		creation.ErrBroken: quote.ErrRefused, quote.ErrNotSimulated: quote.ErrUnsimulated, quote.ErrReverted: quote.ErrReverted,
	} {
		j := newJourney()
		j.runner.err = said
		if e, err := j.Estimate(t.Context(), r); !errors.Is(err, want) {
			t.Errorf("after %v: %+v, %v, want %v", said, e.Made, err, want)
		}
	}
	for want, asked := range map[error]crosschain.Request{quote.ErrNoRouter: request(dai, usd, 5e18), crosschain.ErrLongCall: request(usd, usd, 1e9)} {
		asked.Making = r.Making
		if want == crosschain.ErrLongCall {
			asked.ExternalCall = creation.Call{Fallback: receiver, Executor: named(0x77)}.Envelope()
		}
		full := newJourney(onSolana, on(here, func(c *crosschain.Chain) { c.Writer = fullWriter{} }))
		if _, err := full.Estimate(t.Context(), asked); !errors.Is(err, want) {
			t.Errorf("too long for a transaction: %v, want %v", err, want)
		}
	}
	j := newJourney()
	j.exchange.failures = 1
	r.TokenIn, r.AmountIn = dai, chain.NewAmount(5e18)
	if e, err := j.Estimate(t.Context(), r); err != nil || e.Made == nil {
		t.Errorf("asked anew: %v", err)
	}
	if last := j.exchange.asked[len(j.exchange.asked)-1]; last.Since.IsZero() {
		t.Error("the second time shared prices were taken")
	}
	r.TokenIn, r.AmountIn = usd, chain.NewAmount(1e9)
	r.Affiliate = quote.NewAffiliate(10, named(0xaf))
	unclaimed := newJourney(on(here, func(c *crosschain.Chain) {
		c.Forecast = func(context.Context, creation.Transaction) ([]creation.Forecast, error) {
			return []creation.Forecast{{Warnings: []creation.Warning{{Code: creation.NotClaimable}}}}, nil
		}
	}))
	if _, err := unclaimed.Estimate(t.Context(), r); !errors.Is(err, crosschain.ErrNotClaimable) {
		t.Errorf("a token that cannot be claimed: %v, want ErrNotClaimable", err)
	}
	for _, each := range []struct {
		in    chain.Address
		share quote.Affiliate
	}{{usd, quote.Affiliate{}}, {eth, r.Affiliate}} {
		claimed := r
		claimed.TokenIn, claimed.TokenOut, claimed.AmountIn, claimed.Affiliate = each.in, each.in, chain.NewAmount(1e18), each.share
		if _, err := unclaimed.Estimate(t.Context(), claimed); err != nil {
			t.Errorf("without an affiliate, or of the coin: %v", err)
		}
	}
	large := r
	large.Affiliate, large.AmountIn = quote.Affiliate{}, chain.MaxAmount
	if _, err := newJourney().Estimate(t.Context(), large); !errors.Is(err, crosschain.ErrTooLarge) {
		t.Errorf("an amount of more bits than the metadata has: %v, want ErrTooLarge", err)
	}
	r.CallTarget = named(5)
	for _, each := range []struct {
		code      []byte
		err, want error
	}{{[]byte{1}, nil, nil}, {nil, nil, crosschain.ErrCallsNothing}, {[]byte{1}, quote.ErrReverted, quote.ErrReverted}} {
		called := newJourney(on(there, func(c *crosschain.Chain) {
			c.Code = func(context.Context, chain.Address) ([]byte, error) { return each.code, each.err }
		}))
		if _, err := called.Estimate(t.Context(), r); !errors.Is(err, each.want) {
			t.Errorf("a call of code %x, %v: %v, want %v", each.code, each.err, err, each.want)
		}
	}
	unrun := newJourney(on(here, func(c *crosschain.Chain) { c.Runner = nil }))
	if _, err := unrun.Estimate(t.Context(), r); !errors.Is(err, crosschain.ErrNoCreation) {
		t.Errorf("without a simulation: %v, want ErrNoCreation", err)
	}
}

// refusing is a chain with a contract that does not accept the coin.
type refusing struct{ fees }

func (refusing) EstimateGas(_ context.Context, from chain.Address, tx quote.Tx) (uint64, error) {
	if from != named(0xee) || tx.To != receiver && !tx.To.IsAbsent() || tx.Value != chain.NewAmount(1) {
		return 21_000, nil
	}
	return 0, quote.ErrReverted
}

// TestNoOrderIsMadeThatCannotBeDelivered or refunded, since the fulfilment or the claim would fail after the order was
// created and paid.
func TestNoOrderIsMadeThatCannotBeDelivered(t *testing.T) {
	coin := chain.NativeCoin(chain.SVM)
	reward := creation.Call{Fallback: receiver, Executor: named(0x77), Reward: chain.NewAmount(1001)}
	for name, row := range map[string]struct {
		out    chain.Address
		takes  uint64
		family chain.Family
		call   []byte
		poor   chain.Address
		want   error
	}{
		"a new wallet's rent":               {coin, 890_878, chain.SVM, nil, receiver, crosschain.ErrBelowRent},
		"rent with the lamport that it has": {coin, 890_879, chain.SVM, nil, receiver, nil},
		"little to one that is open":        {coin, 5, chain.SVM, nil, payer, nil},
		"little of a token":                 {usd, 5, chain.SVM, nil, receiver, nil},
		"a call without an executor":        {usd, 5, chain.SVM, []byte{1}, payer, crosschain.ErrCallNeverRun},
		"a reward above the amount":         {usd, 1000, chain.EVM, reward.Envelope(), payer, crosschain.ErrCallNeverRun},
		"a reward of all":                   {usd, 1001, chain.EVM, reward.Envelope(), payer, nil},
		"a contract that refuses ether":     {eth, 1000, chain.EVM, nil, payer, crosschain.ErrRefusesCoin},
		"a contract that refuses TRX":       {eth, 1000, chain.TVM, nil, payer, crosschain.ErrRefusesCoin},
		"a token that arrives in part":      {dai, 1000, chain.EVM, nil, payer, crosschain.ErrNotDelivered},
		"a part of it at the executor":      {pepe, 1001, chain.EVM, reward.Envelope(), payer, crosschain.ErrNotDelivered},
		"a refund to one that refuses":      {usd, 1000, chain.EVM, nil, payer, crosschain.ErrNotRefundable},
	} {
		j := newJourney(wrapping, between(func(_, to *chain.Chain) {
			if to.Family = row.family; row.family == chain.EVM {
				to.Contracts.ExternalCallAdapter = named(0xad)
			}
		}), func(o *crosschain.Options) {
			at := o.Chains[there]
			if at.Fees = fees(fees{}); row.want == crosschain.ErrRefusesCoin {
				at.Fees = refusing{}
			}
			at.Delivers = func(_ context.Context, token, to chain.Address, amount chain.Amount) error {
				if (token == dai && to == receiver || token == pepe && to == named(0xad)) && amount == chain.NewAmount(row.takes) {
					return quote.ErrRefused
				}
				return nil
			}
			o.Chains[there] = at
			if row.want == crosschain.ErrNotRefundable {
				at.Fees = refusing{}
				o.Chains[here] = at
			}
		})
		j.exchange.poor = row.poor
		r := request(usd, row.out, 1e9)
		r.AmountOut, r.ExternalCall = chain.NewAmount(row.takes), row.call
		r.Making = &crosschain.Making{Sender: payer, Recipient: receiver, Authorities: order.Authorities{GivePatch: payer, Order: receiver, CancelBeneficiary: receiver}}
		e, err := j.Estimate(t.Context(), r)
		if !errors.Is(err, row.want) {
			t.Errorf("%s: %+v, %v, want %v", name, e.Made, err, row.want)
		}
		if codes := j.Appraise(t.Context(), order.Terms{
			Take: order.Offer{Chain: there, Token: row.out, Amount: r.AmountOut}, Receiver: receiver, ExternalCall: row.call,
		}); (row.want == crosschain.ErrNotDelivered) != (len(codes) > 0 && codes[0].Code == creation.NotDelivered) {
			t.Errorf("%s: warnings %v", name, codes)
		}
		refund := order.Terms{Give: order.Offer{Chain: here}, Authorities: order.Authorities{GivePatch: receiver}}
		if err := j.Refundable(t.Context(), refund); errors.Is(err, creation.ErrNoPayee) != (row.want == crosschain.ErrNotRefundable) {
			t.Errorf("%s: a refund to who may patch: %v", name, err)
		}
		if err := j.Refundable(t.Context(), order.Terms{Give: refund.Give}); err != nil {
			t.Errorf("%s: a refund to an unknown account: %v", name, err)
		}
	}
}

// TestACallOnSolanaIsDeliveredToItsExecutor since dln_dst calls the program that is the order's receiver.
func TestACallOnSolanaIsDeliveredToItsExecutor(t *testing.T) {
	j := newJourney(between(func(_, to *chain.Chain) {
		to.Family, to.Contracts.ExternalCallAdapter = chain.SVM, named(0xee)
	}))
	r := request(usd, usd, 1e9)
	r.ExternalCall = []byte{1}
	r.Making = &crosschain.Making{Sender: payer, Recipient: receiver, Authorities: order.Authorities{GivePatch: payer, Order: receiver}}
	terms := must.Get(j.Estimate(t.Context(), r))(t).Made.Terms
	if terms.Receiver != named(0xee) {
		t.Errorf("it is delivered to %s", terms.Receiver)
	}
	if terms.Receiver = receiver; j.Appraise(t.Context(), terms)[0].Code != creation.CallNeverRun {
		t.Error("an order for another receiver is not warned about")
	}
}
