package swaps

import (
	"bytes"
	"maps"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/proxy"
	"crossgate/quote"
)

// maxSlippagePercent is exclusive: it would guarantee nothing.
var maxSlippagePercent = decimal.NewFromInt(100)

type parameters struct {
	proxy.Query
	family chain.Family // of the swap's chain; unknown until that is known
}

// ParametersOf returns the parameters of a query. family is that of the swap's chain, if known.
func ParametersOf(values url.Values, family chain.Family) *parameters {
	return &parameters{Query: proxy.QueryOf(values), family: family}
}

// ParseSwap parses a swap request. Only one with a recipient can become a transaction.
func ParseSwap(p *parameters, chains chain.Registry, hasRecipient bool) (quote.Request, error) {
	var r quote.Request
	r.Chain = p.ChainID("chainId", chains)
	p.family = chains.Family(r.Chain)
	r.TokenIn = p.Token("tokenIn")
	p.amounts(&r, hasRecipient && !p.IsUnsigned())
	r.TokenOut = p.Token("tokenOut")
	if !r.TokenIn.IsAbsent() && r.TokenIn == r.TokenOut {
		p.Mistake("tokenOut must not be tokenIn")
	}
	if hasRecipient {
		p.Required("tokenOutRecipient")
	}
	r.Recipient = p.Account("tokenOutRecipient", p.family)
	r.SlippagePercent = p.slippage("slippage")
	r.Affiliate = p.Affiliate(p.family)
	r.Sender = p.Account("senderAddress", p.family)
	if c, _ := chains.Chain(r.Chain); p.family != chain.SVM || r.Recipient != r.Sender { // whose program may sign
		p.CheckRecipient("tokenOutRecipient", r.Recipient, c, r.TokenIn, r.TokenOut)
	}
	r.Priority = p.Priority("srcChainPriorityLevel")
	r.ReferralCode, _ = p.ReferralCode()
	if err := p.Err(); err != nil {
		return quote.Request{}, err
	}
	if !hasRecipient && (r.Recipient.IsAbsent() || r.Recipient == r.Sender) {
		r.Sender = chain.Address{} // the recipient is the sender
	}
	if !hasRecipient || p.IsUnsigned() {
		r.Recipient = chain.Address{}
	}
	return r, p.CheckAffiliate(r.Affiliate)
}

// IsUnsigned reports whether the signer is missing on Solana, so that there is an estimate but no transaction.
func (p *parameters) IsUnsigned() bool {
	return p.family == chain.SVM && p.First("senderAddress") == ""
}

// Token parses a token's address. The zero address means the native coin.
func (p *parameters) Token(name string) chain.Address { return p.Query.Token(name, p.family) }

// amounts parses which side of the swap is fixed. tokenInAmount is an amount, or max for the sender's whole balance (if
// there is a sender), or auto for as much as tokenOutAmount requires.
func (p *parameters) amounts(r *quote.Request, hasSender bool) {
	in, _ := p.Value("tokenInAmount")
	if in == "auto" {
		if out := p.Optional("tokenOutAmount"); out == "" || out == "auto" {
			p.Mistake("tokenInAmount can be auto only when tokenOutAmount is an amount")
			return
		}
		r.MinOut = p.Amount("tokenOutAmount", p.family)
		return
	}
	switch r.MaxBalance = in == "max" && hasSender; {
	case in == "max" && !hasSender:
		p.Mistake("tokenInAmount can be max only in /v1.0/chain/transaction, on Solana with senderAddress: it is the sender's balance")
	case !r.MaxBalance:
		r.AmountIn = p.Amount("tokenInAmount", p.family)
	}
	if out := p.Optional("tokenOutAmount"); out != "" && out != "auto" {
		p.Mistake("tokenOutAmount must be auto unless tokenInAmount is")
	}
}

// slippage parses a percentage; nil leaves it to the estimator.
func (p *parameters) slippage(name string) *decimal.Decimal {
	text := p.Optional(name)
	if text == "" || text == "auto" {
		return nil
	}
	percent, ok := quote.ParsePercent(text)
	if !ok || !percent.IsPositive() || !percent.LessThan(maxSlippagePercent) {
		p.Mistake(name + " must be auto or a percent greater than 0 and less than 100")
		return nil
	}
	return &percent
}

// addBody adds the parameters of a body, a JSON object or a form. They override those of the query.
func (p *parameters) addBody(c *gin.Context) error {
	body, err := proxy.ReadBody(c)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	if strings.EqualFold(c.ContentType(), "application/x-www-form-urlencoded") {
		maps.Copy(p.Values, proxy.ReadQuery(string(body)).Values)
		return nil
	}
	given, err := proxy.ReadJSON(body)
	if err != nil {
		return proxy.InvalidBody.Because("the body must be a JSON object, or a form as application/x-www-form-urlencoded")
	}
	maps.Copy(p.Values, given.Values)
	return nil
}
