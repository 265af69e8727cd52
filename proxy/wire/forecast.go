package wire

import (
	"crossgate/chain"
	"crossgate/chain/revert"
	"crossgate/order"
	"crossgate/order/creation"
)

// Difference is a parameter of a request that its transaction does not comply with.
type Difference struct{ Parameter, Requested, Found string }

// AppendForecasts appends the orders that a transaction on a chain would create.
func (e Encoder) AppendForecasts(dst []byte, id chain.ID, all []creation.Forecast, differences []Difference) []byte {
	return e.object(dst, func(w *writer) {
		w.name("chainId").uint(uint64(id))
		isRefused, isKnown := false, true
		for _, f := range all {
			isRefused, isKnown = isRefused || f.Refusal != nil, isKnown && len(f.Unknown) == 0
		}
		w.name("verdict")
		switch {
		case isRefused:
			w.plain("Refused")
		case !isKnown:
			w.plain("NotKnown")
		default:
			w.plain("Creates")
		}
		objects(w.name("orders"), all, func(f creation.Forecast) { w.forecast(id, f) })
		objects(w.name("differences"), differences, func(d Difference) {
			w.name("parameter").plain(d.Parameter)
			w.name("requested").text(d.Requested)
			w.name("found").text(d.Found)
		})
	})
}

// forecast writes an order that would be created or rejected. Null means unknown or absent.
func (w *writer) forecast(id chain.ID, f creation.Forecast) {
	family := w.chains.Family(id)
	orNull(w.name("orderId"), f.ID, func(id order.ID) { w.hex(id[:]) })
	orNull(w.name("refusal"), f.Refusal, func(r creation.Refusal) { w.refusal(r, family) })
	list(w.name("notKnown"), f.Unknown, w.text)
	w.warnings(f.Warnings)
	orNull(w.name("value"), f.Value, w.decimal)
	orNull(w.name("fixFee"), f.FixedFee, w.decimal)
	w.name("makerSrc").addressText(f.Maker, family)
	orNull(w.name("swap"), f.Swap, func(s creation.Swap) { w.swapBefore(s, family) })
	w.creation(family, f)
}

func (w *writer) warnings(all []creation.Warning) {
	objects(w.name("warnings"), all, func(warning creation.Warning) {
		w.name("code").plain(string(warning.Code))
		w.name("message").text(warning.Text)
	})
}

func (w *writer) creation(family chain.Family, f creation.Forecast) {
	c, take := f.Creation, w.chains.Family(f.Creation.Take.Chain)
	nonce := c.Salt
	if f.Terms != nil {
		nonce = &f.Terms.Nonce
	}
	orNull(w.name("makerOrderNonce"), nonce, w.uint)
	w.name("giveTokenAddress").addressText(c.GiveToken, family)
	w.name("giveAmountGross").decimal(c.GiveAmount)
	orNull(w.name("percentFee"), f.Split, func(s creation.Split) { w.decimal(s.Percent) })
	orNull(w.name("affiliateFee"), f.Split, func(s creation.Split) { w.decimal(s.Affiliate) })
	orNull(w.name("giveAmount"), f.Split, func(s creation.Split) { w.decimal(s.Net) })
	w.name("takeChainId").uint(uint64(c.Take.Chain))
	w.name("takeTokenAddress").addressText(c.Take.Token, take)
	w.name("takeAmount").decimal(c.Take.Amount)
	w.name("receiverDst").addressText(c.Receiver, take)
	w.name("givePatchAuthoritySrc").addressText(c.Authorities.GivePatch, family)
	w.name("orderAuthorityAddressDst").addressText(c.Authorities.Order, take)
	w.name("allowedTakerDst").addressText(c.Authorities.AllowedTaker, take)
	w.name("allowedCancelBeneficiarySrc").addressText(c.Authorities.CancelBeneficiary, family)
	w.name("externalCall").bytesOrNull(c.ExternalCall)
	orNull(w.name("affiliate"), f.Affiliate, func(a order.Affiliate) {
		w.object(func() {
			w.name("beneficiarySrc").addressText(a.Beneficiary, family)
			w.name("amount").decimal(a.Amount)
		})
	})
	w.name("referralCode").uint(uint64(c.ReferralCode))
	w.name("permit").permit(c.Permit)
	w.name("rawMetadataHex").bytesOrNull(c.Metadata)
	w.name("orderMetadata").orderMetadata(c.Metadata, false)
}

func (w *writer) swapBefore(s creation.Swap, family chain.Family) {
	w.open('{')
	w.name("tokenInAddress").addressText(s.TokenIn, family)
	w.name("amountIn").decimal(s.AmountIn)
	w.name("permit").permit(s.Permit)
	w.name("venue").addressText(s.Venue, family)
	w.name("tokenOutAddress").addressText(s.TokenOut, family)
	w.name("expectedAmountOut").decimal(s.ExpectedOut)
	w.name("refundRecipient").addressText(s.RefundRecipient, family)
	w.close('}')
}

// permit writes an allowance by signature, null if there is none. It is incomplete if bytes are missing.
func (w *writer) permit(envelope []byte) {
	if len(envelope) == 0 {
		w.null()
		return
	}
	p, complete := creation.ParsePermit(envelope)
	w.open('{')
	w.name("amount").decimal(p.Amount)
	w.name("deadline").decimal(p.Deadline)
	w.name("signature").hex(p.Signature[:])
	w.name("complete").bool(complete)
	w.close('}')
}

func (w *writer) refusal(r creation.Refusal, family chain.Family) {
	w.open('{')
	w.name("contract").addressText(r.By, family)
	w.name("message").text(r.Why)
	var errors []revert.Reason
	if r.Data != nil {
		errors = r.Reason().Chain()
	}
	w.name("data").unless(r.Data == nil, func() { w.hex(r.Data) })
	w.name("error").unless(r.Data == nil, func() { w.text(errors[0].String()) })
	objects(w.name("errors"), errors, func(e revert.Reason) {
		w.name("name").plain(e.Name)
		w.name("selector").plain(e.Selector)
		w.name("arguments").object(func() {
			for _, a := range e.Arguments {
				w.name(a.Name).text(a.Value)
			}
		})
	})
	w.close('}')
}

// addressText writes an address in its chain's form, null if it is absent.
func (w *writer) addressText(a chain.Address, family chain.Family) {
	w.unless(a.IsAbsent(), func() { w.plain(a.Format(family)) })
}
