package pages

import (
	"io"
	"math/big"
	"net/url"
	"time"

	"crossgate/chain"
	"crossgate/proxy/web"
	"crossgate/token"
)

// Swap is the content of a comparison's page.
type Swap struct {
	Form        url.Values // as the visitor filled it in
	Chains      []chain.Chain
	Listed      []Listed       // tokens to choose from on the form's chain
	In, Out     *token.Listing // what the form names; nil: nothing, or not one token
	Faults      []Fault        // of the form
	Problem     *web.Problem
	Explanation []byte // JSON; nil when nothing was asked, or that failed
	Estimate    []byte // JSON; nil beside an explanation: it says why there is none
	AmountIn    chain.Amount
	Priced      bool   // sources price both tokens, so that their values can be compared
	Path        string // of the quote in the API, with its query
	Origin      string
	Now         time.Time
}

// Listed is a token of the chain's list: Text names it in a form.
type Listed struct{ Text, Symbol, Name string }

// Fault is what is wrong with a field of a form, as a sentence; Choices are what it may have meant.
type Fault struct {
	Field, Message string
	Choices        []Choice
}

// Choice is a token, and the page with it in the form.
type Choice struct {
	Token token.Listing
	URL   string
}

type swapView struct {
	Swap
	Wrong     map[string]*faultView // by field
	Chain     string
	TokenIn   tokenField
	TokenOut  tokenField
	AmountIn  web.Amount
	Amount    web.Amount
	USD       string // what Amount is worth; empty: no price is known
	MinAmount web.Amount
	Quoted    time.Time
	Error     string // why there is no transaction; empty: there is one
	Facts     []fact
	Rows      []compared
	Refusals  []refusal
	Snippets  []snippet
	Tx        string // the transaction as JSON; empty: none was asked for
	JSON      string
}

// tokenField is the field that names one of the two tokens.
type tokenField struct {
	Name, Label, Value string
	Chosen             *tokenView // nil: none yet
	IsCoin             bool       // that is the chain's coin, which has no address
	Fault              *faultView // nil: nothing is wrong with it
}

type faultView struct {
	Field, Message string
	Choices        []foundToken
}

// Swap writes the page of a comparison, or the form that leads to one.
func (p *Views) Swap(to io.Writer, s Swap) error {
	v := swapView{Swap: s, Wrong: p.faults(s.Faults)}
	v.TokenIn, v.TokenOut = p.tokenField(&v, "tokenIn", "You pay with", s.In), p.tokenField(&v, "tokenOut", "You get", s.Out)
	if id, err := chain.ParseID(s.Form.Get("chainId")); err == nil {
		v.Chain = p.ChainName(id)
	}
	if s.Explanation != nil && s.In != nil && s.Out != nil {
		if err := p.compare(&v); err != nil {
			return err
		}
	}
	title, says := "Swap", ""
	if v.Explanation != nil && v.In != nil && v.Out != nil {
		title = v.AmountIn.Text + " " + v.In.Symbol + " to " + v.Out.Symbol + " on " + v.Chain
		if v.Amount.Text != "" {
			says = title + ": " + v.Amount.Text + " " + v.Out.Symbol
		}
	}
	return p.Write(to, "swap", web.View{Title: title, At: "swap", Says: says, Root: s.Origin, Now: s.Now, Page: v})
}

func (p *Views) tokenField(v *swapView, name, label string, chosen *token.Listing) tokenField {
	f := tokenField{Name: name, Label: label, Value: v.Form.Get(name), Fault: v.Wrong[name]}
	if chosen != nil {
		shown := p.listing(*chosen)
		f.Chosen, f.IsCoin = &shown, chosen.Address.IsNative()
	}
	return f
}

