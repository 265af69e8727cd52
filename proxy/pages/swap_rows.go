package pages

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/proxy/swaps"
	"crossgate/proxy/web"
	"crossgate/quote"
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
var verdictWords = map[quote.Verdict]string{quote.Refused: "refused", quote.Silent: "no quote in time", quote.LeftOut: "not asked"}

// rowsOf are the venues that quoted, the chosen one first and then by what they pay.
func rowsOf(c *swaps.Comparison) []compared {
	decimals := int(c.Out.Token.Decimals)
	quoted := slices.DeleteFunc(slices.Clone(c.Asked), func(one quote.Asked) bool {
		return verdictWords[one.Verdict] != "" || one.AmountOut.IsZero()
	})
	if len(quoted) == 0 {
		return nil
	}
	slices.SortStableFunc(quoted, func(a, b quote.Asked) int { // a winner has the lowest verdict, and the others one
		return cmp.Or(cmp.Compare(a.Verdict, b.Verdict), b.Net.Cmp(a.Net))
	})
	chosen, largest := ratOf(quoted[0].Net), new(big.Rat)
	for _, one := range quoted {
		if units := ratOf(one.Net); units.Cmp(largest) > 0 {
			largest = units
		}
	}
	places := placesFor(largest, decimals)
	rows := make([]compared, len(quoted))
	for i, one := range quoted {
		units := ratOf(one.Net)
		rows[i] = compared{
			Name: one.Venue, Way: wayWords[one.Way], Amount: aligned(units, decimals, places), Exact: amountOf(one.Net, c.Out.Token).Exact,
			Share: percents(100 * ratio(units, largest)), Took: fmt.Sprintf("%.0f ms", float64(one.Took.Microseconds())/1000),
			Won: one.Verdict == quote.Won, Simulated: one.Result != nil && one.Result.Measured, units: units,
		}
		if !rows[i].Won {
			rows[i].Difference = differenceOf(units, chosen)
			if one.Err != nil {
				rows[i].Reason = one.Err.Error()
			}
		}
	}
	return rows
}

func ratOf(a chain.Amount) *big.Rat { return new(big.Rat).SetInt(a.Big()) }

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
