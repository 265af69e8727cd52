package chain

import (
	"math/big"

	"github.com/holiman/uint256"
)

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
