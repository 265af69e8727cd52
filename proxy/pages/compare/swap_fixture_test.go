package compare

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/proxy/swaps"
	"crossgate/quote"
)

type pricedJSON struct {
	Name, Amount string
	USD          *float64 `json:"approximateUsdValue"`
}

// comparisonIn is the comparison of an explanation and an estimate, if there is one.
func comparisonIn(t *testing.T, explanation, estimate []byte) *swaps.Comparison {
	t.Helper()
	x := decodeInto[struct {
		Error, Execution, MinAmount, Amount string
		QuotedAt                            time.Time
		Aggregators                         []struct {
			Name, Execution, Verdict, Reason, Amount, QuotedAmount string
			TookMs                                                 float64
			Simulated                                              bool
		}
	}](t, explanation)
	amount := func(text string) chain.Amount { return amountIn(text) }
	way := map[string]quote.Way{"router": quote.Routed, "direct": quote.Direct}
	c := &swaps.Comparison{Estimate: quote.Estimate{Way: way[x.Execution], MinOut: amount(x.MinAmount), QuotedAt: x.QuotedAt}}
	c.Out.Amount, c.Out.Token.Decimals = amount(x.Amount), 6
	if x.Error != "" {
		c.Err = errors.New(x.Error)
	}
	verdicts := map[string]quote.Verdict{"won": quote.Won, "outbid": quote.Outbid, "refused": quote.Refused, "silent": quote.Silent, "leftOut": quote.LeftOut}
	for _, a := range x.Aggregators {
		one := quote.Asked{
			Venue: a.Name, Way: way[a.Execution], Verdict: verdicts[a.Verdict], Took: time.Duration(a.TookMs * float64(time.Millisecond)),
			AmountOut: amount(a.QuotedAmount), Net: amount(a.Amount), Result: &quote.Result{Measured: a.Simulated},
		}
		if a.Reason != "" {
			one.Err = errors.New(a.Reason)
		}
		c.Asked = append(c.Asked, one)
	}
	if len(estimate) == 0 {
		return c
	}
	e := decodeInto[struct {
		Tx                            *struct{ Data, Value string }
		TokenIn, TokenOut             pricedJSON
		Slippage, RecommendedSlippage float64
		ProtocolFee                   string
		ProtocolFeeUSD                string `json:"protocolFeeApproximateUsdValue"`
		Fee                           *struct {
			Total   string
			Details struct{ GasLimit string }
			USD     *float64 `json:"approximateUsdValue"`
		} `json:"estimatedTransactionFee"`
		Compared []pricedJSON `json:"comparedAggregators"`
	}](t, estimate)
	c.In.Amount, c.In.USD, c.Out.USD = amount(e.TokenIn.Amount), e.TokenIn.USD, e.TokenOut.USD
	c.SlippagePercent, c.RecommendedSlippage, c.ProtocolFee = e.Slippage, e.RecommendedSlippage, amount(e.ProtocolFee)
	if usd, err := strconv.ParseFloat(e.ProtocolFeeUSD, 64); err == nil {
		c.ProtocolFeeUSD = &usd
	}
	if e.Fee != nil {
		limit, _ := strconv.ParseUint(e.Fee.Details.GasLimit, 10, 64)
		c.Fee = &quote.Fee{Total: amount(e.Fee.Total), GasLimit: limit, USD: e.Fee.USD}
	}
	for _, each := range e.Compared {
		c.Compared = append(c.Compared, quote.Compared{Name: each.Name, Amount: amount(each.Amount), USD: each.USD})
	}
	if e.Tx != nil {
		c.Tx.Data, _ = hex.DecodeString(strings.TrimPrefix(e.Tx.Data, "0x"))
		c.Tx.To, c.Tx.Value = chain.NewAddress(make([]byte, 20)), amount(e.Tx.Value)
	}
	return c
}
