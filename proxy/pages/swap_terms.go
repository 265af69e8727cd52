package pages

import (
	"fmt"
	"slices"
	"strconv"

	"crossgate/chain"
	"crossgate/proxy/web"
	"crossgate/quote"
	"crossgate/token"
)

// impactOf says how much less than what is given the venue pays, by the prices of sources.
func impactOf(priced bool, in, out *float64) string {
	if !priced || in == nil || out == nil || *in <= 0 {
		return "not known: no source prices both tokens"
	}
	percent := 100 * (*in - *out) / *in
	switch {
	case percent >= 0.005:
		return fmt.Sprintf("%.2f %%: %s for %s", percent, usdText(*out), usdText(*in))
	case percent <= -0.005:
		return fmt.Sprintf("none: %s for %s, %.2f %% more", usdText(*out), usdText(*in), -percent)
	}
	return fmt.Sprintf("below 0.01 %%: %s for %s", usdText(*out), usdText(*in))
}

func slippageOf(e quote.Estimate) string {
	text := percentText(e.SlippagePercent)
	if e.SlippagePercent != e.RecommendedSlippage {
		text += ", " + percentText(e.RecommendedSlippage) + " recommended"
	}
	return text
}

func percentText(percent float64) string { return strconv.FormatFloat(percent, 'f', -1, 64) + " %" }

// routeOf says by which venue and whose contract.
func routeOf(e quote.Estimate) string {
	at := slices.IndexFunc(e.Asked, func(a quote.Asked) bool { return a.Verdict == quote.Won })
	if at < 0 {
		return "not known"
	}
	return e.Asked[at].Venue + ", " + wayWords[e.Way]
}

// wayWords say whose contract a transaction calls.
var wayWords = map[quote.Way]string{quote.Routed: "through the protocol's router", quote.Direct: "through the venue's own router"}

func feeOf(e quote.Estimate, out token.Token) string {
	if e.ProtocolFee.IsZero() {
		return "none"
	}
	text := amountOf(e.ProtocolFee, out).Text + " " + out.Symbol
	if e.ProtocolFeeUSD != nil {
		text += ", " + usdText(*e.ProtocolFeeUSD)
	}
	return text
}

// gasWords are what the work of a transaction is counted in.
var gasWords = map[chain.Family]string{chain.EVM: "gas", chain.TVM: "energy"}

// gasOf says what the transaction itself costs on a chain.
func gasOf(fee *quote.Fee, on chain.Chain) string {
	if fee == nil {
		return "not known: the chain's fees could not be read"
	}
	text := "no price"
	if fee.USD != nil {
		text = usdText(*fee.USD)
	}
	text += ", " + web.AmountOf(fee.Total.String(), int(on.Coin.Decimals)).Text + " " + on.Coin.Symbol
	if on.Family != chain.SVM {
		text += " for " + web.Count(fee.GasLimit) + " " + gasWords[on.Family]
	}
	return text
}
