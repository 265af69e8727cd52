package token_test

import (
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/token"
)

func TestListedAreCoinsAndTheOperatorsTokens(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(1)
	own := chain.NewAddress([]byte("a token of our own.."))
	d := token.NewDirectory(token.DirectoryOptions{
		Registry: chain.Documented(),
		Own: map[token.Key]token.Token{
			{Chain: 1, Address: own}:                  {Symbol: "OWN"},
			{Chain: 1, Address: ethereum.WrappedCoin}: {Symbol: "WETH"},
			{Chain: 10, Address: own}:                 {Symbol: "OWN"},
		},
	})
	want := []chain.Address{chain.NativeCoin(chain.EVM), own, ethereum.WrappedCoin}
	if got := d.Listed(1); !slices.Equal(got, want) {
		t.Errorf("Listed(1) = %v, want %v", got, want)
	}
	if got := d.Listed(4); len(got) != 0 {
		t.Errorf("Listed(4) = %v, want nothing of a chain that is not there", got)
	}
}
