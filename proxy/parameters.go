package proxy

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

// Bounds of percents. The largest affiliate share is documented; a slippage of 100 % would guarantee nothing.
var (
	largestAffiliatePercent = decimal.NewFromInt(10)
	wholePercent            = decimal.NewFromInt(100)
)

// affiliateDecimals is how finely a percent tells an affiliate's share: the public router and all venues count
// basis points.
const affiliateDecimals = 2

// coinOfOthers is how many swap APIs spell the native coin. This one spells it as the zero address, and
// 0xEeee… is nobody's contract.
var coinOfOthers = strings.Repeat("e", 40)

// parameters reads the query of a swap and collects everything that is wrong with it. Names that are not
// read are tolerated: clients send access tokens and cache busters.
type parameters struct {
	values url.Values
	wrong  []string
	family chain.Family // of the swap's chain; unknown while the chain is
}

// parseSwap reads a swap request, which names a recipient or leaves him open. The error names every wrong
// parameter.
func parseSwap(rawQuery string, chains chain.Registry, hasRecipient bool) (quote.Request, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return quote.Request{}, invalidParameters.because("the query is not properly encoded")
	}
	p := &parameters{values: values}
	var r quote.Request
	r.Chain = p.chainID("chainId", chains)
	p.family = chains.Family(r.Chain)
	r.TokenIn = p.token("tokenIn")
	p.amounts(&r, hasRecipient)
	r.TokenOut = p.token("tokenOut")
	if !r.TokenIn.IsAbsent() && r.TokenIn == r.TokenOut {
		p.mistake("tokenOut must not be tokenIn")
	}
	if hasRecipient {
		r.Recipient = p.account("tokenOutRecipient", true)
	}
	r.SlippagePercent = p.slippage("slippage")
	r.Affiliate.Percent = p.affiliatePercent("affiliateFeePercent")
	r.Affiliate.Recipient = p.account("affiliateFeeRecipient", false)
	r.Sender = p.account("senderAddress", false)
	if hasRecipient && p.family == chain.SVM && !p.values.Has("senderAddress") {
		p.mistake("senderAddress is required on Solana, where a transaction names who pays for it")
	}
	r.Priority = p.priority("srcChainPriorityLevel")
	r.ReferralCode = p.referralCode("referralCode")
	if len(p.wrong) > 0 {
		return quote.Request{}, invalidParameters.because(strings.Join(p.wrong, "; "))
	}
	switch wantsFee := r.Affiliate.Percent.IsPositive(); {
	case wantsFee && r.Affiliate.Recipient.IsAbsent():
		return quote.Request{}, affiliateRecipientNotSet.because("")
	case !wantsFee && !r.Affiliate.Recipient.IsAbsent() && !p.values.Has("affiliateFeePercent"):
		return quote.Request{}, affiliatePercentNotSet.because("")
	}
	return r, nil
}

// parseChainID reads a query that asks about a chain as a whole.
func parseChainID(rawQuery string, chains chain.Registry) (chain.ID, error) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return 0, invalidParameters.because("the query is not properly encoded")
	}
	p := &parameters{values: values}
	id := p.chainID("chainId", chains)
	if len(p.wrong) > 0 {
		return 0, invalidParameters.because(strings.Join(p.wrong, "; "))
	}
	return id, nil
}

func (p *parameters) mistake(text string) { p.wrong = append(p.wrong, text) }

// value returns a parameter's only value; nothing, with a mistake noted, when it has several.
func (p *parameters) value(name string) (value string, given bool) {
	values := p.values[name]
	switch {
	case len(values) > 1:
		p.mistake(name + " must be given once")
		return "", false
	case len(values) == 0:
		return "", false
	}
	return values[0], true
}

// required is value for what must be there.
func (p *parameters) required(name string) (value string, given bool) {
	value, given = p.value(name)
	if value == "" && len(p.values[name]) <= 1 {
		p.mistake(name + " should not be empty")
		return "", false
	}
	return value, given
}

func (p *parameters) chainID(name string, chains chain.Registry) chain.ID {
	text, given := p.value(name)
	id, err := chain.ParseID(text)
	if _, known := chains.Chain(id); err == nil && known && id.String() == text {
		return id
	}
	if given || len(p.values[name]) == 0 {
		ids := make([]string, 0, len(chains.All()))
		for _, c := range chains.All() {
			ids = append(ids, c.ID.String())
		}
		p.mistake(name + " must be one of the following values: " + strings.Join(ids, ", "))
	}
	return 0
}

