package creations

import (
	"cmp"
	"encoding/hex"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/quote/crosschain"
)

// wanted is a request and what its answer has.
type wanted struct {
	request crosschain.Request
	hasGas  bool
}

// parameters are a query's parameters, with the families of the two chains as far as known.
type parameters struct {
	proxy.Query
	give, take chain.Family
}

const (
	maxRewardBps  = 9_000 // rewarding everything would leave nothing
	metadataBytes = 20
	permitBytes   = 129
)

// parse parses the documented parameters. Others, such as access tokens, are ignored.
func parse(rawQuery string, chains chain.Registry, isQuote bool) (wanted, error) {
	p := &parameters{Query: proxy.ReadQuery(rawQuery)}
	var r crosschain.Request
	r.Give, r.Take = p.ChainID("srcChainId", chains), p.ChainID("dstChainId", chains)
	p.give, p.take = chains.Family(r.Give), chains.Family(r.Take)
	r.TokenIn, r.TokenOut = p.Token("srcChainTokenIn", p.give), p.Token("dstChainTokenOut", p.take)
	p.amounts(&r)
	r.Prepend = p.Flag("prependOperatingExpenses")
	incentive, _ := p.Number("additionalTakerRewardBps", maxRewardBps)
	r.IncentiveBps = int(incentive)
	r.Affiliate = p.Affiliate(p.give)
	r.GiveReserve, r.TakeReserve = p.intermediary("srcIntermediaryTokenAddress", p.give), p.intermediary("dstIntermediaryTokenAddress", p.take)
	r.Priority = p.Priority("srcChainPriorityLevel")
	if p.Flag("ptp") || p.Flag("otc") {
		p.Mistake("ptp is not offered here: name allowedTaker and both amounts")
	}
	hasGas := p.Flag("enableEstimate")
	making := p.making()
	take, _ := chains.Chain(r.Take)
	p.CheckRecipient("dstChainTokenOutRecipient", making.Recipient, take, r.TokenOut)
	apart := func(name string, account chain.Address, of string, token chain.Address) {
		if !account.IsAbsent() && account == token { // which can neither cancel nor pass on a refund
			p.Mistake(name + " must not be " + of)
		}
	}
	apart("dstChainOrderAuthorityAddress", making.Authorities.Order, "dstChainTokenOut", r.TokenOut)
	apart("srcChainOrderAuthorityAddress", making.Authorities.GivePatch, "srcChainTokenIn", r.TokenIn)
	apart("srcAllowedCancelBeneficiary", making.Authorities.CancelBeneficiary, "srcChainTokenIn", r.TokenIn)
	p.hook(&r, making.Recipient)
	err := p.Err()
	switch {
	case err != nil:
	case r.Give == r.Take:
		err = proxy.SameChains.Because("")
	case (hasGas || r.MaxBalance) && p.Optional("senderAddress") == "":
		err = proxy.SenderEmpty.Because("")
	default:
		err = p.CheckAffiliate(r.Affiliate)
	}
	switch {
	case !isQuote && !making.Recipient.IsAbsent() && !making.Authorities.GivePatch.IsAbsent() && !making.Authorities.Order.IsAbsent():
		r.Making = &making
	case r.MaxBalance:
		r.Making = &crosschain.Making{Sender: making.Sender} // its balance is meant
	}
	return wanted{request: r, hasGas: hasGas}, err
}

// amounts parses which sides are fixed: an amount, or auto for the recommended one; for the input also max, the
// sender's whole balance.
func (p *parameters) amounts(r *crosschain.Request) {
	in, out := p.Optional("srcChainTokenInAmount"), p.Optional("dstChainTokenOutAmount")
	if out != "" && out != "auto" {
		r.AmountOut = p.Amount("dstChainTokenOutAmount", p.take)
	}
	switch {
	case in == "auto" && r.AmountOut.IsZero():
		p.Mistake("srcChainTokenInAmount can be auto only when dstChainTokenOutAmount is an amount")
	case in == "auto":
	case in == "max":
		r.MaxBalance = true
	default:
		r.AmountIn = p.Amount("srcChainTokenInAmount", p.give)
	}
}

// making parses the parties of the order.
func (p *parameters) making() (m crosschain.Making) {
	m.Recipient = p.Account("dstChainTokenOutRecipient", p.take)
	m.Authorities = order.Authorities{
		GivePatch:         p.Account("srcChainOrderAuthorityAddress", p.give),
		Order:             p.Account("dstChainOrderAuthorityAddress", p.take),
		AllowedTaker:      p.Account("allowedTaker", p.take),
		CancelBeneficiary: p.Account("srcAllowedCancelBeneficiary", p.give),
	}
	if m.Sender = p.Account("senderAddress", p.give); m.Sender.IsAbsent() {
		m.Sender = m.Authorities.GivePatch
	}
	if m.Refund = p.Account("srcChainRefundAddress", p.give); p.give == chain.SVM && !m.Refund.IsAbsent() && m.Refund != m.Sender {
		p.Mistake("srcChainRefundAddress must be the sender on Solana, who has what a swap before pays")
	}
	m.Bundle = p.Flag("bundle")
	m.ReferralCode, _ = p.ReferralCode()
	given := func(name string, most int) []byte { return p.hex(name, cmp.Or(p.Optional(name), "0x"), most) }
	copy(m.Metadata[:], given("metadata", metadataBytes))
	if m.Permit = given("srcChainTokenInSenderPermit", permitBytes); len(m.Permit) != 0 && len(m.Permit) != permitBytes {
		p.Mistake("srcChainTokenInSenderPermit must be 129 bytes: amount, deadline, r, s and v")
	}
	return m
}

// hex parses 0x and hex digits of at most most bytes.
func (p *parameters) hex(name, text string, most int) []byte {
	digits, isPrefixed := strings.CutPrefix(text, "0x")
	raw, err := hex.DecodeString(digits)
	if !isPrefixed || err != nil || len(raw) > most {
		p.Mistake(name + " must be 0x followed by hex digits of " + strconv.Itoa(most) + " bytes at most")
		return nil
	}
	return raw
}

// intermediary parses a reserve token that the client insists on; absent means the best one.
func (p *parameters) intermediary(name string, of chain.Family) chain.Address {
	if p.Optional(name) == "" {
		return chain.Address{}
	}
	return p.Token(name, of)
}
