package chain

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/holiman/uint256"
)

// Amount is a number of a token's smallest units: 256 bits, never negative.
type Amount struct{ n uint256.Int }

// NewAmount returns n as an amount.
func NewAmount(n uint64) Amount { return Amount{*uint256.NewInt(n)} }

// MaxAmount is the largest amount.
var MaxAmount = Amount{*new(uint256.Int).SetAllOne()}

// AmountFromBytes decodes big-endian bytes; of more than 32 it keeps the low 32.
func AmountFromBytes(raw []byte) Amount {
	var a Amount
	a.n.SetBytes(raw)
	return a
}

// AmountFromBig converts b, which must fit 256 bits and not be negative.
func AmountFromBig(b *big.Int) (Amount, error) {
	if b == nil || b.Sign() < 0 {
		return Amount{}, errors.New("negative or missing amount")
	}
	n, overflow := uint256.FromBig(b)
	if overflow {
		return Amount{}, fmt.Errorf("%s exceeds 256 bits", b)
	}
	return Amount{*n}, nil
}

// ParseAmount parses decimal digits only: no sign, no fraction, no exponent. Errors hold a copy of text, which callers
// need not allocate.
func ParseAmount(text string) (Amount, error) {
	const maxDigits = 78 // of 2^256 - 1
	if text == "" || len(text) > maxDigits {
		return Amount{}, fmt.Errorf("%.90q is not a whole number of at most %d digits", strings.Clone(text), maxDigits)
	}
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			return Amount{}, fmt.Errorf("%q is not a whole number", strings.Clone(text))
		}
	}
	var n uint256.Int
	if err := n.SetFromDecimal(text); err != nil {
		return Amount{}, fmt.Errorf("%q exceeds 256 bits", strings.Clone(text))
	}
	return Amount{n}, nil
}

// ParseQuantity parses 0x and hex digits, or decimal digits like ParseAmount.
func ParseQuantity(text string) (Amount, error) {
	digits, isHex := strings.CutPrefix(text, "0x")
	if !isHex {
		return ParseAmount(text)
	}
	raw, err := hex.DecodeString(strings.Repeat("0", len(digits)%2) + digits)
	if err != nil || len(raw) == 0 || len(raw) > 32 {
		return Amount{}, fmt.Errorf("%.80q is not a number of 256 bits in hex digits", strings.Clone(text))
	}
	return AmountFromBytes(raw), nil
}

// Big returns the amount as a new big integer.
func (a Amount) Big() *big.Int { return a.n.ToBig() }

// AppendTo appends the amount's bytes to b, big-endian and without leading zeros.
func (a Amount) AppendTo(b []byte) []byte { return append(b, a.n.Bytes()...) }

// Bytes32 returns the amount as 32 bytes, big-endian.
func (a Amount) Bytes32() [32]byte { return a.n.Bytes32() }

// Hex formats the amount as 0x and hex digits without leading zeros.
func (a Amount) Hex() string { return a.n.Hex() }

// String formats the amount in decimal digits.
func (a Amount) String() string { return a.n.Dec() }

// IsZero reports whether the amount is zero.
func (a Amount) IsZero() bool { return a.n.IsZero() }

// Uint64 returns the amount if it fits 64 bits.
func (a Amount) Uint64() (value uint64, fits bool) {
	value, overflow := a.n.Uint64WithOverflow()
	return value, !overflow
}

// Cmp is negative if a is smaller than b, zero if they are equal, positive if a is larger.
func (a Amount) Cmp(b Amount) int { return a.n.Cmp(&b.n) }

// Add returns a + b, saturating at the largest amount.
func (a Amount) Add(b Amount) Amount {
	var sum Amount
	if _, overflow := sum.n.AddOverflow(&a.n, &b.n); overflow {
		sum.n.SetAllOne()
	}
	return sum
}

// Sub returns a - b, or zero if b is larger.
func (a Amount) Sub(b Amount) Amount {
	var rest Amount
	if _, underflow := rest.n.SubOverflow(&a.n, &b.n); underflow {
		return Amount{}
	}
	return rest
}

// MulDiv returns floor(a × numerator / denominator), saturating at the largest amount; zero if denominator is zero.
func (a Amount) MulDiv(numerator, denominator uint64) Amount {
	var result Amount
	if denominator == 0 {
		return result
	}
	if _, overflow := result.n.MulDivOverflow(&a.n, uint256.NewInt(numerator), uint256.NewInt(denominator)); overflow {
		result.n.SetAllOne()
	}
	return result
}

// Units returns the exact amount in whole tokens of the given decimals.
func (a Amount) Units(decimals uint8) *big.Rat {
	return new(big.Rat).SetFrac(a.Big(), powerOfTen(int(decimals)))
}

// Float64 returns the float64 nearest to the amount.
func (a Amount) Float64() float64 { return a.n.Float64() }

// AppendDecimal appends the decimal digits to dst.
func (a Amount) AppendDecimal(dst []byte) []byte {
	if small, fits := a.Uint64(); fits {
		return strconv.AppendUint(dst, small, 10)
	}
	return append(dst, a.n.Dec()...)
}

// Ratio is a factor for amounts, a fraction of two 256-bit numbers; zero if the denominator is zero.
type Ratio struct{ numerator, denominator uint256.Int }

// NewRatio returns numerator / denominator × 10^exponent, as exactly as 256 bits allow; zero unless both are positive.
func NewRatio(numerator, denominator *big.Int, exponent int) (r Ratio) {
	if numerator.Sign() <= 0 || denominator.Sign() <= 0 {
		return r
	}
	if exponent > 0 {
		numerator = new(big.Int).Mul(numerator, powerOfTen(exponent))
	} else {
		denominator = new(big.Int).Mul(denominator, powerOfTen(-exponent))
	}
	if excess := max(numerator.BitLen(), denominator.BitLen()) - 256; excess > 0 {
		numerator, denominator = new(big.Int).Rsh(numerator, uint(excess)), new(big.Int).Rsh(denominator, uint(excess))
	}
	r.numerator.SetFromBig(numerator)
	r.denominator.SetFromBig(denominator)
	return r
}

// Over returns a / b.
func (a Amount) Over(b Amount) Ratio { return Ratio{a.n, b.n} }

// Of returns the product of the ratio and an amount, rounded down, saturating at the largest amount.
func (r Ratio) Of(a Amount) Amount {
	var result Amount
	if _, overflow := result.n.MulDivOverflow(&a.n, &r.numerator, &r.denominator); overflow {
		result.n.SetAllOne()
	}
	return result
}

// Round is Of, but rounds to the nearest amount, halves up.
func (r Ratio) Round(a Amount) Amount {
	var rest, more uint256.Int
	rest.MulMod(&a.n, &r.numerator, &r.denominator)
	if more.Sub(&r.denominator, &rest); rest.IsZero() || rest.Lt(&more) {
		return r.Of(a)
	}
	return r.Of(a).Add(NewAmount(1))
}

var powersOfTen = func() (powers [40]*big.Int) { // for the usual exponents
	for i := range powers {
		powers[i] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	}
	return powers
}()

// powerOfTen returns a power that the caller must not change.
func powerOfTen(exponent int) *big.Int {
	if exponent < len(powersOfTen) {
		return powersOfTen[exponent]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}
