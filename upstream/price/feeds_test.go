package price

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"testing"

	"crossgate/chain"
	"crossgate/token"
)

// TestFeedsTellWhatTheirChainsTell lets Ethereum price the wrapped coin and Base fail, and requests tokens of chains
// with and without an oracle.
func TestFeedsTellWhatTheirChainsTell(t *testing.T) {
	registry := chain.Documented()
	ethereum, _ := registry.Chain(1)
	down := errors.New("no connection")
	contracts := func(_ context.Context, id chain.ID, calls []chain.ContractCall) ([][]byte, error) {
		if id == 8453 {
			return nil, down
		}
		answers := make([][]byte, len(calls))
		for i, c := range calls {
			if c.To.String() != "0x54586be62e3c3580375ae3723c145253060ca0c2" || !bytes.HasPrefix(c.Data, []byte{0xb3, 0x59, 0x6f, 0x07}) {
				t.Errorf("asked %s on chain %d: %x", c.To, id, c.Data)
			}
			if bytes.HasSuffix(c.Data, ethereum.WrappedCoin.Bytes()) {
				word := chain.NewAmount(300_012_345_678).Bytes32()
				answers[i] = word[:]
			}
		}
		return answers, nil
	}
	coin := token.Key{Chain: 1, Address: chain.NativeCoin(chain.EVM)}
	wrapped := token.Key{Chain: 1, Address: ethereum.WrappedCoin}
	prices, err := Feeds(contracts, registry)(t.Context(), []token.Key{
		coin, wrapped,
		{Chain: 1, Address: chain.NewAddress(bytes.Repeat([]byte{7}, 20))}, // the oracle refuses it
		{Chain: 8453, Address: chain.NativeCoin(chain.EVM)},
		{Chain: chain.Solana, Address: chain.NativeCoin(chain.SVM)},
		{Chain: 1}, // not a token
		{Chain: 1, Address: chain.NewAddress(append(bytes.Repeat([]byte{7}, 20), wrapped.Address.Bytes()...))}, // an order's arbitrary terms
	})
	if !errors.Is(err, down) {
		t.Errorf("error = %v, want that of the chain that failed", err)
	}
	want := big.NewRat(300_012_345_678, 100_000_000)
	if len(prices) != 2 || prices[coin].Cmp(want) != 0 || prices[wrapped].Cmp(want) != 0 {
		t.Errorf("prices = %v, want %v for the coin and its wrapped form alone", prices, want)
	}
}

func TestOraclesAreAddressesOfDocumentedChains(t *testing.T) {
	for id, text := range oracles {
		c, documented := chain.Documented().Chain(id)
		if _, err := chain.ParseAddress(text, chain.EVM); err != nil || !documented || c.WrappedCoin.IsAbsent() {
			t.Errorf("oracle of chain %d at %s: %v, want an address on a documented chain with a wrapped coin", id, text, err)
		}
	}
}
