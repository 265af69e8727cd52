package compare

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/proxy/pages"
	"crossgate/proxy/swaps"
	"crossgate/proxy/web"
	"crossgate/quote"
	"crossgate/token"
)

// swapForm is a swap as a visitor writes it, on its way to a query of the API: tokens may be named by symbol, name or
// address, and the amount is in whole tokens. Faults stand beside their fields.
type swapForm struct {
	pages   *Pages
	chain   chain.Chain
	given   url.Values
	listed  []token.Listing            // on the chain
	alike   map[string][]token.Listing // of them, by lower-case symbol
	in, out *token.Listing             // nil: not named, or not found
	faults  []pages.Fault
	problem error // that is of no one field
}

// mostMeant is how many tokens are shown that a text may mean.
const mostMeant = 6

// readSwapForm looks up what a form names on its chain.
func (s *Pages) readSwapForm(ctx context.Context, given url.Values) *swapForm {
	f := &swapForm{pages: s, given: given, alike: map[string][]token.Listing{}}
	if given.Get("chainId") == "" { // there is none with swaps
		return f
	}
	id, err := chain.ParseID(given.Get("chainId"))
	known, isKnown := s.chains.Chain(id)
	if err != nil || !isKnown {
		f.fault("chainId", "The gateway does not know this chain.")
		return f
	}
	f.chain, f.listed = known, s.options().Tokens.Listed(ctx, id)
	for _, each := range f.listed {
		symbol := strings.ToLower(each.Symbol)
		f.alike[symbol] = append(f.alike[symbol], each)
	}
	f.in, f.out = f.token(ctx, "tokenIn"), f.token(ctx, "tokenOut")
	return f
}

func (f *swapForm) fault(field, message string, choices ...pages.Choice) {
	f.faults = append(f.faults, pages.Fault{Field: field, Message: message, Choices: choices})
}

// token finds the token that a field names; nil when the field is empty or names none, or several.
func (f *swapForm) token(ctx context.Context, field string) *token.Listing {
	text := strings.TrimSpace(f.given.Get(field))
	if text == "" {
		return nil
	}
	named := token.Named(f.listed, text)
	_, _, err := chain.ParseAnyAddress(text)
	switch {
	case err == nil, len(named) == 0 && strings.HasPrefix(text, "0x"): // 0xBTC is a symbol
		return f.tokenAt(ctx, field, text)
	case len(named) == 1:
		return &named[0]
	case len(named) == 0:
		meant := token.Search(f.listed, text, mostMeant)
		message := fmt.Sprintf("No listed token on %s is called %q. Any token can be named by its address.", f.chain.Name, text)
		if len(meant) > 0 {
			message = fmt.Sprintf("No listed token on %s is called %q. These are similar:", f.chain.Name, text)
		}
		f.fault(field, message, f.choices(field, meant)...)
	default:
		message := fmt.Sprintf("%d tokens on %s are called %q. Which one?", len(named), f.chain.Name, text)
		f.fault(field, message, f.choices(field, named[:min(len(named), mostMeant)])...)
	}
	return nil
}

// tokenAt is the token at an address, listed or not.
func (f *swapForm) tokenAt(ctx context.Context, field, text string) *token.Listing {
	p := swaps.ParametersOf(url.Values{field: {text}}, f.chain.Family)
	key := token.Key{Chain: f.chain.ID, Address: p.Token(field)}
	if len(p.Wrong) > 0 {
		f.mistakes(p.Wrong)
		return nil
	}
	for i := range f.listed {
		if f.listed[i].Key == key {
			return &f.listed[i]
		}
	}
	read, err := f.pages.options().Tokens.Lookup(ctx, key.Chain, key.Address)
	if err != nil {
		f.problem = err
		return nil
	}
	return &token.Listing{Key: key, Token: read[0]}
}

// choices are tokens with the form as it would be with each.
func (f *swapForm) choices(field string, tokens []token.Listing) []pages.Choice {
	all := make([]pages.Choice, len(tokens))
	for i, each := range tokens {
		query := url.Values{}
		for name, values := range f.given {
			query[name] = values
		}
		query.Set(field, each.Address.Format(f.chain.Family))
		all[i] = pages.Choice{Token: each, URL: "/swap?" + query.Encode()}
	}
	return all
}

