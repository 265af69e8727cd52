package chain

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"crossgate/internal/must"
)

func TestParseAmount(t *testing.T) {
	const largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935"
	for text, valid := range map[string]bool{
		"0":                     true,
		"17992800":              true,
		"000000017":             true,
		largest:                 true,
		largest + "0":           false,
		strings.Repeat("0", 79): false,
		"115792089237316195423570985008687907853269984665640564039457584007913129639936": false,
		"":     false,
		"-1":   false,
		"+1":   false,
		"1.5":  false,
		"1e18": false,
		"0x10": false,
		" 1":   false,
		"١":    false,
	} {
		if _, err := ParseAmount(text); (err == nil) != valid {
			t.Errorf("ParseAmount(%q) = %v, want valid %v", text, err, valid)
		}
	}
}

func TestParseQuantity(t *testing.T) {
	for text, want := range map[string]string{
		"0x": "", "0x0": "0", "0xfff": "4095", "0xg": "", "17": "17",
		"0x" + strings.Repeat("0", 63) + "f": "15", "0x" + strings.Repeat("0", 65): "",
	} {
		if got, err := ParseQuantity(text); (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("ParseQuantity(%q) = %s, %v, want %q", text, got, err, want)
		}
	}
	for _, none := range []*big.Int{nil, big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 256)} {
		if got, err := AmountFromBig(none); err == nil {
			t.Errorf("AmountFromBig(%v) = %s, want an error", none, got)
		}
	}
}

func TestAmountArithmeticStaysInRange(t *testing.T) {
	var nothing Amount
	most := nothing.Sub(NewAmount(1))
	if !most.IsZero() {
		t.Errorf("0 - 1 = %s, want 0", most)
	}
	largest := AmountFromBytes([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	if got := largest.Add(NewAmount(1)); got != largest {
		t.Errorf("largest + 1 = %s, want %s", got, largest)
	}
	if got := NewRatio(big.NewInt(2), big.NewInt(1), 0).Of(largest); got != largest {
		t.Errorf("largest × 2 = %s, want %s", got, largest)
	}
	if got := NewAmount(7).MulDiv(1, 0); !got.IsZero() {
		t.Errorf("7 × 1 / 0 = %s, want 0", got)
	}
}

func TestAmountMulDivEqualsBigArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 0, 28).Draw(t, "raw")
		numerator := rapid.Uint64Range(0, 20_000).Draw(t, "numerator")
		denominator := rapid.Uint64Range(1, 20_000).Draw(t, "denominator")
		a := AmountFromBytes(raw)
		want := new(big.Int).Mul(a.Big(), new(big.Int).SetUint64(numerator))
		want.Quo(want, new(big.Int).SetUint64(denominator))
		if got := a.MulDiv(numerator, denominator).Big(); got.Cmp(want) != 0 {
			t.Errorf("%s × %d / %d = %s, want %s", a, numerator, denominator, got, want)
		}
	})
}

func TestRatiosEqualBigArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := func(name string, least int) []byte { return rapid.SliceOfN(rapid.Byte(), least, 12).Draw(t, name) }
		a, numerator := AmountFromBytes(bytes("raw", 0)), new(big.Int).SetBytes(bytes("numerator", 0))
		denominator := new(big.Int).Add(new(big.Int).SetBytes(bytes("denominator", 0)), big.NewInt(1))
		exponent := rapid.IntRange(-45, 10).Draw(t, "exponent")
		exact := new(big.Rat).Mul(new(big.Rat).SetInt(a.Big()), new(big.Rat).SetFrac(numerator, denominator))
		scale := new(big.Rat).SetInt(powerOfTen(max(exponent, -exponent)))
		if exponent < 0 {
			scale.Inv(scale)
		}
		exact.Mul(exact, scale)
		r := NewRatio(numerator, denominator, exponent)
		if down := new(big.Int).Quo(exact.Num(), exact.Denom()); r.Of(a).Big().Cmp(down) != 0 {
			t.Errorf("%s × %s rounded down = %s, want %s", a, exact, r.Of(a), down)
		}
		if nearest := exact.FloatString(0); r.Round(a).String() != nearest {
			t.Errorf("%s × %s rounded = %s, want %s", a, exact, r.Round(a), nearest)
		}
	})
	enormous := new(big.Int).Exp(big.NewInt(10), big.NewInt(100), nil)
	if got := NewRatio(enormous, big.NewInt(1), -100).Of(NewAmount(9)); got != NewAmount(9) {
		t.Errorf("9 × 10^100 / 10^100 = %s, want 9", got)
	}
	if got := NewRatio(big.NewInt(-1), big.NewInt(1), 0).Of(NewAmount(9)); !got.IsZero() {
		t.Errorf("9 × -1 = %s, want nothing", got)
	}
}

func TestAmountTexts(t *testing.T) {
	for _, text := range []string{"0", "9", "18446744073709551615", "18446744073709551616", "2000723290779000000000000000000"} {
		a := must.Get(ParseAmount(text))(t)
		if got := string(a.AppendDecimal(nil)); got != text || a.String() != text {
			t.Errorf("%s is written %q and %q", text, got, a)
		}
	}
	if got := NewAmount(1_500_000).Units(6); got.Cmp(big.NewRat(3, 2)) != 0 {
		t.Errorf("1500000 with 6 decimals = %s, want 3/2", got)
	}
}
