package compare

import (
	"cmp"
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

// swapForm converts a swap as a visitor enters it to a query of the API: tokens may be given by symbol, name or
// address, and the amount is in whole tokens. Faults are shown beside their fields.
type swapForm struct {
	pages    *Pages
	given    url.Values
	pay, get side
	faults   []pages.Fault
	problem  error // not attributable to a field
}

// side is what a form pays or receives: a token on a chain.
type side struct {
	field  string // field of the token
	chain  chain.Chain
	listed []token.Listing            // tokens of the chain
	alike  map[string][]token.Listing // listed tokens by lower-case symbol
	token  *token.Listing             // nil if not given or not found
}

const mostMeant = 6

// readSwapForm looks up the chains and tokens that a form names.
func (s *Pages) readSwapForm(ctx context.Context, given url.Values) *swapForm {
	f := &swapForm{pages: s, given: given, pay: side{field: "tokenIn"}, get: side{field: "tokenOut"}}
	if given.Get("chainId") == "" { // no chain has swaps
		return f
	}
	for _, each := range []struct {
		of    *side
		field string
	}{{&f.pay, "chainId"}, {&f.get, cmp.Or(takeField(given), "chainId")}} {
		of, name := each.of, each.field
		id, err := chain.ParseID(given.Get(name))
		known, isKnown := s.chains.Chain(id)
		if err != nil || !isKnown {
			f.fault(name, "This chain is not configured.")
			return f
		}
		of.chain, of.listed, of.alike = known, s.options().Tokens.Listed(ctx, id), map[string][]token.Listing{}
		for _, each := range of.listed {
			symbol := strings.ToLower(each.Symbol)
			of.alike[symbol] = append(of.alike[symbol], each)
		}
	}
	f.find(ctx, &f.pay)
	f.find(ctx, &f.get)
	return f
}

// takeField returns the field of the chain to receive on if the swap is between chains, otherwise "".
func takeField(given url.Values) string {
	if to := given.Get("dstChainId"); to != "" && to != given.Get("chainId") {
		return "dstChainId"
	}
	return ""
}

func (f *swapForm) fault(field, message string, choices ...pages.FoundToken) {
	f.faults = append(f.faults, pages.Fault{Field: field, Message: message, Choices: choices})
}

// find sets the token of a side, unless the field is empty, unknown or ambiguous.
func (f *swapForm) find(ctx context.Context, of *side) {
	text := strings.TrimSpace(f.given.Get(of.field))
	if text == "" {
		return
	}
	named := token.Named(of.listed, text)
	_, _, err := chain.ParseAnyAddress(text)
	switch {
	case err == nil, len(named) == 0 && strings.HasPrefix(text, "0x"): // 0xBTC is a symbol
		of.token = f.tokenAt(ctx, of, text)
	case len(named) == 1:
		of.token = &named[0]
	case len(named) == 0:
		meant := token.Search(of.listed, text, mostMeant)
		message := fmt.Sprintf("No listed token on %s is called %q. Enter its address instead.", of.chain.Name, text)
		if len(meant) > 0 {
			message = fmt.Sprintf("No listed token on %s is called %q. These are similar:", of.chain.Name, text)
		}
		f.fault(of.field, message, f.choices(of, meant)...)
	default:
		message := fmt.Sprintf("%d tokens on %s are called %q. Which one?", len(named), of.chain.Name, text)
		f.fault(of.field, message, f.choices(of, named[:min(len(named), mostMeant)])...)
	}
}

// tokenAt returns the token at an address, listed or not.
func (f *swapForm) tokenAt(ctx context.Context, of *side, text string) *token.Listing {
	p := swaps.ParametersOf(url.Values{of.field: {text}}, of.chain.Family)
	key := token.Key{Chain: of.chain.ID, Address: p.Token(of.field)}
	if len(p.Wrong) > 0 {
		f.mistakes(p.Wrong)
		return nil
	}
	for i := range of.listed {
		if of.listed[i].Key == key {
			return &of.listed[i]
		}
	}
	read, err := f.pages.options().Tokens.Lookup(ctx, key.Chain, key.Address)
	if err != nil {
		f.problem = err
		return nil
	}
	return &token.Listing{Key: key, Token: read[0]}
}

// choices returns tokens, each with the URL of the form with that token.
func (f *swapForm) choices(of *side, tokens []token.Listing) []pages.FoundToken {
	all := make([]pages.FoundToken, len(tokens))
	for i, each := range tokens {
		query := url.Values{}
		for name, values := range f.given {
			query[name] = values
		}
		query.Set(of.field, each.Address.Format(of.chain.Family))
		all[i] = pages.FoundToken{Token: f.pages.pages.Listing(each), URL: "/swap?" + query.Encode()}
	}
	return all
}

var formLabels = map[string]string{
	"tokenIn": "The token", "tokenOut": "The token", "tokenOutRecipient": "The recipient", "senderAddress": "The sender",
	"slippage": "The slippage", "tokenInAmount": "The amount",
}

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

// query converts the form to the API's parameters for a swap within a chain.
func (f *swapForm) query() url.Values {
	query := url.Values{}
	for name, values := range f.given {
		if name != "amount" && len(values) > 0 && values[0] != "" {
			query[name] = values
		}
	}
	for _, of := range []side{f.pay, f.get} {
		switch {
		case of.token != nil:
			query.Set(of.field, of.token.Address.Format(of.chain.Family))
		case f.given.Get(of.field) == "":
			f.fault(of.field, "Choose a token.")
		}
	}
	if query.Has("slippage") {
		query.Set("slippage", web.WithPoint(query.Get("slippage")))
	}
	f.setAmount(query)
	return query
}

// request returns the form's swap on one chain and its query of the API; not ok if the form has faults.
func (f *swapForm) request() (r quote.Request, query url.Values, ok bool) {
	query = f.query()
	query.Del("dstChainId")
	if len(f.faults) > 0 || f.problem != nil {
		return r, query, false
	}
	p := swaps.ParametersOf(query, 0)
	r, err := swaps.ParseSwap(p, f.pages.chains, query.Has("tokenOutRecipient"))
	switch {
	case err == nil && query.Has("tokenOutRecipient") && p.IsUnsigned(): // the page is for signing
		f.fault("senderAddress", "Enter a sender: a Solana transaction includes its fee payer.")
	case len(p.Wrong) > 0:
		f.mistakes(p.Wrong)
	case err != nil:
		f.problem = err
	}
	return r, query, len(f.faults) == 0 && f.problem == nil
}

// mostDecimals are assumed for an amount whose token is unknown.
const mostDecimals = 36

func (f *swapForm) setAmount(query url.Values) {
	switch whole := strings.TrimSpace(f.given.Get("amount")); {
	case whole == "" && !query.Has("tokenInAmount"):
		f.fault("amount", "Enter an amount.")
	case whole == "":
	case strings.EqualFold(whole, "max") && !query.Has("tokenOutRecipient"):
		f.fault("amount", "To swap the whole balance, enter a recipient.")
	case strings.EqualFold(whole, "max"):
		query.Set("tokenInAmount", "max")
	default:
		decimals := uint8(mostDecimals)
		if f.pay.token != nil {
			decimals = f.pay.token.Decimals
		}
		amount, err := web.UnitsOf(whole, decimals)
		if err != nil {
			f.fault("amount", "The amount "+err.Error()+".")
			return
		}
		query.Set("tokenInAmount", amount.String())
	}
}

// fill sets the fields to the request as understood: unambiguous symbols, and the amount in whole tokens.
func (f *swapForm) fill(amount chain.Amount) {
	for _, of := range []side{f.pay, f.get} {
		if of.token != nil {
			f.given.Set(of.field, of.text(*of.token))
		}
	}
	if !amount.IsZero() {
		f.given.Set("amount", decimal.NewFromBigInt(amount.Big(), -int32(f.pay.token.Decimals)).String())
	}
}

// text returns how a field names a token: by its symbol, or by its address if the symbol is ambiguous.
func (s side) text(of token.Listing) string {
	if named := token.Named(s.alike[strings.ToLower(of.Symbol)], of.Symbol); len(named) == 1 && named[0].Key == of.Key {
		return of.Symbol
	}
	return of.Address.Format(s.chain.Family)
}

const mostOffered = 100

// offered returns listed tokens to choose from, prominent ones first.
func (s side) offered() (all []Listed) {
	for _, isProminent := range []bool{true, false} {
		for _, each := range s.listed {
			if each.IsProminent == isProminent && len(all) < mostOffered {
				all = append(all, Listed{Text: s.text(each), Symbol: each.Symbol, Name: each.Name})
			}
		}
	}
	return all
}