// token reads the address of a token: the zero address is the native coin.
func (p *parameters) token(name string) chain.Address {
	text, given := p.required(name)
	if !given {
		return chain.Address{}
	}
	if strings.EqualFold(strings.TrimPrefix(text, "0x"), coinOfOthers) {
		p.mistake(name + " must be the zero address to mean the native coin")
		return chain.Address{}
	}
	return p.address(name, text)
}

// account reads an address that is to get or give tokens.
func (p *parameters) account(name string, must bool) chain.Address {
	read := p.value
	if must {
		read = p.required
	}
	text, given := read(name)
	if !given || text == "" {
		return chain.Address{}
	}
	a := p.address(name, text)
	if a.IsNative() {
		p.mistake(name + " must not be the zero address")
	}
	return a
}

// address reads an address in the form of the swap's chain, in any form when that is not known.
func (p *parameters) address(name, text string) chain.Address {
	a, err := chain.ParseAddress(text, p.family)
	if p.family == chain.UnknownFamily {
		a, _, err = chain.ParseAnyAddress(text)
	}
	if err != nil {
		p.mistake(name + " must be an address" + addressForms[p.family])
	}
	return a
}

var addressForms = map[chain.Family]string{
	chain.EVM: " of 0x and 40 hex digits",
	chain.SVM: " in base58",
	chain.TVM: " in base58check",
}

// amounts reads which side of the swap is fixed: an input, max for all that the sender has, which takes somebody who
// sends, or auto for as much as an output takes.
func (p *parameters) amounts(r *quote.Request, hasSender bool) {
	in, _ := p.value("tokenInAmount")
	switch {
	case in == "auto":
		if out, given := p.value("tokenOutAmount"); !given || out == "" || out == "auto" {
			p.mistake("tokenInAmount can be auto only when tokenOutAmount is an amount")
			return
		}
		r.MinOut = p.amount("tokenOutAmount")
		return
	case in == "max" && hasSender:
		r.MaxBalance = true
	default:
		r.AmountIn = p.amount("tokenInAmount")
	}
	if out, given := p.value("tokenOutAmount"); given && out != "" && out != "auto" {
		p.mistake("tokenOutAmount must be auto unless tokenInAmount is")
	}
}

func (p *parameters) amount(name string) chain.Amount {
	text, given := p.required(name)
	if !given {
		return chain.Amount{}
	}
	amount, err := chain.ParseAmount(text)
	if err != nil || amount.IsZero() {
		p.mistake(name + " must be a positive whole number of the token's smallest units")
	}
	return amount
}

// slippage reads a percent; nil leaves it to us.
func (p *parameters) slippage(name string) *decimal.Decimal {
	text, given := p.value(name)
	if !given || text == "" || text == "auto" {
		return nil
	}
	percent, ok := parsePercent(text)
	if !ok || !percent.IsPositive() || !percent.LessThan(wholePercent) {
		p.mistake(name + " must be auto or a percent greater than 0 and less than 100")
		return nil
	}
	return &percent
}

func (p *parameters) affiliatePercent(name string) decimal.Decimal {
	text, given := p.value(name)
	if !given || text == "" {
		return decimal.Decimal{}
	}
	percent, ok := parsePercent(text)
	if !ok || percent.GreaterThan(largestAffiliatePercent) || !percent.Equal(percent.Truncate(affiliateDecimals)) {
		p.mistake(name + " must be a percent from 0 to 10 in steps of 0.01")
		return decimal.Decimal{}
	}
	return percent
}

// parsePercent reads digits with at most one point. The decimal package alone would take exponents, whose
// expansion can be made as large as one likes.
func parsePercent(text string) (percent decimal.Decimal, ok bool) {
	const longest = 24
	if len(text) > longest || strings.Trim(text, "0123456789.") != "" {
		return decimal.Decimal{}, false
	}
	percent, err := decimal.NewFromString(text)
	return percent, err == nil
}

func (p *parameters) priority(name string) quote.Priority {
	switch text, _ := p.value(name); text {
	case "", "normal":
		return quote.Normal
	case "aggressive":
		return quote.Aggressive
	}
	p.mistake(name + " must be one of the following values: normal, aggressive")
	return quote.Normal
}

func (p *parameters) referralCode(name string) uint32 {
	text, given := p.value(name)
	if !given || text == "" {
		return 0
	}
	code, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		p.mistake(name + " must be a whole number below 4294967296")
	}
	return uint32(code)
}
