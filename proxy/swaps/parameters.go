package swaps

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/quote"
)

// Bounds of percents. The largest affiliate share is documented; a slippage of 100 % would guarantee nothing.
var (
	maxAffiliatePercent = decimal.NewFromInt(10)
	maxSlippagePercent  = decimal.NewFromInt(100)
)

// affiliateDecimals is the precision of an affiliate's percent. The public router and most venues count basis points.
const affiliateDecimals = 3

// otherAPIsCoin is the native coin in many swap APIs. Here that is the zero address.
var otherAPIsCoin = strings.Repeat("e", 40)

// parameters are those of a swap request.
type parameters struct {
	proxy.Query
	family chain.Family // of the swap's chain; unknown while the chain is
}

func readParameters(rawQuery string) (*parameters, error) {
	q, err := proxy.ReadQuery(rawQuery)
	return &parameters{Query: q}, err
}

// ParametersOf are those of a query; the family is that of a swap's chain, if it is known.
func ParametersOf(values url.Values, family chain.Family) *parameters {
	return &parameters{Query: proxy.Query{Values: values}, family: family}
}

// ParseSwap reads a swap request; only one with a recipient can become a transaction.
func ParseSwap(p *parameters, chains chain.Registry, hasRecipient bool) (quote.Request, error) {
	var r quote.Request
	r.Chain = p.chainID("chainId", chains)
	p.family = chains.Family(r.Chain)
	r.TokenIn = p.Token("tokenIn")
	p.amounts(&r, hasRecipient && !p.IsUnsigned())
	r.TokenOut = p.Token("tokenOut")
	if !r.TokenIn.IsAbsent() && r.TokenIn == r.TokenOut {
		p.Mistake("tokenOut must not be tokenIn")
	}
	if hasRecipient {
		p.required("tokenOutRecipient")
	}
	r.Recipient = p.account("tokenOutRecipient", p.Optional("tokenOutRecipient"))
	if !r.Recipient.IsAbsent() && (r.Recipient == r.TokenIn || r.Recipient == r.TokenOut) {
		p.Mistake("tokenOutRecipient must not be a token of the swap")
	}
	r.SlippagePercent = p.slippage("slippage")
	r.Affiliate.Percent = p.affiliatePercent("affiliateFeePercent")
	r.Affiliate.Recipient = p.account("affiliateFeeRecipient", p.Optional("affiliateFeeRecipient"))
	r.Sender = p.account("senderAddress", p.Optional("senderAddress"))
	r.Priority = p.priority("srcChainPriorityLevel")
	r.ReferralCode = p.referralCode("referralCode")
	if err := p.Err(); err != nil {
		return quote.Request{}, err
	}
	if !hasRecipient && p.family != chain.SVM && (r.Recipient.IsAbsent() || r.Recipient == r.Sender) {
		r.Sender = chain.Address{} // the recipient sends
	}
	if !hasRecipient || p.IsUnsigned() {
		r.Recipient = chain.Address{}
	}
	switch wantsFee := r.Affiliate.Percent.IsPositive(); {
	case wantsFee && r.Affiliate.Recipient.IsAbsent():
		return quote.Request{}, proxy.AffiliateRecipientNotSet.Because("")
	case !wantsFee && !r.Affiliate.Recipient.IsAbsent() && !p.Values.Has("affiliateFeePercent"):
		return quote.Request{}, proxy.AffiliatePercentNotSet.Because("")
	}
	return r, nil
}

// IsUnsigned reports whether the signer is missing on Solana: then there is an estimate and no transaction.
func (p *parameters) IsUnsigned() bool {
	return p.family == chain.SVM && p.Values.Get("senderAddress") == ""
}

// parseChainID reads a query about a whole chain.
func parseChainID(rawQuery string, chains chain.Registry) (chain.ID, error) {
	p, err := readParameters(rawQuery)
	if err != nil {
		return 0, err
	}
	id := p.chainID("chainId", chains)
	return id, p.Err()
}

// required is Value where it is a mistake to leave it out.
func (p *parameters) required(name string) (text string, ok bool) {
	if text, ok = p.Value(name); ok && text == "" {
		p.Mistake(name + " should not be empty")
	}
	return text, text != ""
}

func (p *parameters) chainID(name string, chains chain.Registry) chain.ID {
	text, ok := p.Value(name)
	id, err := chain.ParseID(text)
	if _, known := chains.Chain(id); err == nil && known && id.String() == text {
		return id
	}
	if ok {
		p.Mistake(name + " must be one of the following values: " + proxy.IDsOf(chains))
	}
	return 0
}

// Token reads the address of a token: the zero address is the native coin.
func (p *parameters) Token(name string) chain.Address {
	text, ok := p.required(name)
	switch {
	case !ok:
		return chain.Address{}
	case strings.EqualFold(strings.TrimPrefix(text, "0x"), otherAPIsCoin):
		p.Mistake(name + " must be the zero address to mean the native coin")
		return chain.Address{}
	}
	return p.address(name, text)
}

// account reads the address of a sender or recipient; none when text is empty.
func (p *parameters) account(name, text string) chain.Address {
	if text == "" {
		return chain.Address{}
	}
	a := p.address(name, text)
	if a.IsNative() {
		p.Mistake(name + " must not be the zero address")
	}
	return a
}

