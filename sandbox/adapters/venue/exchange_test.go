package venue_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/upstream/venue"
)

// exchangeNames returns the venues that are contracts and have prices.
func exchangeNames() []string {
	var names []string
	for _, s := range venue.Documented() {
		if s.URL == "" && s.Name != "wrap" {
			names = append(names, s.Name)
		}
	}
	return names
}

func openExchange(t *testing.T, name string, contracts func(context.Context, chain.ID, []chain.ContractCall) ([][]byte, error)) quote.Venue {
	t.Helper()
	return must.Get(venue.New(name, venue.Options{Registry: chain.Documented(), Contracts: contracts, Now: nil}))(t)
}

func TestExchangesDeclareThemselves(t *testing.T) {
	names := exchangeNames()
	if len(names) < 20 {
		t.Errorf("%d exchanges, want them all", len(names))
	}
	for _, name := range names {
		p := openExchange(t, name, silent).Profile()
		if p.Name != name || len(p.Routers) == 0 || !p.MaxAffiliatePercent.IsZero() || !strings.HasPrefix(p.ImageURL, "https://") {
			t.Errorf("profile of %s: %+v", name, p)
		}
		if _, err := venue.New(name, venue.Options{Registry: chain.Documented()}); err == nil {
			t.Errorf("%s was made without a chain to read", name)
		}
		if _, err := venue.New(name, venue.Options{Registry: chain.Documented(), Contracts: silent, Key: "key"}); err == nil {
			t.Errorf("%s was made with a key", name)
		}
	}
}

// silent is a chain without contracts.
func silent(_ context.Context, _ chain.ID, calls []chain.ContractCall) ([][]byte, error) {
	return make([][]byte, len(calls)), nil
}

// servedSwap returns a swap of the wrapped coin on one of a venue's chains.
func servedSwap(t *testing.T, p quote.Profile) quote.Swap {
	t.Helper()
	s := newSwap(t, wrapText, usdcText, units(1, 18))
	for id := range p.Routers {
		s.Chain, _ = chain.Documented().Chain(id)
	}
	s.In.Address = s.Chain.WrappedCoin
	return s
}

func TestExchangesTrustOnlyTheirOwnContracts(t *testing.T) {
	failed := errors.New("node is down")
	for _, name := range exchangeNames() {
		v := openExchange(t, name, silent)
		if _, err := v.Quote(t.Context(), servedSwap(t, v.Profile())); !errors.Is(err, venue.ErrUnverifiedContracts) {
			t.Errorf("%s on a chain without contracts: %v, want ErrUnverifiedContracts", name, err)
		}
		v = openExchange(t, name, func(_ context.Context, _ chain.ID, calls []chain.ContractCall) ([][]byte, error) {
			answers := make([][]byte, len(calls))
			for i := range answers {
				answers[i] = bytes.Repeat([]byte{1}, 32)
			}
			return answers, nil
		})
		if _, err := v.Quote(t.Context(), servedSwap(t, v.Profile())); !errors.Is(err, venue.ErrUnverifiedContracts) {
			t.Errorf("%s among strangers: %v, want ErrUnverifiedContracts", name, err)
		}
		v = openExchange(t, name, func(context.Context, chain.ID, []chain.ContractCall) ([][]byte, error) { return nil, failed })
		if _, err := v.Quote(t.Context(), servedSwap(t, v.Profile())); !errors.Is(err, failed) {
			t.Errorf("%s on a chain that is down: %v, want that", name, err)
		}
		s := servedSwap(t, v.Profile())
		s.Chain, _ = chain.Documented().Chain(chain.Solana)
		if _, err := v.Quote(t.Context(), s); !errors.Is(err, quote.ErrUnsupportedChain) {
			t.Errorf("%s on Solana: %v, want ErrUnsupportedChain", name, err)
		}
		s = servedSwap(t, v.Profile())
		s.Affiliate = quote.Affiliate{Percent: decimal.NewFromInt(1), Recipient: address(t, affiliate)}
		if _, err := v.Quote(t.Context(), s); !errors.Is(err, quote.ErrNoRoute) {
			t.Errorf("%s with an affiliate: %v, want ErrNoRoute", name, err)
		}
		if _, err := v.Build(t.Context(), s, quote.Quote{Venue: name}); err == nil {
			t.Errorf("%s built a quote of another venue", name)
		}
	}
}

func TestWrapServesNobodyElse(t *testing.T) {
	v := must.Get(venue.New("wrap", venue.Options{Registry: chain.Documented()}))(t)
	for _, c := range []struct {
		name, in, out string
		self          bool
		want          error
	}{
		{"wrap", coinText, wrapText, true, nil},
		{"unwrap", wrapText, coinText, true, nil},
		{"for another", coinText, wrapText, false, quote.ErrNoRoute},
		{"another token", coinText, usdcText, true, quote.ErrNoRoute},
	} {
		s := newSwap(t, c.in, c.out, units(1, 18))
		if c.self {
			s.Recipient = s.Sender
		}
		q, err := v.Quote(t.Context(), s)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
			continue
		}
		if err != nil {
			continue
		}
		if q.AmountOut != s.In.Amount {
			t.Errorf("%s: %s out of %s", c.name, q.AmountOut, s.In.Amount)
		}
		s.Recipient = address(t, recipient)
		if _, err := v.Build(t.Context(), s, q); !errors.Is(err, quote.ErrNoRoute) {
			t.Errorf("%s: Build for another recipient = %v, want ErrNoRoute", c.name, err)
		}
	}
}