// faults are what is wrong with the form, by field.
func (p *Views) faults(all []Fault) map[string]*faultView {
	shown := make(map[string]*faultView, len(all))
	for _, each := range all {
		if shown[each.Field] != nil {
			continue // one thing at a time
		}
		fault := &faultView{Field: each.Field, Message: each.Message}
		for _, choice := range each.Choices {
			fault.Choices = append(fault.Choices, foundToken{Token: p.listing(choice.Token), URL: choice.URL})
		}
		shown[each.Field] = fault
	}
	return shown
}

func (p *Views) listing(t token.Listing) tokenView {
	address := t.Address.Format(p.Chains.Family(t.Chain))
	return p.token(t.Chain, address, tokenJSON{Decimals: int(t.Decimals), Name: t.Name, Symbol: t.Symbol, LogoURI: t.LogoURI})
}

// compare fills in what the venues quoted.
func (p *Views) compare(v *swapView) error {
	answer, err := decode[explanationJSON](v.Explanation)
	if err != nil {
		return err
	}
	v.AmountIn = web.AmountOf(v.Swap.AmountIn.String(), int(v.In.Decimals))
	v.Error, v.Quoted = headOf(answer.Error), answer.QuotedAt
	v.Rows, v.Refusals = rowsOf(answer, int(v.Out.Decimals)), refusalsOf(answer)
	v.JSON = indented(v.Explanation)
	if v.Estimate == nil {
		return nil
	}
	estimate, err := decode[estimateJSON](v.Estimate)
	if err != nil {
		return err
	}
	v.JSON = indented(v.Estimate)
	v.Amount, v.MinAmount = web.AmountOf(answer.Amount, int(v.Out.Decimals)), web.AmountOf(answer.MinAmount, int(v.Out.Decimals))
	worth := worthOf(estimate)
	for i := range v.Rows {
		v.Rows[i].USD = worth(v.Rows[i].units)
	}
	v.USD = worth(unitsOf(answer.Amount))
	v.Facts = p.terms(v, answer, estimate)
	if estimate.Tx != nil {
		family := p.Chains.Family(v.Out.Chain)
		v.Snippets, v.Tx = snippetsOf(v, family), txJSON(estimate)
	}
	return nil
}

// worthOf says what amounts of the output token are worth, all by the one price that the answer has; nothing where it
// has none.
func worthOf(e estimateJSON) func(units *big.Rat) string {
	for _, each := range e.Compared {
		whole := unitsOf(each.Amount)
		if each.USD == nil || whole.Sign() == 0 {
			continue
		}
		return func(units *big.Rat) string { return usdText(*each.USD * ratio(units, whole)) }
	}
	return func(*big.Rat) string { return "" }
}

// terms say what the swap costs and what it holds to.
func (p *Views) terms(v *swapView, answer explanationJSON, e estimateJSON) []fact {
	in, out := v.Swap.AmountIn, new(big.Rat)
	if in.IsZero() { // the input was searched for, or is all that the sender has
		if found, err := chain.ParseAmount(e.TokenIn.Amount); err == nil {
			in = found
			v.AmountIn = web.AmountOf(e.TokenIn.Amount, int(v.In.Decimals))
		}
	}
	if units, err := chain.ParseAmount(answer.Amount); err == nil {
		out = units.Units(v.Out.Decimals)
	}
	facts := []fact{
		{Name: "Rate", Text: rateOf(in.Units(v.In.Decimals), out, v.In.Symbol, v.Out.Symbol)},
		{Name: "Price impact", Text: impactOf(v.Priced, e)},
		{Name: "Minimum received", Text: v.MinAmount.Text + " " + v.Out.Symbol},
		{Name: "Slippage", Text: slippageOf(e)},
		{Name: "Route", Text: routeOf(answer)},
		{Name: "Protocol fee", Text: feeOf(e.ProtocolFee, int(v.Out.Decimals), v.Out.Symbol, e.ProtocolFeeUSD)},
	}
	if known, isKnown := p.Chains.Chain(v.Out.Chain); isKnown {
		facts = append(facts, fact{Name: "Network fee", Text: gasOf(e, known)})
	}
	return facts
}
