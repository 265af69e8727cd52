package wire

import (
	"math/big"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
)

func TestAppendLocked(t *testing.T) {
	give := token.Key{Chain: base, Address: account(0x83)}
	coin := token.Key{Chain: chain.Tron, Address: chain.NativeCoin(chain.TVM)}
	locked := []order.LockedChain{
		{Chain: base, Tokens: []order.LockedToken{{
			Token: give.Address, Amount: amount(t, "35985601"),
			Targets: []order.LockedTarget{
				{Chain: polygon, Amount: amount(t, "17992800"), Orders: []order.ID{hash(1)}},
				{Chain: chain.Solana, Amount: amount(t, "17992801"), Orders: []order.ID{hash(2), hash(3)}},
			},
		}}},
		{Chain: chain.Tron, Tokens: []order.LockedToken{{
			Token: coin.Address, Amount: amount(t, "7"),
			Targets: []order.LockedTarget{{Chain: base, Amount: amount(t, "7"), Orders: []order.ID{hash(4)}}},
		}}},
	}
	worth := Worth{
		Tokens: map[token.Key]token.Token{
			give: usdc,
			coin: {Decimals: 6, Name: "TRON", Symbol: "TRX", LogoURI: "https://logos.example/trx.png"},
		},
		USD: map[token.Key]*big.Rat{give: big.NewRat(9998, 10_000)},
	}
	checkGolden(t, "locked", documented.AppendLocked(nil, locked, worth))
	if got := string(documented.AppendLocked(nil, nil, Worth{})); got != "[]" {
		t.Errorf("nothing locked is written %s, want []", got)
	}
}

func TestUnitsAreExact(t *testing.T) {
	for _, test := range []struct {
		amount   string
		decimals uint8
		want     string
	}{
		{"0", 18, "0"},
		{"1", 0, "1"},
		{"1", 18, "0.000000000000000001"},
		{"1500000", 6, "1.5"},
		{"1000000", 6, "1"},
		{"123456789", 2, "1234567.89"},
		{"100", 3, "0.1"},
		{"115792089237316195423570985008687907853269984665640564039457584007913129639935", 18, "115792089237316195423570985008687907853269984665640564039457.584007913129639935"},
	} {
		w := &writer{}
		w.units(amount(t, test.amount), token.Token{Decimals: test.decimals, Symbol: "T"})
		if got := string(w.json); got != test.want {
			t.Errorf("%s with %d decimals is written %s, want %s", test.amount, test.decimals, got, test.want)
		}
	}
}

func TestValueIsRoundedToSixDecimals(t *testing.T) {
	for _, test := range []struct {
		amount string
		price  *big.Rat
		want   string
	}{
		{"1000000", big.NewRat(1, 1), "1"},
		{"1200000000", big.NewRat(1, 1), "1200"},
		{"1", big.NewRat(1, 2), "0.000001"},
		{"1", big.NewRat(1, 3), "0"},
		{"1000000", big.NewRat(1, 3), "0.333333"},
	} {
		w := &writer{}
		w.value(amount(t, test.amount), token.Token{Decimals: 6, Symbol: "T"}, test.price)
		if got := string(w.json); got != test.want {
			t.Errorf("%s at %v is worth %s, want %s", test.amount, test.price, got, test.want)
		}
	}
}
