package pages

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"crossgate/proxy/web"
)

// compared is a venue that quoted, as a row of the comparison.
type compared struct {
	Name, Way  string
	Amount     string // in whole tokens, with as many places as in all other rows
	Exact      string
	USD        string // empty: no price is known
	Difference string // from the chosen one, in percent with its sign; empty: it is the chosen one
	Share      string // of the largest amount in percent: the length of the bar, which begins at nothing
	Took       string
	Won        bool
	Simulated  bool
	Reason     string // why it cannot be chosen, though it quoted
	units      *big.Rat
}

// verdictWords are those of venues that are not compared.
var verdictWords = map[string]string{"refused": "refused", "silent": "no quote in time", "leftOut": "not asked"}

// rowsOf are the venues that quoted, the chosen one first and then by what they pay.
func rowsOf(answer explanationJSON, decimals int) []compared {
	var quoted []askedJSON
	for _, one := range answer.Aggregators {
		if _, isPassed := verdictWords[one.Verdict]; !isPassed && one.Amount != "" {
			quoted = append(quoted, one)
		}
	}
	if len(quoted) == 0 {
		return nil
	}
	slices.SortStableFunc(quoted, func(a, b askedJSON) int {
		if (a.Verdict == "won") != (b.Verdict == "won") {
			if a.Verdict == "won" {
				return -1
			}
			return 1
		}
		return unitsOf(b.Amount).Cmp(unitsOf(a.Amount))
	})
	chosen, largest := unitsOf(quoted[0].Amount), new(big.Rat)
	for _, one := range quoted {
		if units := unitsOf(one.Amount); units.Cmp(largest) > 0 {
			largest = units
		}
	}
	places := placesFor(largest, decimals)
	rows := make([]compared, len(quoted))
	for i, one := range quoted {
		units := unitsOf(one.Amount)
		rows[i] = compared{
			Name: one.Name, Way: wayWords[one.Execution], Amount: aligned(units, decimals, places), Exact: web.AmountOf(one.Amount, decimals).Exact,
			Share: fmt.Sprintf("%.2f", 100*ratio(units, largest)), Took: fmt.Sprintf("%.0f ms", one.TookMs),
			Won: one.Verdict == "won", Simulated: one.Simulated, units: units,
		}
		if !rows[i].Won {
			rows[i].Difference = differenceOf(units, chosen)
			rows[i].Reason = one.Reason
		}
	}
	return rows
}

// unitsOf is an amount of smallest units; nothing where it is none.
func unitsOf(text string) *big.Rat {
	if units, is := new(big.Rat).SetString(text); is {
		return units
	}
	return new(big.Rat)
}

func ratio(a, b *big.Rat) float64 {
	if b.Sign() == 0 {
		return 0
	}
	share, _ := new(big.Rat).Quo(a, b).Float64()
	return share
}

// differenceOf is how much more or less than the chosen amount another is.
func differenceOf(units, chosen *big.Rat) string {
	text := fmt.Sprintf("%+.2f %%", 100*(ratio(units, chosen)-1))
	if text == "+0.00 %" || text == "-0.00 %" {
		return "0.00 %"
	}
	return strings.Replace(text, "-", "−", 1)
}

// shownDigits is how many digits the largest amount is shown with, unless it takes more for two places.
const shownDigits = 7

// placesFor is how many places of a fraction amounts are shown with so that they can be told apart.
func placesFor(largest *big.Rat, decimals int) int {
	digits := len(new(big.Int).Quo(largest.Num(), largest.Denom()).String())
	return min(decimals, max(2, shownDigits-digits+decimals))
}

// aligned is an amount with so many places, rounded down.
func aligned(units *big.Rat, decimals, places int) string {
	digits := new(big.Int).Quo(units.Num(), units.Denom()).String()
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - decimals
	return web.Joined(web.Grouped(digits[:point]), digits[point:point+places])
}