// formLabels are what the fields of the form are called on the page, by parameter of the API.
var formLabels = map[string]string{
	"tokenIn": "The token", "tokenOut": "The token", "tokenOutRecipient": "The recipient", "senderAddress": "The sender",
	"slippage": "The slippage", "tokenInAmount": "The amount",
}

// mistakes puts the API's errors beside their fields.
func (f *swapForm) mistakes(wrong []string) {
	for _, each := range wrong {
		name, rest, _ := strings.Cut(each, " ")
		label, isField := formLabels[name]
		if !isField {
			f.problem = proxy.InvalidParameters.Because(each)
			continue
		}
		if name == "tokenInAmount" {
			name = "amount"
		}
		f.fault(name, label+" "+rest+".")
	}
}

// request is what the form asks for, and its query of the API. Not ok: something is wrong.
func (f *swapForm) request() (r quote.Request, query url.Values, ok bool) {
	query = url.Values{}
	for name, values := range f.given {
		if name != "amount" && len(values) > 0 && values[0] != "" {
			query[name] = values
		}
	}
	for _, side := range []struct {
		field string
		token *token.Listing
	}{{"tokenIn", f.in}, {"tokenOut", f.out}} {
		switch {
		case side.token != nil:
			query.Set(side.field, side.token.Address.Format(f.chain.Family))
		case f.given.Get(side.field) == "":
			f.fault(side.field, "Which token?")
		}
	}
	f.setAmount(query)
	if len(f.faults) > 0 || f.problem != nil {
		return r, query, false
	}
	p := swaps.ParametersOf(query, 0)
	r, err := swaps.ParseSwap(p, f.pages.chains, query.Has("tokenOutRecipient"))
	switch {
	case err == nil && query.Has("tokenOutRecipient") && p.IsUnsigned(): // the page is for signing
		f.fault("senderAddress", "On Solana a transaction names who pays its fee: the sender is required.")
	case len(p.Wrong) > 0:
		f.mistakes(p.Wrong)
	case err != nil:
		f.problem = err
	}
	return r, query, len(f.faults) == 0 && f.problem == nil
}

// mostDecimals are those of an amount whose token is not known.
const mostDecimals = 36

// setAmount turns whole tokens into smallest units.
func (f *swapForm) setAmount(query url.Values) {
	switch whole := strings.TrimSpace(f.given.Get("amount")); {
	case whole == "" && !query.Has("tokenInAmount"):
		f.fault("amount", "How much?")
	case whole == "":
	case strings.EqualFold(whole, "max") && !query.Has("tokenOutRecipient"):
		f.fault("amount", "The whole balance can be swapped only when the recipient is named.")
	case strings.EqualFold(whole, "max"):
		query.Set("tokenInAmount", "max")
	default:
		decimals := uint8(mostDecimals)
		if f.in != nil {
			decimals = f.in.Decimals
		}
		amount, err := web.UnitsOf(whole, decimals)
		if err != nil {
			f.fault("amount", "The amount "+err.Error()+".")
			return
		}
		query.Set("tokenInAmount", amount.String())
	}
}

// fill has the fields show what was understood: symbols where each names one token, and the amount in whole tokens.
func (f *swapForm) fill(r quote.Request) {
	for field, found := range map[string]*token.Listing{"tokenIn": f.in, "tokenOut": f.out} {
		if found != nil {
			f.given.Set(field, f.text(*found))
		}
	}
	if !r.AmountIn.IsZero() {
		f.given.Set("amount", decimal.NewFromBigInt(r.AmountIn.Big(), -int32(f.in.Decimals)).String())
	}
}

// text is what a field says to name a token: its symbol, or its address where that is another's as well.
func (f *swapForm) text(of token.Listing) string {
	if named := token.Named(f.alike[strings.ToLower(of.Symbol)], of.Symbol); len(named) == 1 && named[0].Key == of.Key {
		return of.Symbol
	}
	return of.Address.Format(f.chain.Family)
}
