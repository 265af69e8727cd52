package creation

import (
	"bytes"
	"fmt"

	"crossgate/chain"
)

// Warning says why an order that can be created may cost its maker money.
type Warning struct {
	Code WarningCode
	Text string
}

// WarningCode identifies a warning for programs.
type WarningCode string

// Codes of warnings.
const (
	RulesDiffer          WarningCode = "RULES_DIFFER"                // the chain does not behave like version 1.4.0
	NothingTaken         WarningCode = "TAKE_AMOUNT_ZERO"            // the order is given away
	ReceiverZero         WarningCode = "RECEIVER_ZERO_ADDRESS"       // the delivery would be lost
	NobodyCancels        WarningCode = "ORDER_AUTHORITY_ZERO"        // an order that is not filled stays open
	NotClaimable         WarningCode = "GIVE_TOKEN_NOT_CLAIMABLE"    // no taker would be paid
	CallNeverRun         WarningCode = "EXTERNAL_CALL_MALFORMED"     // the order could never be filled
	MakerNotSender       WarningCode = "MAKER_IS_TRANSACTION_SENDER" // which is not the contract wallet
	RefundLost           WarningCode = "REFUND_RECIPIENT_ZERO"
	TakesLeftovers       WarningCode = "GIVE_AMOUNT_ABOVE_SWAP" // only passes with what others left in the router
	AffiliateWithoutRest WarningCode = "NOTHING_GIVEN"          // nothing is left of the give amount after fees
	CallsOthers          WarningCode = "CALLS_OTHER_PROGRAMS"   // or contracts, whose effects are not judged
	HighPriority         WarningCode = "PRIORITY_FEE_HIGH"      // of Solana; the fee is a part of the transaction
	TakesLittle          WarningCode = "TAKE_AMOUNT_LOW"        // at current prices
	TakerNotPaid         WarningCode = "TAKER_NOT_PAID"         // at current prices and costs
	NotDelivered         WarningCode = "TAKE_TOKEN_NOT_DELIVERED"
	ReceiverRefuses      WarningCode = "RECIPIENT_REFUSES_COIN" // no taker could fill the order
	BeneficiaryRefuses   WarningCode = "CANCEL_BENEFICIARY_REFUSES_COIN"
)

// warn adds warnings about anything that contracts accept but a maker would regret.
func (j *judge) warn() {
	c, w, token := j.f.Creation, j.f.Swap, j.s.Input
	if w != nil {
		token = j.s.Give
	}
	hasShare := j.f.Affiliate != nil && !j.f.Affiliate.Amount.IsZero()
	isToken := !c.GiveToken.IsNative()
	for _, each := range []struct {
		is   bool
		code WarningCode
		text string
	}{
		{c.Take.Amount.IsZero(), NothingTaken, "any taker may fill the order by delivering nothing"},
		{c.Receiver.IsNative(), ReceiverZero, "the delivery is lost"},
		{c.Authorities.Order.IsNative(), NobodyCancels, "the zero address cannot cancel: an order that is not filled stays open"},
		// USDT on TRON answers false, and is claimed there.
		{isToken && token.Transfer == ReturnsFalse && j.s.Chain != chain.Tron, NotClaimable, "transfer of the give token answers false: no claim succeeds" + j.assumed()},
		{
			isToken && token.Transfer == ReturnsNothing && hasShare, NotClaimable,
			"transfer of the give token returns nothing: with an affiliate every claim reverts" + j.assumed(),
		},
		{w != nil && w.RefundRecipient.IsNative(), RefundLost, "a surplus of the swap is burnt, or makes it fail"},
		{j.f.Split != nil && j.f.Split.Net.IsZero(), AffiliateWithoutRest, "nothing is left of the give amount for a taker"},
	} {
		if each.is {
			j.f.Warnings = append(j.f.Warnings, Warning{each.code, each.text})
		}
	}
	if len(c.ExternalCall) > 0 && c.Take.Token.Fits(chain.EVM) {
		if _, fault := ReadCall(c.ExternalCall, c.Take.Amount); fault != "" {
			j.f.Warnings = append(j.f.Warnings, Warning{CallNeverRun, "the external call " + fault + ": the order can never be filled"})
		}
	}
	if w != nil && c.GiveToken == w.TokenOut && c.GiveAmount.Cmp(w.ExpectedOut) > 0 {
		text := fmt.Sprintf("the order takes %s, the swap hands over %s", c.GiveAmount, w.ExpectedOut)
		j.f.Warnings = append(j.f.Warnings, Warning{TakesLeftovers, text})
	}
}

// delegation precedes the address of the code that an account with a key runs (EIP-7702).
var delegation = []byte{0xef, 0x01, 0x00}

// OfSender returns a warning about a sender with code who cannot sign, if so: the maker is the signer, not the caller.
func OfSender(code []byte) []Warning {
	if len(code) == 0 || bytes.HasPrefix(code, delegation) {
		return nil
	}
	return []Warning{{
		MakerNotSender, "the sender is a contract: the maker is the account that finally sends the transaction, and the order id depends on it",
	}}
}

// knownVersion is the newest version of DlnSource whose rules are known here.
const knownVersion = "1.4.0"

// assumed returns the version that a rule comes from, if the contract's is different or unknown.
func (j *judge) assumed() string {
	switch j.s.Version {
	case knownVersion:
		return ""
	case "":
		return " in version " + knownVersion
	}
	return fmt.Sprintf(" in version %s; that of %s is not known", knownVersion, j.s.Version)
}
