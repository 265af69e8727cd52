package venue_test

import (
	"context"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/sandbox/venues"
	"crossgate/token"
	"crossgate/upstream"
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

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// hall is a small market on Base with one pool, whose reserves a test can move.
type hall struct {
	wrap, usdc *big.Int
}

func newHall() *hall { return &hall{wrap: units(1000, 18), usdc: units(3_000_000, 6)} }

func units(whole int64, decimals int64) *big.Int {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	return scale.Mul(scale, big.NewInt(whole))
}

func (h *hall) handler(name string) http.Handler {
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

// open returns the venue with its API served by h.
func open(t testing.TB, name string, h http.Handler, settings map[string]string) quote.Venue {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: name, URL: server.URL, Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	v, err := venue.New(name, venue.Options{
		Pool: upstream.NewPool(name, endpoint), Registry: chain.Documented(), Key: venues.Key(name), Settings: settings,
		Now: func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func address(t testing.TB, text string) chain.Address {
	t.Helper()
	return addressOn(t, chain.EVM, text)
}

func addressOn(t testing.TB, family chain.Family, text string) chain.Address {
	t.Helper()
	a, err := chain.ParseAddress(text, family)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newSwap is a swap of amount on Base, paid to somebody else than its sender.
func newSwap(t testing.TB, in, out string, amount *big.Int) quote.Swap {
	t.Helper()
	decimals := map[string]uint8{coinText: 18, wrapText: 18, usdcText: 6, lonelyText: 18}
	base, _ := chain.Documented().Chain(8453)
	exact, err := chain.AmountFromBig(amount)
	if err != nil {
		t.Fatal(err)
	}
	return quote.Swap{
		Chain:  base,
		In:     quote.Side{Address: address(t, in), Token: token.Token{Decimals: decimals[in]}, Amount: exact},
		Out:    quote.Side{Address: address(t, out), Token: token.Token{Decimals: decimals[out]}},
		Sender: address(t, sender), Recipient: address(t, recipient),
		SlippagePercent: decimal.RequireFromString("0.5"), GasPrice: chain.NewAmount(1_000_000),
	}
}

// each runs a test over every service that serves EVM chains, all of which trade in the hall.
func each(t *testing.T, promise func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range venues.Serving(8453) {
		t.Run(name, func(t *testing.T) { promise(t, name) })
	}
}

// eachService runs a test over every venue that is a service.
func eachService(t *testing.T, promise func(t *testing.T, s venue.Service)) {
	t.Helper()
	for _, s := range venue.Documented() {
		if s.URL != "" {
			t.Run(s.Name, func(t *testing.T) { promise(t, s) })
		}
	}
}

func TestEveryVenueDeclaresItself(t *testing.T) {
	defaults, err := os.ReadFile("../../config/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	eachService(t, func(t *testing.T, s venue.Service) {
		p := open(t, s.Name, http.NotFoundHandler(), nil).Profile()
		if p.Name != s.Name || strings.ToLower(s.Name) != s.Name {
			t.Errorf("Profile().Name = %q, want %q in lower case", p.Name, s.Name)
		}
		if !strings.HasPrefix(p.ImageURL, "https://") {
			t.Errorf("ImageURL = %q, want an https URL", p.ImageURL)
		}
		families := map[chain.Family]bool{}
		for id := range p.Routers {
			families[chain.Documented().Family(id)] = true
		}
		if len(families) != 1 || families[chain.EVM] != slices.Contains(venues.Serving(8453), s.Name) {
			t.Errorf("it serves chains of the families %v; in the sandbox it is among %v on Base", families, venues.Serving(8453))
		}
		if !families[chain.SVM] && !slices.Contains(venues.Names(), s.Name) {
			t.Errorf("the sandbox does not speak its dialect: sandbox/venues has %v", venues.Names())
		}
		if !strings.HasPrefix(s.URL, "https://") || s.RequestsPerSecond <= 0 || s.Burst <= 0 {
			t.Errorf("Documented() has %+v, want an https URL and a limit", s)
		}
		if s.Keyed == (venues.Key(s.Name) == "") {
			t.Errorf("Keyed is %t, the sandbox wants the key %q", s.Keyed, venues.Key(s.Name))
		}
		if listed := strings.Contains(string(defaults), `"`+s.URL+`"`); listed == s.Keyed {
			t.Errorf("config/default.yaml with the endpoint %s: %t; venues that need no key are in it", s.URL, listed)
		}
	})
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	if _, err := venue.New("odos", venue.Options{}); err == nil || !strings.Contains(err.Error(), "kyberswap") {
		t.Errorf("New(odos) = %v, want an error that lists the venues", err)
	}
	eachService(t, func(t *testing.T, s venue.Service) {
		name := s.Name
		o := venue.Options{Registry: chain.Documented()}
		if _, err := venue.New(name, o); err == nil {
			t.Error("a venue without an endpoint was made")
		}
		o.Pool, o.Key = upstream.NewPool(name), venues.Key(name)
		if o.Key != "" {
			keyless := o
			keyless.Key = ""
			if _, err := venue.New(name, keyless); err == nil || !strings.Contains(err.Error(), "key") {
				t.Errorf("New without a key = %v, want an error that asks for one", err)
			}
		}
		o.Settings = map[string]string{"colour": "red"}
		if _, err := venue.New(name, o); err == nil || !strings.Contains(err.Error(), "colour") {
			t.Errorf("New with setting colour = %v, want an error that names it", err)
		}
	})
}

func TestEveryVenueBuildsWhatItQuotes(t *testing.T) {
	swaps := []struct {
		name, in, out string
		amount        *big.Int
	}{
		{"token to token", wrapText, usdcText, units(1, 18)},
		{"coin to token", coinText, usdcText, units(1, 18)},
		{"token to coin", usdcText, coinText, units(500, 6)},
		{"wrap", coinText, wrapText, units(1, 18)},
		{"unwrap", wrapText, coinText, units(1, 18)},
	}
	each(t, func(t *testing.T, name string) {
		v := open(t, name, newHall().handler(name), nil)
		for _, c := range swaps {
			t.Run(c.name, func(t *testing.T) {
				s := newSwap(t, c.in, c.out, c.amount)
				q, err := v.Quote(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if q.Venue != name || q.AmountOut.IsZero() || q.Gas == 0 || !q.Expires.After(noon) {
					t.Errorf("Quote = %+v, want a venue, an amount, gas and an end", q)
				}
				tx, err := v.Build(t.Context(), s, q)
				if err != nil {
					t.Fatal(err)
				}
				if !v.Profile().Calls(s.Chain.ID, tx.To) {
					t.Errorf("tx.To = %s, want a router of the venue's", tx.To)
				}
				if want := map[bool]chain.Amount{true: s.In.Amount}[c.in == coinText]; tx.Value != want {
					t.Errorf("tx.Value = %s, want %s", tx.Value, want)
				}
				if !strings.Contains(string(tx.Data), string(s.Recipient.Bytes())) {
					t.Error("the calldata does not name the recipient")
				}
			})
		}
	})
}

func TestEveryVenueSaysNoRoute(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		v := open(t, name, newHall().handler(name), nil)
		for range 20 { // far more failures than a breaker bears
			if _, err := v.Quote(t.Context(), newSwap(t, lonelyText, usdcText, units(1, 18))); !errors.Is(err, quote.ErrNoRoute) {
				t.Fatalf("Quote = %v, want ErrNoRoute", err)
			}
		}
		if _, err := v.Quote(t.Context(), newSwap(t, wrapText, usdcText, units(1, 18))); err != nil {
			t.Errorf("Quote after pairs without a route = %v, want a price", err)
		}
	})
}

func TestEveryVenueDeclinesForeignChains(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		v := open(t, name, http.NotFoundHandler(), nil)
		s := newSwap(t, wrapText, usdcText, units(1, 18))
		s.Chain, _ = chain.Documented().Chain(chain.Solana)
		if _, err := v.Quote(t.Context(), s); !errors.Is(err, quote.ErrUnsupportedChain) {
			t.Errorf("Quote on Solana = %v, want ErrUnsupportedChain", err)
		}
	})
}

func TestAffiliateShareIsTakenWholeOrNotAtAll(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		v := open(t, name, newHall().handler(name), nil)
		s := newSwap(t, wrapText, usdcText, units(1, 18))
		plain, err := v.Quote(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		most := v.Profile().MaxAffiliatePercent
		percent := decimal.RequireFromString("1.25")
		if most.IsPositive() {
			percent = decimal.Min(percent, most)
		}
		s.Affiliate = quote.Affiliate{Percent: percent, Recipient: address(t, affiliate)}
		q, err := v.Quote(t.Context(), s)
		if most.IsZero() {
			if !errors.Is(err, quote.ErrNoRoute) {
				t.Errorf("Quote with an affiliate = %v, want ErrNoRoute", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if q.AmountOut.Cmp(plain.AmountOut.MulDiv(991, 1000)) > 0 {
			t.Errorf("%s with an affiliate, %s without: its share is still in the amount", q.AmountOut, plain.AmountOut)
		}
		tx, err := v.Build(t.Context(), s, q)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(tx.Data), string(s.Affiliate.Recipient.Bytes())) {
			t.Error("the calldata does not name the affiliate")
		}
		s.Affiliate.Percent = decimal.RequireFromString("0.123")
		if _, err := v.Quote(t.Context(), s); !errors.Is(err, quote.ErrNoRoute) {
			t.Errorf("Quote with a share finer than a basis point = %v, want ErrNoRoute", err)
		}
	})
}

func TestBuildNeverPaysLessThanQuoted(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		h := newHall()
		v := open(t, name, h.handler(name), nil)
		s := newSwap(t, wrapText, usdcText, units(1, 18))
		q, err := v.Quote(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		h.usdc = units(2_999_000, 6)
		_, err = v.Build(t.Context(), s, q)
		// Some build for the price they gave, whatever happened since: the minimum in it protects the sender.
		if boundByPrice[name] {
			if err != nil {
				t.Errorf("Build of a price that binds = %v, want a transaction", err)
			}
			s.Recipient = s.Sender
			_, err = v.Build(t.Context(), s, q)
		}
		if name != "velora" && !errors.Is(err, venue.ErrPriceMoved) {
			t.Errorf("Build after a fall of the price = %v, want ErrPriceMoved", err)
		}
	})
}

// boundByPrice are the venues whose transaction is made with its price, or from it.
var boundByPrice = map[string]bool{"velora": true, "relay": true, "lifi": true, "enso": true, "okx": true}

func TestTransactionsServeTheWalletsTheyAreBuiltFor(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		v := open(t, name, newHall().handler(name), nil)
		s := newSwap(t, wrapText, usdcText, units(1, 18))
		q, err := v.Quote(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		s.Sender, s.Recipient = address(t, affiliate), address(t, lonelyText)
		tx, err := v.Build(t.Context(), s, q)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(tx.Data), string(s.Recipient.Bytes())) {
			t.Error("the calldata does not name the recipient it was built for")
		}
	})
}

