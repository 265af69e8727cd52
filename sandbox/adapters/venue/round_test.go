package venue_test

import (
	"bytes"
	"context"
	"math/big"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/sandbox/solana"
	"crossgate/sandbox/venues"
	"crossgate/token"
	"crossgate/upstream/venue"
)

// The addresses of the contract test: Base's tokens, and people.
const (
	coinText   = "0x0000000000000000000000000000000000000000"
	wrapText   = "0x4200000000000000000000000000000000000006"
	usdcText   = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	lonelyText = "0x00000000000000000000000000000000000a10e0" // in no pool
	sender     = "0x1111111111111111111111111111111111111111"
	recipient  = "0x2222222222222222222222222222222222222222"
	affiliate  = "0x3333333333333333333333333333333333333333"
	operator   = "0x4444444444444444444444444444444444444444"
)

// onSolana are the corresponding addresses on Solana, where somebody has tokens.
var (
	somebody = solana.NewAccount("somebody", [32]byte{1})
	onSolana = map[string]string{
		coinText: "11111111111111111111111111111111", wrapText: solana.Tokens[0].Mint.String(),
		usdcText: solana.Tokens[1].Mint.String(), lonelyText: solana.Tokens[4].Mint.String(),
		sender: somebody.Key.String(), recipient: solana.NewAccount("recipient", [32]byte{2}).Key.String(),
		affiliate: solana.NewAccount("affiliate", [32]byte{3}).Key.String(),
	}
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// hall is a small market on Base with one pool, whose reserves a test can move, and a similar one on Solana.
type hall struct {
	wrap, usdc *big.Int
	ledger     *solana.Chain
}

func newHall() *hall { return &hall{wrap: units(1000, 18), usdc: units(3_000_000, 6)} }

// fall lowers every price by more than a tolerance of half a percent.
func (h *hall) fall() {
	h.usdc = units(2_980_000, 6)
	h.ledger = newLedger(2_980_000)
}

// newLedger returns Solana with a pool of a thousand coins.
func newLedger(usdc uint64) *solana.Chain {
	ledger := solana.New(noon)
	ledger.Stock(solana.NewPool(solana.Tokens[0], solana.Tokens[1], 25), 1000_000_000_000, usdc*1_000_000)
	ledger.Fund(somebody.Key, 1_000_000_000_000, 1_000_000)
	return ledger
}

func units(whole int64, decimals int64) *big.Int {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	return scale.Mul(scale, big.NewInt(whole))
}

func (h *hall) handler(name string) http.Handler {
	if isOnSolana(name) {
		h.ledger = newLedger(3_000_000)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			venues.Handlers(venues.Market{Solana: h.ledger})[name].ServeHTTP(w, r)
		})
	}
	return venues.Handlers(venues.Market{
		Pools: []venues.Pool{{Chain: 8453, Address: "0x00000000000000000000000000000000000000b5", TokenA: wrapText, TokenB: usdcText, FeeBps: 5}},
		Tokens: []venues.Token{
			{Chain: 8453, Address: coinText, Symbol: "ETH", Decimals: 18, USD: 3000},
			{Chain: 8453, Address: wrapText, Symbol: "WETH", Decimals: 18, USD: 3000},
			{Chain: 8453, Address: usdcText, Symbol: "USDC", Decimals: 6, USD: 1},
			{Chain: 8453, Address: lonelyText, Symbol: "LONE", Decimals: 18, USD: 1},
		},
		Wrapped:  map[uint64]string{8453: wrapText},
		Reserves: func(context.Context, uint64, string) (a, b *big.Int, err error) { return h.wrap, h.usdc, nil },
		Now:      func() time.Time { return noon },
	})[name]
}

func isOnSolana(name string) bool { return slices.Contains(venues.Serving(uint64(chain.Solana)), name) }

// open returns the venue with its API served by h.
func open(t testing.TB, name string, h http.Handler) quote.Venue {
	t.Helper()
	return must.Get(venue.New(name, venue.Options{
		Pool: pooltest.Of(t, h), Registry: chain.Documented(), Key: venues.Key(name),
		Now: func() time.Time { return noon }, Contracts: settlers,
	}))(t)
}

// settlers is a chain where the registry of 0x returns a contract, and nothing else answers.
func settlers(_ context.Context, _ chain.ID, calls []chain.ContractCall) ([][]byte, error) {
	settler := bytes.Repeat([]byte{0x5e, 0x77, 0x1e}, 7)[:20]
	answers := make([][]byte, len(calls))
	for i := range calls {
		answers[i] = append(make([]byte, 12), settler...)
	}
	return answers, nil
}

func address(t testing.TB, text string) chain.Address {
	t.Helper()
	return addressOn(t, chain.EVM, text)
}

func addressOn(t testing.TB, family chain.Family, text string) chain.Address {
	t.Helper()
	return must.Get(chain.ParseAddress(text, family))(t)
}

// newSwap returns a swap of amount on Base, paid to another account than its sender.
func newSwap(t testing.TB, in, out string, amount *big.Int) quote.Swap {
	t.Helper()
	decimals := map[string]uint8{coinText: 18, wrapText: 18, usdcText: 6, lonelyText: 18}
	base, _ := chain.Documented().Chain(8453)
	exact := must.Get(chain.AmountFromBig(amount))(t)
	return quote.Swap{
		Chain:  base,
		In:     quote.Side{Address: address(t, in), Token: token.Token{Decimals: decimals[in]}, Amount: exact},
		Out:    quote.Side{Address: address(t, out), Token: token.Token{Decimals: decimals[out]}},
		Sender: address(t, sender), Recipient: address(t, recipient),
		SlippagePercent: decimal.RequireFromString("0.5"), GasPrice: chain.NewAmount(1_000_000),
	}
}

// swapBy returns a swap of whole tokens that a venue can make, paid to another account than its sender if the venue
// supports that.
func swapBy(t testing.TB, name, in, out string, whole int64) quote.Swap {
	t.Helper()
	if !isOnSolana(name) {
		places := int64(18)
		if in == usdcText {
			places = 6
		}
		return newSwap(t, in, out, units(whole, places))
	}
	decimals := map[string]uint8{coinText: 9, wrapText: 9, usdcText: 6, lonelyText: 4}
	s := quote.Swap{
		In:     quote.Side{Address: addressBy(t, name, in), Token: token.Token{Decimals: decimals[in]}},
		Out:    quote.Side{Address: addressBy(t, name, out), Token: token.Token{Decimals: decimals[out]}},
		Sender: addressBy(t, name, sender), Recipient: addressBy(t, name, recipient), SlippagePercent: decimal.RequireFromString("0.5"),
	}
	s.In.Amount = chain.NewAmount(units(whole, int64(decimals[in])).Uint64())
	s.Chain, _ = chain.Documented().Chain(chain.Solana)
	if paysSenderAlone[name] {
		s.Recipient = s.Sender
	}
	return s
}

// paysSenderAlone are the venues that pay only the sender.
var paysSenderAlone = map[string]bool{"jupiter": true}

// addressBy returns the counterpart of an address of Base on the chain where a venue swaps.
func addressBy(t testing.TB, name, text string) chain.Address {
	t.Helper()
	if isOnSolana(name) {
		return addressOn(t, chain.SVM, onSolana[text])
	}
	return address(t, text)
}

// each runs a test for every service in the hall: those on EVM chains, and those on Solana.
func each(t *testing.T, promise func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range slices.Concat(venues.Serving(8453), venues.Serving(uint64(chain.Solana))) {
		t.Run(name, func(t *testing.T) { promise(t, name) })
	}
}
