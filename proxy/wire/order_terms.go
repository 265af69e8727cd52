package wire

import "crossgate/order"

// AppendState appends the state of an order as a bare string.
func (e Encoder) AppendState(dst []byte, o *order.Order) []byte {
	w := &writer{json: dst}
	w.plain(o.State.String())
	return w.json
}

// AppendLite appends terms and state as OrderLiteDTO. An unknown creation time is null.
func (e Encoder) AppendLite(dst []byte, o *order.Order) []byte {
	return e.object(dst, func(w *writer) { w.lite(o) })
}

// AppendLiteModels appends several orders as a list of OrderLiteDTO.
func (e Encoder) AppendLiteModels(dst []byte, orders []*order.Order) []byte {
	w := &writer{json: dst, chains: e.Chains}
	objects(w, orders, w.lite)
	return w.json
}

func (w *writer) lite(o *order.Order) {
	terms := o.Terms
	source, destination := w.chains.Family(terms.Give.Chain), w.chains.Family(terms.Take.Chain)
	w.name("orderId").hash(o.ID)
	orNull(w.name("creationTimestamp"), o.Created.Where(), func(at order.At) { w.uint(at.Time) })
	w.name("state").plain(o.State.String())
	w.name("externalCallState").plain(o.Call.String())
	w.name("makerOrderNonce").uint(terms.Nonce)
	w.name("makerSrc").address(terms.Maker, source)
	w.name("giveOffer").liteOffer(terms.Give)
	w.name("receiverDst").address(terms.Receiver, destination)
	w.name("takeOffer").liteOffer(terms.Take)
	w.name("givePatchAuthoritySrc").address(terms.Authorities.GivePatch, source)
	w.name("orderAuthorityAddressDst").address(terms.Authorities.Order, destination)
	w.name("allowedTakerDst").address(terms.Authorities.AllowedTaker, destination)
	w.name("allowedCancelBeneficiarySrc").address(terms.Authorities.CancelBeneficiary, source)
	w.name("rawOrderMetadataHex").bytesOrNull(factOf(o.Created).Metadata)
	orNull(w.name("orderFulfilledTransactionHash"), o.Fulfilled.Where(), func(at order.At) { w.txHash(at.Tx, destination) })
}

func (w *writer) liteOffer(o order.Offer) {
	w.open('{')
	w.name("chainId").chainID(o.Chain)
	w.name("tokenAddress").address(o.Token, w.chains.Family(o.Chain))
	w.name("amount").bigNumber(o.Amount)
	w.close('}')
}

// AppendTerms appends an order's terms and state as the swap API does (schema DlnOrderResponse of its OpenAPI document,
// except that live answers have chain ids as numbers and amounts as strings). That document has no state for the call
// of a cancelled order other than that of any cancelled call.
func (e Encoder) AppendTerms(dst []byte, o *order.Order) []byte {
	return e.object(dst, func(w *writer) {
		w.name("orderId").hex(o.ID[:])
		w.name("status").plain(o.State.String())
		w.name("orderStruct").orderStruct(o.Terms)
		call := o.Call
		if call == order.OrderCancelled {
			call = order.CancelledCall
		}
		w.name("externalCallState").plain(call.String())
	})
}

func (w *writer) orderStruct(terms order.Terms) {
	source, destination := w.chains.Family(terms.Give.Chain), w.chains.Family(terms.Take.Chain)
	w.open('{')
	w.name("makerOrderNonce").uint(terms.Nonce)
	w.name("makerSrc").plain(terms.Maker.Format(source))
	w.name("giveOffer").offerText(terms.Give)
	w.name("receiverDst").plain(terms.Receiver.Format(destination))
	w.name("takeOffer").offerText(terms.Take)
	w.name("givePatchAuthoritySrc").plain(terms.Authorities.GivePatch.Format(source))
	w.name("orderAuthorityAddressDst").plain(terms.Authorities.Order.Format(destination))
	w.name("allowedTakerDst").plain(terms.Authorities.AllowedTaker.Format(destination))
	w.name("allowedCancelBeneficiarySrc").plain(terms.Authorities.CancelBeneficiary.Format(source))
	w.name("externalCall").hex(terms.ExternalCall)
	w.close('}')
}

func (w *writer) offerText(o order.Offer) {
	w.open('{')
	w.name("chainId").uint(uint64(o.Chain))
	w.name("tokenAddress").plain(o.Token.Format(w.chains.Family(o.Chain)))
	w.name("amount").decimal(o.Amount)
	w.close('}')
}
