package web

import (
	"fmt"
	"io"
	"math/big"
	"net/url"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

// Swap is the content of a comparison's page.
type Swap struct {
	Form        url.Values // as the visitor filled it in
	Chains      []chain.Chain
	Listed      []Listed // tokens to choose from on the form's chain
	Explanation []byte   // JSON; nil when nothing was asked, or that failed
	Problem     *Problem
	In, Out     token.Token
	AmountIn    chain.Amount
	Path        string // of the quote in the API, with its query
	Origin      string
	Now         time.Time
}

// Listed is a token of the chain's list.
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
	Scale     string // percent below the best at which bars start
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

// passed is a venue that is not compared.
type passed struct{ Name, Verdict, Reason, Took string }

var verdictWords = map[string]string{
	"refused": "refused", "silent": "no quote in time", "leftOut": "not asked",
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

// leastSpan is the smallest percentage that the whole length of a bar can stand for.
const leastSpan = 0.05

// scale sets the lengths of bars. Quotes are often within a percent of each other, so the scale starts just below the
// worst of them instead of at zero; the page says so.
func (v *swapView) scale(amounts []*big.Rat) {
	if len(amounts) == 0 {
		return
	}
	best, worst := slices.MaxFunc(amounts, (*big.Rat).Cmp), slices.MinFunc(amounts, (*big.Rat).Cmp)
	span := min(max(percentBelow(worst, best)*1.25, leastSpan), 100)
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
