package token_test

import (
	"context"
	"errors"
	"math/big"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

var (
	usdcKey = token.Key{Chain: 1, Address: usdc}
	coinKey = token.Key{Chain: 1, Address: chain.NativeCoin(chain.EVM)}
)

// always returns a source that prices only USDC.
func always(numerator, denominator int64) token.PriceSource {
	return func(context.Context, []token.Key) (map[token.Key]*big.Rat, error) {
		return map[token.Key]*big.Rat{usdcKey: big.NewRat(numerator, denominator)}, nil
	}
}

func down(context.Context, []token.Key) (map[token.Key]*big.Rat, error) {
	return nil, errors.New("no connection")
}

func TestUSDIsTheMedianOfTheSourcesThatAgree(t *testing.T) {
	for _, row := range []struct {
		name    string
		sources []token.PriceSource
		want    *big.Rat
	}{
		{"none", nil, nil},
		{"one", []token.PriceSource{always(1, 1)}, big.NewRat(1, 1)},
		{"an outlier", []token.PriceSource{always(900, 1), always(99, 100), always(1, 1)}, big.NewRat(199, 200)},
		{"two that agree", []token.PriceSource{always(100, 100), always(102, 100)}, big.NewRat(101, 100)},
		{"two that do not", []token.PriceSource{always(1, 1), always(2, 1)}, big.NewRat(1, 1)},
		{"two outliers of four", []token.PriceSource{always(1, 1000), always(99, 100), always(101, 100), always(900, 1)}, big.NewRat(1, 1)},
		{"an outlier beside two", []token.PriceSource{always(108, 100), always(100, 100), always(102, 100)}, big.NewRat(101, 100)},
		{"one is down", []token.PriceSource{down, always(1, 1)}, big.NewRat(1, 1)},
		{"all are down", []token.PriceSource{down, down}, nil},
		{"nonsense is left out", []token.PriceSource{always(0, 1), always(-5, 1), always(1, 1)}, big.NewRat(1, 1)},
		{"one panics", []token.PriceSource{always(1, 1), func(context.Context, []token.Key) (map[token.Key]*big.Rat, error) { panic("nil map") }}, big.NewRat(1, 1)},
	} {
		d := token.NewDirectory(token.DirectoryOptions{Prices: row.sources})
		prices := d.USD(t.Context(), usdcKey, coinKey)
		got := prices[usdcKey]
		if (got == nil) != (row.want == nil) || got != nil && got.Cmp(row.want) != 0 {
			t.Errorf("%s: USD = %v, want %v", row.name, got, row.want)
		}
		if price, found := prices[coinKey]; found {
			t.Errorf("%s: USD of a token that no source knows = %v, want it left out", row.name, price)
		}
	}
}

// TestTokensWithoutDecimalsHaveNoPrice prices tokens on a chain that is read and on one that is not.
func TestTokensWithoutDecimalsHaveNoPrice(t *testing.T) {
	wellKnown, _ := token.WellKnown(56, "USDC")
	own, read, unread := token.Key{Chain: 56, Address: mute}, token.Key{Chain: 1, Address: maker}, token.Key{Chain: 56, Address: maker}
	d := token.NewDirectory(token.DirectoryOptions{
		Readers: map[chain.ID]token.Reader{1: ethereum()}, Own: map[token.Key]token.Token{own: {Symbol: "WHOLE"}},
		Prices: []token.PriceSource{func(_ context.Context, keys []token.Key) (map[token.Key]*big.Rat, error) {
			prices := map[token.Key]*big.Rat{}
			for _, key := range keys {
				prices[key] = big.NewRat(1, 1)
			}
			return prices, nil
		}},
	})
	prices := d.USD(t.Context(), wellKnown, own, read, unread)
	if len(prices) != 3 || prices[unread] != nil {
		t.Errorf("prices = %v, want none where 0 decimals are only not known", prices)
	}
}

// ticker is a source whose price is the number of its calls.
type ticker struct {
	asked atomic.Int64
	fails atomic.Bool
	takes time.Duration
}

func (s *ticker) prices(ctx context.Context, keys []token.Key) (map[token.Key]*big.Rat, error) {
	count := s.asked.Add(1)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.fails.Load() {
		return nil, errors.New("no connection")
	}
	prices := map[token.Key]*big.Rat{}
	for _, key := range keys {
		prices[key] = big.NewRat(count, 1)
	}
	return prices, nil
}

func TestUSDLivesAndOutlivesItsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &ticker{}
		d := token.NewDirectory(token.DirectoryOptions{Prices: []token.PriceSource{source.prices}})
		for _, step := range []struct {
			wait  time.Duration
			fails bool
			want  int64 // zero: no price
			asked int64
		}{
			{0, false, 1, 1},
			{29 * time.Second, false, 1, 1},
			{2 * time.Second, false, 2, 2},
			{31 * time.Second, true, 2, 3},
			{time.Second, true, 2, 3}, // not requested again immediately
			{5 * time.Second, true, 2, 4},
			{9 * time.Minute, true, 2, 5},
			{time.Minute, true, 0, 6},
			{6 * time.Second, false, 7, 7},
		} {
			pass(step.wait)
			source.fails.Store(step.fails)
			got := d.USD(t.Context(), usdcKey)[usdcKey]
			if (got == nil) != (step.want == 0) || got != nil && got.Cmp(big.NewRat(step.want, 1)) != 0 {
				t.Errorf("USD after %s more = %v, want %d", step.wait, got, step.want)
			}
			if asked := source.asked.Load(); asked != step.asked {
				t.Errorf("asked %d times after %s more, want %d", asked, step.wait, step.asked)
			}
		}
	})
}

func TestUSDDoesNotHoldUpWhoCannotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &ticker{}
		d := token.NewDirectory(token.DirectoryOptions{Prices: []token.PriceSource{source.prices}})
		d.USD(t.Context(), usdcKey)
		pass(time.Minute)
		source.takes = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if got := d.USD(ctx, usdcKey)[usdcKey]; got == nil || got.Cmp(big.NewRat(1, 1)) != 0 {
			t.Errorf("USD at the deadline = %v, want the last known price", got)
		}
		pass(5 * time.Second) // until the load times out
	})
}
