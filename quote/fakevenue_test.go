package quote_test

import (
	"context"
	"errors"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream/evm/swap"
)

// fakeVenue is a venue with a fixed rate, which misbehaves as its fields say.
type fakeVenue struct {
	name           string
	perInput       uint64 // output units per input unit
	gas            uint64
	takes          time.Duration
	ignoresContext bool // does not notice cancellation
	life           time.Duration
	quoteError     error
	quotePanic     bool
	buildError     error
	buildPanic     bool
	lie            func(*quote.Tx) // applied to the built transaction
	affiliate      decimal.Decimal
	paysTwo        bool
	chains         []chain.ID // Ethereum when nil

	fallback bool
	wraps    bool
	unread   bool            // its router's checks are unknown
	exact    bool            // its minimum is the quoted amount
	writes   bool            // the gateway writes its calldata
	approves chain.Address   // spender of the input, if not the router
	more     []chain.Address // additional routers

	quotes atomic.Int64               // number of quotes
	built  atomic.Pointer[quote.Swap] // swap built last
}

var _ quote.Venue = (*fakeVenue)(nil)

// router returns an address derived from the venue's name.
func (b *fakeVenue) router() chain.Address {
	raw := make([]byte, 20)
	copy(raw, "router of "+b.name)
	return chain.NewAddress(raw)
}

func (b *fakeVenue) Profile() quote.Profile {
	p := quote.Profile{
		Name: b.name, ImageURL: "https://logo.example/" + b.name + ".png", Routers: map[chain.ID]chain.Address{},
		MaxAffiliatePercent: b.affiliate, PaysTwo: b.paysTwo, Read: b.read, Fallback: b.fallback, Wraps: b.wraps, Writes: b.writes,
	}
	if b.unread {
		p.Read = nil
	}
	if !b.approves.IsAbsent() {
		p.Approves = map[chain.ID]chain.Address{chain.Ethereum: b.approves}
	}
	if len(b.more) > 0 {
		p.MoreRouters = map[chain.ID][]chain.Address{chain.Ethereum: b.more}
	}
	ids := b.chains
	if ids == nil {
		ids = []chain.ID{chain.Ethereum}
	}
	for _, id := range ids {
		p.Routers[id] = b.router()
	}
	return p
}

func (b *fakeVenue) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	began := time.Now()
	if err := b.work(ctx); err != nil {
		return quote.Quote{}, err
	}
	if b.quotePanic {
		panic("index out of range")
	}
	if b.quoteError != nil {
		return quote.Quote{}, b.quoteError
	}
	b.quotes.Add(1)
	q := quote.Quote{AmountOut: s.In.Amount.MulDiv(b.perInput, 1), Gas: b.gas, Took: time.Since(began), Route: b.name}
	if b.life != 0 {
		q.Expires = time.Now().Add(b.life)
	}
	return q, nil
}

