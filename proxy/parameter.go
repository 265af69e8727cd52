package proxy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// otherAPIsCoin is the native coin in many swap APIs. Here it is the zero address.
var otherAPIsCoin = strings.Repeat("e", 40)

// Required is like Value, but records a mistake if the parameter is missing.
func (p *Query) Required(name string) (text string, ok bool) {
	if text, ok = p.Value(name); ok && text == "" {
		p.Mistake(name + " should not be empty")
	}
	return text, text != ""
}

// ChainID parses the id of one of chains; 0 if it is invalid.
func (p *Query) ChainID(name string, chains chain.Registry) chain.ID {
	text, ok := p.Value(name)
	id, err := chain.ParseID(text)
	if _, known := chains.Chain(id); err == nil && known && id.String() == text {
		return id
	}
	if ok {
		p.Mistake(name + " must be one of the following values: " + IDsOf(chains))
	}
	return 0
}

// Token parses a token's address. The zero address means the native coin.
func (p *Query) Token(name string, of chain.Family) chain.Address {
	text, ok := p.Required(name)
	switch {
	case !ok:
		return chain.Address{}
	case strings.EqualFold(strings.TrimPrefix(text, "0x"), otherAPIsCoin):
		p.Mistake(name + " must be the zero address to mean the native coin")
		return chain.Address{}
	}
	return p.Address(name, text, of)
}

// Account parses the address of a sender or recipient, absent if the parameter is.
func (p *Query) Account(name string, of chain.Family) chain.Address {
	text := p.Optional(name)
	if text == "" {
		return chain.Address{}
	}
	a := p.Address(name, text, of)
	if a.IsNative() {
		p.Mistake(name + " must not be the zero address")
	}
	return a
}

// CheckRecipient refuses a recipient on a chain that would lose what it gets: a token, the public router, whose next
// caller could take it, or on Solana an account of tokens, which cannot sign.
func (p *Query) CheckRecipient(name string, recipient chain.Address, on chain.Chain, tokens ...chain.Address) {
	skips := p.Flag("skipSolanaRecipientValidation")
	switch {
	case recipient.IsAbsent():
	case slices.Contains(append(tokens, on.WrappedCoin, on.Contracts.Router), recipient):
		p.Mistake(name + " must not be a token or the public router, or the output would be lost")
	case on.Family == chain.SVM && !skips && !solana.IsWallet(recipient):
		p.Mistake(name + " must be a wallet, not an account of a program or of tokens; or set skipSolanaRecipientValidation")
	}
}

// Address parses an address in the form of a family, or in any form if the family is unknown.
func (p *Query) Address(name, text string, of chain.Family) chain.Address {
	a, err := chain.ParseAddress(text, of)
	if of == chain.UnknownFamily {
		a, _, err = chain.ParseAnyAddress(text)
	}
	switch {
	case err != nil:
		p.Mistake(name + " must be an address" + addressForms[of])
	case chain.ChecksumFails(text):
		p.Mistake(name + " has a wrong EIP-55 checksum; check its digits")
	}
	return a
}

var addressForms = map[chain.Family]string{
	chain.EVM: ": 0x followed by 40 hex digits",
	chain.SVM: " in base58",
	chain.TVM: " in base58check",

	chain.UnknownFamily: ": 0x followed by 40 hex digits, or base58 on Solana or TRON",
}

// Amount parses a positive amount that pools of a family can hold.
func (p *Query) Amount(name string, of chain.Family) chain.Amount {
	text, ok := p.Required(name)
	if !ok {
		return chain.Amount{}
	}
	amount, err := chain.ParseAmount(text)
	switch {
	case err != nil || amount.IsZero():
		p.Mistake(name + " must be a positive whole number of the token's smallest units")
	case amount.Big().BitLen() > amountBits[of]:
		p.Mistake(fmt.Sprintf("%s must be below 2^%d, as no pool holds more", name, amountBits[of]))
	}
	return amount
}

// Limits of an affiliate's percentage. The maximum is documented; most venues and the public router count in basis
// points, some in thousandths of a percent.
var maxAffiliatePercent = decimal.NewFromInt(10)

const affiliateDecimals = 3

// Affiliate parses an affiliate's share and its recipient on a chain of a family.
func (p *Query) Affiliate(of chain.Family) quote.Affiliate {
	const name = "affiliateFeePercent"
	var percent decimal.Decimal
	if text := p.Optional(name); text != "" {
		var ok bool
		percent, ok = quote.ParsePercent(text)
		if !ok || percent.GreaterThan(maxAffiliatePercent) || !percent.Equal(percent.Truncate(affiliateDecimals)) {
			p.Mistake(name + " must be a percent from 0 to 10 in steps of 0.001")
		}
	}
	return quote.Affiliate{Percent: percent, Recipient: p.Account("affiliateFeeRecipient", of)}
}

// CheckAffiliate returns an error unless the affiliate has both a share and a recipient, or neither.
func (p *Query) CheckAffiliate(a quote.Affiliate) error {
	switch wantsFee := a.Percent.IsPositive(); {
	case wantsFee && a.Recipient.IsAbsent():
		return AffiliateRecipientNotSet.Because("")
	case !wantsFee && !a.Recipient.IsAbsent() && p.All("affiliateFeePercent") == nil:
		return AffiliatePercentNotSet.Because("")
	}
	return nil
}

// Priority parses a priority level. The documented spelling for orders has a typo.
func (p *Query) Priority(name string) quote.Priority {
	switch p.Optional(name) {
	case "", "normal":
		return quote.Normal
	case "aggressive", "agressive":
		return quote.Aggressive
	}
	p.Mistake(name + " must be one of the following values: normal, aggressive")
	return quote.Normal
}

// Flag parses true or false, false if absent.
func (p *Query) Flag(name string) bool {
	switch p.Optional(name) {
	case "", "false":
		return false
	case "true":
		return true
	}
	p.Mistake(name + " must be true or false")
	return false
}

// Number parses a whole number up to most. It is 0 and not given if the parameter is absent, empty or malformed.
func (p *Query) Number(name string, most uint64) (n uint64, given bool) {
	text := strings.TrimSpace(p.Optional(name))
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > most {
		p.Mistake(fmt.Sprintf("%s must be a whole number from 0 to %d", name, most))
		return 0, false
	}
	return n, true
}

// ReferralCode parses the number of who referred the client.
func (p *Query) ReferralCode() (code uint32, given bool) {
	n, given := p.Number("referralCode", math.MaxUint32)
	return uint32(n), given
}

// amountBits are the bits in which pools hold an amount: 64 on Solana, elsewhere at most 128.
var amountBits = map[chain.Family]int{chain.EVM: 128, chain.TVM: 128, chain.SVM: 64, chain.UnknownFamily: 256}
