package chain

import (
	"math/big"

	"github.com/holiman/uint256"
)

// Ratio is what amounts are multiplied by, a fraction of two numbers of 256 bits; zero without a denominator.
type Ratio struct{ numerator, denominator uint256.Int }

// NewRatio returns numerator / denominator × 10^exponent, as exactly as 256 bits allow; zero below zero.
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

// Of returns the ratio of an amount, rounded down, saturating at the largest amount.
func (r Ratio) Of(a Amount) Amount {
	var result Amount
	if _, overflow := result.n.MulDivOverflow(&a.n, &r.numerator, &r.denominator); overflow {
		result.n.SetAllOne()
	}
	return result
}

// Round is Of, rounded to the nearest amount, and up in the middle.
func (r Ratio) Round(a Amount) Amount {
	var rest, more uint256.Int
	rest.MulMod(&a.n, &r.numerator, &r.denominator)
	if more.Sub(&r.denominator, &rest); rest.IsZero() || rest.Lt(&more) {
		return r.Of(a)
	}
	return r.Of(a).Add(NewAmount(1))
}

var powersOfTen = func() (powers [40]*big.Int) { // of the exponents that are usual
	for i := range powers {
		powers[i] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	}
	return powers
}()

// powerOfTen is not to be changed.
func powerOfTen(exponent int) *big.Int {
	if exponent < len(powersOfTen) {
		return powersOfTen[exponent]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}