func (b *fakeVenue) work(ctx context.Context) error {
	if b.ignoresContext {
		<-time.After(b.takes)
		return nil
	}
	select {
	case <-time.After(b.takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read parses the calldata that Build writes.
func (b *fakeVenue) read(_ chain.Chain, tx quote.Tx) (c quote.Call, err error) {
	const word = 32
	words := tx.Data[4:]
	if len(words) < 4*word {
		return c, errors.New("calldata cut off")
	}
	at := func(i int) []byte { return words[i*word : (i+1)*word] }
	c.MinOut, c.AmountIn = chain.AmountFromBytes(at(0)), chain.AmountFromBytes(at(1))
	c.TokenIn, c.TokenOut = chain.NewAddress(at(2)[12:]), chain.NewAddress(at(3)[12:])
	if len(words) >= 5*word {
		c.Payee = chain.NewAddress(at(4)[12:])
	}
	return c, nil
}

// Build encodes a selector, the minimum rounded as most venues do, the input, both tokens, and the recipient.
func (b *fakeVenue) Build(_ context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	if b.buildPanic {
		panic("nil map")
	}
	if b.buildError != nil {
		return quote.Tx{}, b.buildError
	}
	if q.Route != b.name || q.Venue != b.name {
		return quote.Tx{}, errors.New("a stranger's quote")
	}
	b.built.Store(&s)
	kept := decimal.NewFromInt(100).Sub(s.SlippagePercent)
	minimum, err := chain.AmountFromBig(decimal.NewFromBigInt(q.AmountOut.Big(), 0).Mul(kept).Shift(-2).Floor().BigInt())
	if err != nil {
		return quote.Tx{}, err
	}
	if b.exact {
		minimum = q.AmountOut
	}
	word, amount := minimum.Bytes32(), s.In.Amount.Bytes32()
	data := append([]byte{0xca, 0x11, 0xda, 0x7a}, word[:]...)
	data = append(data, amount[:]...)
	for _, token := range []chain.Address{s.In.Address, s.Out.Address} {
		data = append(append(data, make([]byte, 12)...), token.Bytes()...)
	}
	data = append(append(data, make([]byte, 12)...), s.Recipient.Bytes()...)
	tx := quote.Tx{To: b.router(), Data: data}
	if s.In.Address.IsNative() {
		tx.Value = s.In.Amount
	}
	if b.lie != nil {
		b.lie(&tx)
	}
	return tx, nil
}

// meter is a fee source with a fixed gas price.
type meter struct {
	price   quote.GasPrice
	gas     uint64
	dataFee chain.Amount
	silent  bool          // the data fee is unknown
	late    time.Duration // delay of the data fee
	err     error

	renewals *atomic.Int64 // counts requests that renew the price
}

var _ quote.FeeSource = meter{}

func (m meter) GasPrice(context.Context, quote.Priority) (quote.GasPrice, error) { return m.price, nil }

func (m meter) RenewGasPrice(context.Context) {
	if m.renewals != nil {
		m.renewals.Add(1)
	}
}

func (m meter) DataFee(context.Context, quote.Tx, uint64) (chain.Amount, error) {
	if m.silent {
		return chain.Amount{}, errors.New("no answer")
	}
	<-time.After(m.late)
	return m.dataFee, nil
}

func (m meter) EstimateGas(context.Context, chain.Address, quote.Tx) (uint64, error) {
	return m.gas, m.err
}

var (
	usdc      = address("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	dai       = address("0x6B175474E89094C44Da98b954EedeAC495271d0F")
	weth      = address("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	coin      = chain.NativeCoin(chain.EVM)
	recipient = address("0x1111111111111111111111111111111111111111")
	sender    = address("0x2222222222222222222222222222222222222222")
)

func address(text string) chain.Address {
	a, err := chain.ParseAddress(text, chain.EVM)
	if err != nil {
		panic(err)
	}
	return a
}

// usdcToDai returns a request for a swap of 100 USDC.
func usdcToDai() quote.Request {
	return quote.Request{Chain: chain.Ethereum, TokenIn: usdc, TokenOut: dai, AmountIn: chain.NewAmount(100_000_000), Recipient: recipient}
}

// directory returns a directory of two stablecoins and the coin, with their prices if priced.
func directory(priced bool) *token.Directory {
	o := token.DirectoryOptions{
		Registry: chain.Documented(),
		Own: map[token.Key]token.Token{
			{Chain: 1, Address: usdc}: {Decimals: 6, Name: "USD Coin", Symbol: "USDC"},
			{Chain: 1, Address: dai}:  {Decimals: 18, Name: "Dai Stablecoin", Symbol: "DAI"},
			{Chain: 1, Address: weth}: {Decimals: 18, Name: "Wrapped Ether", Symbol: "WETH"},
		},
	}
	if priced {
		o.Prices = []token.PriceSource{func(context.Context, []token.Key) (map[token.Key]*big.Rat, error) {
			return map[token.Key]*big.Rat{
				{Chain: 1, Address: usdc}: big.NewRat(1, 1),
				{Chain: 1, Address: dai}:  big.NewRat(999, 1000),
				{Chain: 1, Address: coin}: big.NewRat(3000, 1),
			}, nil
		}}
	}
	return token.NewDirectory(o)
}

// ethereum returns only Ethereum, with the guard of its family. It hands out unsimulated transactions; strict does not.
func ethereum(c quote.Chain) map[chain.ID]quote.Chain {
	c.AllowUnsimulated = true
	return strict(c)
}

func strict(c quote.Chain) map[chain.ID]quote.Chain {
	c.Guard = swap.Guard{}
	return map[chain.ID]quote.Chain{chain.Ethereum: c}
}

// estimator returns an estimator for venues on a chain whose gas price is unknown.
func estimator(venues ...quote.Venue) *quote.Estimator { return asking(quote.Chain{}, venues...) }

// asking returns an estimator for venues that hands out unsimulated transactions; askingStrictly's does not.
func asking(c quote.Chain, venues ...quote.Venue) *quote.Estimator {
	c.AllowUnsimulated = true
	return askingStrictly(c, venues...)
}

func askingStrictly(c quote.Chain, venues ...quote.Venue) *quote.Estimator {
	return quote.New(quote.Options{Registry: chain.Documented(), Venues: venues, Tokens: directory(false), Chains: strict(c)})
}

// estimate returns an estimate that must succeed.
func estimate(t *testing.T, e *quote.Estimator, r quote.Request) quote.Estimate {
	t.Helper()
	return must.Get(e.Estimate(t.Context(), r))(t)
}

func names(compared []quote.Compared) []string {
	var names []string
	for _, c := range compared {
		names = append(names, c.Name)
	}
	return names
}

func refused(e quote.Estimate) map[string]error {
	errs := map[string]error{}
	for _, one := range e.Asked {
		if one.Verdict == quote.Refused {
			errs[one.Venue] = one.Err
		}
	}
	return errs
}

func amount(text string) chain.Amount {
	a, err := chain.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

// expect reports an error if got differs from want.
func expect[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b chain.Amount) bool { return a == b }),
		cmp.Comparer(func(a, b chain.Address) bool { return a == b })); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
