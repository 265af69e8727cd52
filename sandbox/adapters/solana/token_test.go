package solana_test

import (
	"slices"
	"testing"

	"crossgate/chain"
	sandbox "crossgate/sandbox/solana"
	"crossgate/token"
)

func TestReadTokens(t *testing.T) {
	w := newWorld(t)
	var mints []chain.Address
	for _, each := range sandbox.Tokens {
		mints = append(mints, chain.NewAddress(each.Mint[:]))
	}
	notMints := []chain.Address{
		chain.NewAddress(onEVM), chain.NativeCoin(chain.SVM), chain.NewAddress(maker.Key[:]), chain.NewAddress(slices.Repeat([]byte{9}, 32)),
	}
	c := w.chain()
	var readings []token.Reading
	var err error
	trips := w.tripsOf(func() { readings, err = c.ReadTokens(t.Context(), slices.Concat(mints, notMints)) })
	if err != nil || len(readings) != len(mints)+len(notMints) || trips != 1 {
		t.Fatalf("ReadTokens = %+v, %v in %d round trips", readings, err, trips)
	}
	for i, each := range sandbox.Tokens {
		got := readings[i]
		if got.Decimals == nil || int(*got.Decimals) != each.Decimals || got.Name != each.Name {
			t.Errorf("ReadTokens of %s = %+v, want %q with %d decimals", each.Mint, got, each.Name, each.Decimals)
		}
	}
	for i, got := range readings[len(mints):] {
		if got != (token.Reading{IsSingle: true}) {
			t.Errorf("ReadTokens of %s, which is no mint = %+v", notMints[i], got)
		}
	}
}

// TestReadTokensReadsVeryMany needs more accounts than a node gives at once.
func TestReadTokensReadsVeryMany(t *testing.T) {
	w := newWorld(t)
	mints := slices.Repeat([]chain.Address{chain.NewAddress(usdc.Mint[:])}, 120)
	readings, err := w.chain().ReadTokens(t.Context(), mints)
	if err != nil || len(readings) != len(mints) || readings[119].Symbol != "USDC" {
		t.Errorf("ReadTokens of %d mints = %d readings, %v", len(mints), len(readings), err)
	}
	if readings, err := w.chain().ReadTokens(t.Context(), nil); err != nil || len(readings) != 0 {
		t.Errorf("ReadTokens of nothing = %+v, %v", readings, err)
	}
}
