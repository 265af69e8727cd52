package venue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/chain"
)

// digits is a whole number that venues write as a JSON string or as a JSON number. Null has none.
type digits string

func (d *digits) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(raw, []byte("null")) {
		*d = ""
		return nil
	}
	text := string(bytes.Trim(raw, `"`))
	if strings.Contains(text, `\`) { // which digits have no need of
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	}
	if _, err := chain.ParseAmount(text); err != nil {
		return err
	}
	*d = digits(text)
	return nil
}

// amount is absent without digits.
func (d digits) amount() chain.Amount {
	a, err := chain.ParseAmount(string(d))
	if err != nil {
		return chain.Amount{}
	}
	return a
}

// gas is zero for a missing or absurd figure.
func (d digits) gas() uint64 {
	n, _ := d.amount().Uint64()
	return n
}

// wholeBps is all of an amount, in basis points.
const wholeBps = 10_000

// maxPercentText bounds a percentage's text: decimals of any exponent would be as large as the exponent.
const maxPercentText = 20

// percentOf returns floor(a × percent / 100).
func percentOf(a chain.Amount, percent decimal.Decimal) (chain.Amount, error) {
	share := decimal.NewFromBigInt(a.Big(), 0).Mul(percent).Shift(-2).Floor()
	return chain.AmountFromBig(share.BigInt())
}

// lessPercent returns a − floor(a × percent / 100).
func lessPercent(a chain.Amount, percent decimal.Decimal) (chain.Amount, error) {
	share, err := percentOf(a, percent)
	return a.Sub(share), err
}

// parsePercent reads a percentage from 0 to 100 in plain decimal notation.
func parsePercent(text json.Number) (decimal.Decimal, error) {
	if text == "" {
		return decimal.Zero, nil
	}
	if len(text) > maxPercentText || bytes.ContainsAny([]byte(text), "eE") {
		return decimal.Zero, errors.New("percentage in an unusual notation")
	}
	percent, err := decimal.NewFromString(string(text))
	if err != nil {
		return decimal.Zero, fmt.Errorf("percentage: %w", err)
	}
	if percent.IsNegative() || percent.GreaterThan(decimal.NewFromInt(100)) {
		return decimal.Zero, fmt.Errorf("percentage of %s", percent)
	}
	return percent, nil
}

// bps returns a percentage in whole basis points, rounded down: a limit never gets looser on the way.
func bps(percent decimal.Decimal) int { return int(percent.Shift(2).IntPart()) }

// fraction writes a percentage as a part of one.
func fraction(percent decimal.Decimal) string { return percent.Shift(-2).String() }

// hexDigits is a whole number that venues write as 0x and hex digits, kept as digits.
type hexDigits digits

func (h *hexDigits) UnmarshalText(text []byte) error {
	number, valid := new(big.Int).SetString(strings.TrimPrefix(string(text), "0x"), 16)
	if !bytes.HasPrefix(text, []byte("0x")) || !valid {
		return errors.New("number is not 0x and hex digits")
	}
	amount, err := chain.AmountFromBig(number)
	if err != nil {
		return err
	}
	*h = hexDigits(amount.String())
	return nil
}