// address reads an address in the form of the swap's chain, or in any form while that is unknown.
func (p *parameters) address(name, text string) chain.Address {
	a, err := chain.ParseAddress(text, p.family)
	if p.family == chain.UnknownFamily {
		a, _, err = chain.ParseAnyAddress(text)
	}
	switch {
	case err != nil:
		p.Mistake(name + " must be an address" + addressForms[p.family])
	case chain.ChecksumFails(text):
		p.Mistake(name + " has a wrong EIP-55 checksum; check its digits")
	}
	return a
}

var addressForms = map[chain.Family]string{
	chain.EVM: ": 0x followed by 40 hex digits",
	chain.SVM: " in base58",
	chain.TVM: " in base58check",
}

// amounts reads which side of the swap is fixed. tokenInAmount is an amount, or max for the sender's whole balance
// (where there is a sender), or auto for as much as tokenOutAmount takes.
func (p *parameters) amounts(r *quote.Request, hasSender bool) {
	in, _ := p.Value("tokenInAmount")
	if in == "auto" {
		if out := p.Optional("tokenOutAmount"); out == "" || out == "auto" {
			p.Mistake("tokenInAmount can be auto only when tokenOutAmount is an amount")
			return
		}
		r.MinOut = p.amount("tokenOutAmount")
		return
	}
	switch r.MaxBalance = in == "max" && hasSender; {
	case in == "max" && !hasSender:
		p.Mistake("tokenInAmount can be max only in /v1.0/chain/transaction, on Solana with senderAddress: it is the sender's balance")
	case !r.MaxBalance:
		r.AmountIn = p.amount("tokenInAmount")
	}
	if out := p.Optional("tokenOutAmount"); out != "" && out != "auto" {
		p.Mistake("tokenOutAmount must be auto unless tokenInAmount is")
	}
}

func (p *parameters) amount(name string) chain.Amount {
	text, ok := p.required(name)
	if !ok {
		return chain.Amount{}
	}
	amount, err := chain.ParseAmount(text)
	switch {
	case err != nil || amount.IsZero():
		p.Mistake(name + " must be a positive whole number of the token's smallest units")
	case amount.Big().BitLen() > amountBits[p.family]:
		p.Mistake(fmt.Sprintf("%s must be below 2^%d, as no pool holds more", name, amountBits[p.family]))
	}
	return amount
}

// amountBits are what pools keep an amount in: 64 bits on Solana, and elsewhere 128 at most.
var amountBits = map[chain.Family]int{chain.EVM: 128, chain.TVM: 128, chain.SVM: 64, chain.UnknownFamily: 256}

// slippage reads a percent; nil leaves it to the estimator.
func (p *parameters) slippage(name string) *decimal.Decimal {
	text := p.Optional(name)
	if text == "" || text == "auto" {
		return nil
	}
	percent, ok := parsePercent(text)
	if !ok || !percent.IsPositive() || !percent.LessThan(maxSlippagePercent) {
		p.Mistake(name + " must be auto or a percent greater than 0 and less than 100")
		return nil
	}
	return &percent
}

func (p *parameters) affiliatePercent(name string) decimal.Decimal {
	text := p.Optional(name)
	if text == "" {
		return decimal.Decimal{}
	}
	percent, ok := parsePercent(text)
	if !ok || percent.GreaterThan(maxAffiliatePercent) || !percent.Equal(percent.Truncate(affiliateDecimals)) {
		p.Mistake(name + " must be a percent from 0 to 10 in steps of 0.001")
		return decimal.Decimal{}
	}
	return percent
}

// parsePercent reads digits with at most one point; the decimal package would also expand any exponent.
func parsePercent(text string) (percent decimal.Decimal, ok bool) {
	const longest = 24
	if len(text) > longest || strings.Trim(text, "0123456789.") != "" {
		return decimal.Decimal{}, false
	}
	percent, err := decimal.NewFromString(text)
	return percent, err == nil
}

func (p *parameters) priority(name string) quote.Priority {
	switch p.Optional(name) {
	case "", "normal":
		return quote.Normal
	case "aggressive":
		return quote.Aggressive
	}
	p.Mistake(name + " must be one of the following values: normal, aggressive")
	return quote.Normal
}

func (p *parameters) referralCode(name string) uint32 {
	text := p.Optional(name)
	if text == "" {
		return 0
	}
	code, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		p.Mistake(name + " must be a whole number below 4294967296")
	}
	return uint32(code)
}

// addBody adds the parameters of a body, a JSON object or a form, which replace those of the query.
func (p *parameters) addBody(c *gin.Context) error {
	body, err := proxy.ReadBody(c)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	if kind, _, _ := strings.Cut(c.ContentType(), ";"); kind == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return proxy.InvalidBody.Because("the body is not properly URL-encoded")
		}
		maps.Copy(p.Values, form)
		return nil
	}
	given, err := proxy.ReadJSON(body, func(name string) string { return name })
	if err != nil {
		return proxy.InvalidBody.Because("the body must be a JSON object, or a form as application/x-www-form-urlencoded")
	}
	maps.Copy(p.Values, given)
	return nil
}
