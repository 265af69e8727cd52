package pages

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"crossgate/chain"
	"crossgate/proxy/web"
)

// rateOf says what one whole token of each side is in the other.
func rateOf(in, out *big.Rat, inSymbol, outSymbol string) string {
	if in.Sign() == 0 || out.Sign() == 0 {
		return "not known"
	}
	return "1 " + inSymbol + " for " + web.Significant(new(big.Rat).Quo(out, in)) + " " + outSymbol +
		", 1 " + outSymbol + " for " + web.Significant(new(big.Rat).Quo(in, out)) + " " + inSymbol
}

// impactOf says how much less than what is given the venue pays, by the prices of sources.
func impactOf(priced bool, e estimateJSON) string {
	in, out := e.TokenIn.USD, e.TokenOut.USD
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

func slippageOf(e estimateJSON) string {
	text := percentText(e.Slippage)
	if e.Slippage != e.RecommendedSlippage {
		text += ", " + percentText(e.RecommendedSlippage) + " recommended"
	}
	return text
}

func percentText(percent float64) string { return strconv.FormatFloat(percent, 'f', -1, 64) + " %" }

// routeOf says by which venue and whose contract.
func routeOf(answer explanationJSON) string {
	at := slices.IndexFunc(answer.Aggregators, func(a askedJSON) bool { return a.Verdict == "won" })
	if at < 0 {
		return "not known"
	}
	return answer.Aggregators[at].Name + ", " + wayWords[answer.Execution]
}

// wayWords say whose contract a transaction calls.
var wayWords = map[string]string{"router": "through the protocol's router", "direct": "through the venue's own router"}

func feeOf(units string, decimals int, symbol, usd string) string {
	if units == "" || units == "0" {
		return "none"
	}
	text := web.AmountOf(units, decimals).Text + " " + symbol
	if value, err := strconv.ParseFloat(usd, 64); err == nil {
		text += ", " + usdText(value)
	}
	return text
}

// gasWords are what the work of a transaction is counted in.
var gasWords = map[chain.Family]string{chain.EVM: "gas", chain.TVM: "energy", chain.SVM: "compute units"}

// gasOf says what the transaction itself costs on a chain.
func gasOf(e estimateJSON, on chain.Chain) string {
	if e.Fee == nil {
		return "not known: the chain's fees could not be read"
	}
	text := "no price"
	if e.Fee.USD != nil {
		text = usdText(*e.Fee.USD)
	}
	text += ", " + web.AmountOf(e.Fee.Total, int(on.Coin.Decimals)).Text + " " + on.Coin.Symbol
	if limit, err := strconv.ParseUint(e.Fee.Details.GasLimit, 10, 64); err == nil {
		text += " for " + web.Count(limit) + " " + gasWords[on.Family]
	}
	return text
}
