package token_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/token"
)

// TestListedAreVouchedFor uses a directory that can read nothing.
func TestListedAreVouchedFor(t *testing.T) {
	own, other := chain.NewAddress([]byte("a token of our own..")), chain.NewAddress([]byte("a token of a list..."))
	reader := &contracts{failed: context.DeadlineExceeded}
	d := token.NewDirectory(token.DirectoryOptions{
		Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: reader},
		Own: map[token.Key]token.Token{
			{Chain: 1, Address: own}:  {Symbol: "OWN", Decimals: 3},
			{Chain: 10, Address: own}: {Symbol: "OWN"},
		},
		Listed: func(_ context.Context, id chain.ID) map[chain.Address]token.Token {
			return map[chain.Address]token.Token{own: {Symbol: "OTHER"}, other: {Symbol: id.String(), Decimals: 9}}
		},
	})
	listed := d.Listed(t.Context(), 1)
	got := map[string]string{}
	for _, each := range listed {
		got[each.Address.String()] = fmt.Sprint(each.Symbol, " ", each.Decimals)
	}
	for address, want := range map[string]string{
		own.String(): "OWN 3", other.String(): "1 9", "0x0000000000000000000000000000000000000000": "ETH 18",
		"0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2": "WETH 18", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48": "USDC 6",
		"0xdac17f958d2ee523a2206206994597c13d831ec7": "USDT 6", "0x6b175474e89094c44da98b954eedeac495271d0f": "DAI 18",
		"0x2260fac5e5542a773aa44fbcfedf7c193bc2c599": "WBTC 8",
	} {
		if got[address] != want {
			t.Errorf("Listed(1) has %q at %s, want %q", got[address], address, want)
		}
	}
	if len(reader.asked) != 0 {
		t.Errorf("the chain was asked: %v", reader.asked)
	}
	if !slices.IsSortedFunc(listed, func(a, b token.Listing) int { return a.Address.Compare(b.Address) }) {
		t.Error("the list is not by address")
	}
	for _, each := range listed {
		if each.IsProminent != (each.Address != other) {
			t.Errorf("%s is prominent: %t", each.Symbol, each.IsProminent)
		}
		if each.LogoURI == "" || each.Name == "" {
			t.Errorf("incomplete %+v", each)
		}
	}
	if got := d.Listed(t.Context(), 4); len(got) != 2 {
		t.Errorf("Listed(4) = %v, want what lists have of a chain that is not there", got)
	}
}

func TestSearchPutsTheBestFirst(t *testing.T) {
	directory := token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented()})
	listed := directory.Listed(t.Context(), 1)
	for address, id := range map[string]chain.ID{
		"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v": chain.Solana, " TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t": chain.Tron,
	} {
		if found := token.Search(directory.Listed(t.Context(), id), address, 5); len(found) != 1 {
			t.Errorf("Search(%q) = %v, want the token at that address", address, found)
		}
	}
	for _, row := range []struct {
		text string
		most int
		want []string
	}{
		{"usdc", 5, []string{"USDC"}},
		{"0xDAC17F958D2ee523a2206206994597C13D831ec7", 5, []string{"USDT"}},
		{"wrapped ", 3, []string{"WBTC", "WETH", "cbETH"}},
		{"ETH", 2, []string{"ETH", "ENA"}},
		{"btc", 5, []string{"WBTC", "cbBTC"}},
		{"", 5, nil},
		{" \t", 5, nil},
		{"nothing is called this", 5, nil},
	} {
		var got []string
		for _, each := range token.Search(listed, row.text, row.most) {
			got = append(got, each.Symbol)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("Search(%q) = %v, want %v", row.text, got, row.want)
		}
	}
}

func TestNamedIsTheTokenOfThatName(t *testing.T) {
	listing := func(last byte, symbol, name string, prominent bool) token.Listing {
		key := token.Key{Chain: 1, Address: chain.NewAddress(append(make([]byte, 19), last))}
		return token.Listing{Key: key, Token: token.Token{Symbol: symbol, Name: name}, IsProminent: prominent}
	}
	listed := []token.Listing{
		listing(0, "ETH", "Ether", true), listing(1, "eth", "Fake", false), listing(2, "USDX", "Dollar", false),
		listing(3, "usdx", "USDC", false), listing(4, "USDC", "Dollar", true), listing(5, "", "", true), listing(6, "ETH", "Wrapped ETH", true),
	}
	for text, want := range map[string]string{
		" Eth ": "0", "usdx": "23", "ether": "0", "usdc": "4", "dollar": "4", "fake": "1", "usd": "", "": "",
	} {
		var got string
		for _, each := range token.Named(listed, text) {
			got += each.Address.String()[41:]
		}
		if got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// TestReservesAreWellKnown: no endpoint alone decides how the amounts of orders are scaled.
func TestReservesAreWellKnown(t *testing.T) {
	d := token.NewDirectory(token.DirectoryOptions{Registry: chain.Documented()})
	for _, c := range chain.Documented().All() {
		for asset, at := range c.Reserves {
			if known := must.Get(d.Lookup(t.Context(), c.ID, at))(t)[0]; known.Decimals == 0 {
				t.Errorf("%s of chain %d, %s, is in wellknown.json without decimals, or missing", asset, c.ID, at)
			}
		}
	}
}