func TestBuildRefusesForeignQuotes(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		v := open(t, name, http.NotFoundHandler(), nil)
		if _, err := v.Build(t.Context(), newSwap(t, wrapText, usdcText, units(1, 18)), quote.Quote{Venue: "another"}); err == nil {
			t.Error("a quote of another venue was built")
		}
	})
}

func TestEveryVenueClassesFailures(t *testing.T) {
	status := func(code int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		})
	}
	each(t, func(t *testing.T, name string) {
		tests := []struct {
			name    string
			handler http.Handler
			want    upstream.Class
		}{
			{"too many requests", venues.Limited(name, time.Minute), upstream.RateLimited},
			{"a page", status(http.StatusOK, "<html>"), upstream.BadAnswer},
			{"nothing", status(http.StatusOK, ""), upstream.BadAnswer},
			{"an empty object", status(http.StatusOK, "{}"), upstream.BadAnswer},
			{"a wall", status(http.StatusForbidden, "<html>"), upstream.Rejected},
			{"broken", status(http.StatusBadGateway, "{}"), upstream.ServerError},
		}
		for _, c := range tests {
			_, err := open(t, name, c.handler, nil).Quote(t.Context(), newSwap(t, wrapText, usdcText, units(1, 18)))
			var failed *upstream.Error
			if !errors.As(err, &failed) || failed.Class != c.want {
				t.Errorf("%s: Quote = %v, want %v", c.name, err, c.want)
			}
		}
	})
}
