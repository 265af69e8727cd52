package compare

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/proxy/pages"
	"crossgate/proxy/swaps"
	"crossgate/proxy/web"
	"crossgate/quote"
	"crossgate/token"
)

// compared is a venue that quoted, as a row of the comparison.
type compared struct {
	Name, Way  string
	Amount     string // in whole tokens, with equally many decimals in all rows
	Exact      string
	USD        string // empty if no price is known
	Difference string // from the chosen one in percent with its sign; empty for the chosen one
	Share      string // length of the bar: position between the smallest and the largest amount in percent
	Took       string
	Won        bool
	Simulated  bool
	Reason     string // why it cannot be chosen although it quoted
	units      *big.Rat
}

var verdictWords = map[quote.Verdict]string{quote.Refused: "refused", quote.Silent: "no quote in time", quote.LeftOut: "not asked"}

// rowsOf returns the venues that quoted, the chosen one first, the rest by what they pay.
func rowsOf(c *swaps.Comparison) []compared {
	quoted := slices.DeleteFunc(slices.Clone(c.Asked), func(one quote.Asked) bool {
		return verdictWords[one.Verdict] != "" || one.AmountOut.IsZero()
	})
	if len(quoted) == 0 {
		return nil
	}
	slices.SortStableFunc(quoted, func(a, b quote.Asked) int { // the winner has the lowest verdict, all others the same
		return cmp.Or(cmp.Compare(a.Verdict, b.Verdict), b.Net.Cmp(a.Net))
	})
	byNet := func(a, b quote.Asked) int { return a.Net.Cmp(b.Net) }
	chosen, least := pages.RatOf(quoted[0].Net), pages.RatOf(slices.MinFunc(quoted, byNet).Net)
	largest := pages.RatOf(slices.MaxFunc(quoted, byNet).Net)
	places := placesFor(largest, int(c.Out.Token.Decimals))
	rows := make([]compared, len(quoted))
	for i, one := range quoted {
		units := pages.RatOf(one.Net)
		exact := pages.AmountOf(one.Net, c.Out.Token).Exact
		rows[i] = compared{
			Name: one.Venue, Way: wayWords[one.Way], Amount: aligned(exact, places), Exact: exact,
			Share: pages.Percents(100 * wayBetween(least, units, largest)), Took: fmt.Sprintf("%.0f ms", float64(one.Took.Microseconds())/1000),
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

// wayBetween returns the position of units between least and largest, from 0 to 1, which it is if these are equal.
func wayBetween(least, units, largest *big.Rat) float64 {
	if least.Cmp(largest) == 0 {
		return 1
	}
	return ratio(new(big.Rat).Sub(units, least), new(big.Rat).Sub(largest, least))
}

func ratio(a, b *big.Rat) float64 {
	if b.Sign() == 0 {
		return 0
	}
	share, _ := new(big.Rat).Quo(a, b).Float64()
	return share
}

func differenceOf(units, chosen *big.Rat) string {
	text := fmt.Sprintf("%+.2f %%", 100*(ratio(units, chosen)-1))
	if text == "+0.00 %" || text == "-0.00 %" {
		return "0.00 %"
	}
	return strings.Replace(text, "-", "−", 1)
}

// shownDigits is how many digits the largest amount is shown with, or more if needed for two decimals.
const shownDigits = 7

// placesFor returns the number of decimals to show amounts with so that they differ.
func placesFor(largest *big.Rat, decimals int) int {
	digits := len(new(big.Int).Quo(largest.Num(), largest.Denom()).String())
	return min(decimals, max(2, shownDigits-digits+decimals))
}

// aligned formats an exact amount with a fixed number of decimals, rounded down.
func aligned(exact string, places int) string {
	whole, fraction, _ := strings.Cut(exact, ".")
	return web.Joined(whole, (fraction + strings.Repeat("0", places))[:places])
}

// greatLoss is the loss, in percent of the input's value, from which the page warns of it before a signature.
const greatLoss = 5

// impactOf describes by market prices how much less than the input the venue pays, and returns the loss if it is great.
func impactOf(priced bool, in, out *float64) (text, loss string) {
	if !priced || in == nil || out == nil || *in <= 0 {
		return "unknown: not both tokens have a price", ""
	}
	percent := 100 * (*in - *out) / *in
	switch {
	case percent >= 0.005:
		return fmt.Sprintf("%.2f %%", percent), lossOf(percent)
	case percent <= -0.005:
		return fmt.Sprintf("none: %.2f %% in your favour", -percent), ""
	}
	return "below 0.01 %", ""
}

// lossOf formats a loss; empty unless it is great.
func lossOf(percent float64) string {
	if percent < greatLoss {
		return ""
	}
	return fmt.Sprintf("%.2f %%", percent)
}

// valuesOf describes the value of both sides before the protocol fee, empty unless both have prices.
func valuesOf(priced bool, in, out *float64) string {
	if !priced || in == nil || out == nil {
		return ""
	}
	return pages.UsdText(*out) + " for " + pages.UsdText(*in)
}

// recipientOf returns the recipient if it is not the signer: the author of a link to the page may have chosen both.
func recipientOf(recipient, sender string) pages.Fact {
	if strings.EqualFold(recipient, sender) {
		return pages.Fact{}
	}
	return pages.Fact{Name: "Recipient", Text: recipient, IsID: true}
}

// affiliateOf describes the affiliate and share that a link pays, empty if none.
func affiliateOf(form url.Values) string {
	percent, recipient := form.Get("affiliateFeePercent"), form.Get("affiliateFeeRecipient")
	if strings.Trim(percent, "0.") == "" {
		return ""
	}
	return percent + " % to " + recipient
}

func slippageOf(e quote.Estimate) string {
	text := percentText(e.SlippagePercent)
	if e.SlippagePercent != e.RecommendedSlippage {
		text += ", " + percentText(e.RecommendedSlippage) + " recommended"
	}
	return text
}

func percentText(percent float64) string { return strconv.FormatFloat(percent, 'f', -1, 64) + " %" }

func routeOf(e quote.Estimate) string {
	at := slices.IndexFunc(e.Asked, func(a quote.Asked) bool { return a.Verdict == quote.Won })
	if at < 0 {
		return "not known"
	}
	return e.Asked[at].Venue + ", " + wayWords[e.Way]
}

var wayWords = map[quote.Way]string{quote.Routed: "through the protocol's router", quote.Direct: "through the venue's own router"}

func feeOf(e quote.Estimate, out token.Token) string {
	if e.ProtocolFee.IsZero() {
		return "none"
	}
	text := pages.AmountOf(e.ProtocolFee, out).Text + " " + out.Symbol
	if e.ProtocolFeeUSD != nil {
		text += ", " + pages.UsdText(*e.ProtocolFeeUSD)
	}
	return text
}

var gasWords = map[chain.Family]string{chain.EVM: "gas", chain.TVM: "energy"}

func gasOf(fee *quote.Fee, on chain.Chain) string {
	if fee == nil {
		return "unknown: the chain's fees could not be read"
	}
	text := "no price"
	if fee.USD != nil {
		text = pages.UsdText(max(*fee.USD, math.SmallestNonzeroFloat64)) // it may be rounded to zero
	}
	text += ", " + web.AmountOf(fee.Total.String(), int(on.Coin.Decimals)).Text + " " + on.Coin.Symbol
	if on.Family != chain.SVM {
		text += " for " + web.Count(fee.GasLimit) + " " + gasWords[on.Family]
	}
	return text
}
