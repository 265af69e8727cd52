package web

import (
	"fmt"
	"io"
	"math/big"
	"net/url"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

// Swap is what the page of a comparison is made of.
type Swap struct {
	Form        url.Values // as the visitor filled it in
	Chains      []chain.Chain
	Listed      []Listed // tokens to choose from on the form's chain
	Explanation []byte   // the answer; nil when there was no question, or no answer
	Problem     *Problem
	In, Out     token.Token
	AmountIn    chain.Amount
	Path        string // of the API's answer, with its query
	Origin      string
	Now         time.Time
}

// Listed is a token that somebody vouches for.
type Listed struct{ Address, Symbol string }

type swapView struct {
	Swap
	Chain     string
	AmountIn  Amount
	InToken   tokenView
	OutToken  tokenView
	Answer    explanationJSON
	Amount    Amount
	MinAmount Amount
	Fee       Amount
	Bars      []bar
	Passed    []passed
	Scale     string // what the bars begin at, in words
	JSON      string
}

// bar is a venue that quoted.
type bar struct {
	Name, Execution string
	Amount          Amount
	Drop            string // percent below the best
	Won             bool
	Took            string
	Width           string // percent of the longest
	Simulated       bool
	Reason          string
}

// passed is a venue without a place in the comparison.
type passed struct{ Name, Verdict, Reason, Took string }

var verdictWords = map[string]string{
	"refused": "refused", "silent": "did not answer in time", "leftOut": "not asked",
}

// Swap writes the page of a comparison, or the form that leads to one.
func (p *Pages) Swap(to io.Writer, s Swap) error {
	v := swapView{Swap: s, InToken: tokenOf(s.In), OutToken: tokenOf(s.Out)}
	if s.Explanation != nil {
		answer, err := decode[explanationJSON](s.Explanation)
		if err != nil {
			return err
		}
		v.compare(answer)
		if id, err := chain.ParseID(s.Form.Get("chainId")); err == nil {
			v.Chain = p.chainName(id)
		}
		v.AmountIn, v.JSON = amountOf(s.AmountIn.String(), int(s.In.Decimals)), indented(s.Explanation)
	}
	return p.write(to, "swap", view{Title: "Compare a swap", At: "swap", Now: s.Now, Page: v})
}

func tokenOf(t token.Token) tokenView {
	return tokenView{Symbol: t.Symbol, Name: t.Name, Logo: t.LogoURI, Initial: initial(t.Symbol)}
}

func (v *swapView) compare(answer explanationJSON) {
	decimals := int(v.Out.Decimals)
	v.Answer = answer
	v.Amount, v.MinAmount = amountOf(answer.Amount, decimals), amountOf(answer.MinAmount, decimals)
	v.Fee = amountOf(answer.ProtocolFee, decimals)
	var amounts []*big.Rat
	for _, one := range answer.Aggregators {
		amount, quoted := new(big.Rat).SetString(one.Amount)
		took := fmt.Sprintf("%.0f ms", one.TookMs)
		if word, isPassed := verdictWords[one.Verdict]; isPassed || !quoted {
			v.Passed = append(v.Passed, passed{one.Name, word, one.Reason, took})
			continue
		}
		amounts = append(amounts, amount)
		v.Bars = append(v.Bars, bar{
			Name: one.Name, Execution: one.Execution, Amount: amountOf(one.Amount, decimals), Won: one.Verdict == "won",
			Took: took, Simulated: one.Simulated, Reason: one.Reason,
		})
	}
	v.scale(amounts)
}

// leastSpan is the share of the best below which differences are not stretched any further, percent.
const leastSpan = 0.05

// scale gives bars their lengths. Venues are often within a percent of each other, so that the scale begins a
// little below the worst of them and not at nothing; the page says so.
func (v *swapView) scale(amounts []*big.Rat) {
	if len(amounts) == 0 {
		return
	}
	best, worst := amounts[0], amounts[0]
	for _, a := range amounts {
		if a.Cmp(best) > 0 {
			best = a
		}
		if a.Cmp(worst) < 0 {
			worst = a
		}
	}
	span := max(percentBelow(worst, best)*1.25, leastSpan)
	span = min(span, 100)
	for i, a := range amounts {
		drop := percentBelow(a, best)
		v.Bars[i].Drop = fmt.Sprintf("%.2f", drop)
		v.Bars[i].Width = fmt.Sprintf("%.1f", max(100*(1-drop/span), 1))
	}
	v.Scale = fmt.Sprintf("%.2f", span)
}

func percentBelow(a, best *big.Rat) float64 {
	if best.Sign() == 0 {
		return 0
	}
	share, _ := new(big.Rat).Quo(a, best).Float64()
	return 100 * (1 - share)
}
