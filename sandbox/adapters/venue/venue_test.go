package venue_test

import (
	"bytes"
	"context"
	"math/big"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/sandbox/venues"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/venue"
)

// eachService runs a test for every venue that is a service.
func eachService(t *testing.T, promise func(t *testing.T, s venue.Service)) {
	t.Helper()
	for _, s := range venue.Documented() {
		if s.URL != "" {
			t.Run(s.Name, func(t *testing.T) { promise(t, s) })
		}
	}
}

func TestEveryVenueDeclaresItself(t *testing.T) {
	defaults := must.Get(os.ReadFile("../../../config/default.yaml"))(t)
	eachService(t, func(t *testing.T, s venue.Service) {
		p := open(t, s.Name, http.NotFoundHandler()).Profile()
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
		if len(families) != 1 || families[chain.EVM] != slices.Contains(venues.Serving(8453), s.Name) || families[chain.SVM] != isOnSolana(s.Name) {
			t.Errorf("it serves chains of the families %v; in the sandbox it is among %v on Base", families, venues.Serving(8453))
		}
		if !slices.Contains(venues.Names(), s.Name) {
			t.Errorf("the sandbox does not speak its dialect: sandbox/venues has %v", venues.Names())
		}
		if !strings.HasPrefix(s.URL, "https://") {
			t.Errorf("Documented() has %+v, want an https URL", s)
		}
		if s.Source == "" {
			t.Error("nothing says where its contracts are published")
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

// The addresses of the contract test: Base's tokens, and people.
const (
	coinText  = "0x0000000000000000000000000000000000000000"
	wrapText  = "0x4200000000000000000000000000000000000006"
	usdcText  = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	sender    = "0x1111111111111111111111111111111111111111"
	recipient = "0x2222222222222222222222222222222222222222"
	affiliate = "0x3333333333333333333333333333333333333333"
	operator  = "0x4444444444444444444444444444444444444444"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func units(whole int64, decimals int64) *big.Int {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	return scale.Mul(scale, big.NewInt(whole))
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
	decimals := map[string]uint8{coinText: 18, wrapText: 18, usdcText: 6}
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
