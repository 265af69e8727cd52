package wire

import (
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/token"
)

// Record is an order with the metadata of its tokens.
type Record struct {
	Order      *order.Order
	Give, Take token.Token
	PreswapIn  token.Token // the maker's token, if it was swapped to Give first
}

// AppendOrder appends the order record.
func (e Encoder) AppendOrder(dst []byte, r Record) []byte {
	w := &writer{json: dst, chains: e.Chains}
	o, terms := r.Order, r.Order.Terms
	source, destination := e.Chains.Family(terms.Give.Chain), e.Chains.Family(terms.Take.Chain)
	created := factOf(o.Created)
	fulfilled := factOf(o.Fulfilled)

	w.open('{')
	w.name("orderId").hash(o.ID)
	w.name("makerOrderNonce").uint(terms.Nonce)
	w.name("makerSrc").address(terms.Maker, source)
	w.name("giveOfferWithMetadata").offer(terms.Give, o.GiveFinal, r.Give)
	w.name("receiverDst").address(terms.Receiver, destination)
	w.name("takeOfferWithMetadata").offer(terms.Take, o.TakeFinal, r.Take)
	orNull(w.name("actualFulfillAmount"), fulfilled.ActualAmount, w.bigNumber)
	w.name("givePatchAuthoritySrc").address(terms.Authorities.GivePatch, source)
	w.name("orderAuthorityAddressDst").address(terms.Authorities.Order, destination)
	w.name("allowedTakerDst").address(terms.Authorities.AllowedTaker, destination)
	w.name("allowedCancelBeneficiarySrc").address(terms.Authorities.CancelBeneficiary, source)
	w.name("state").plain(o.State.String())
	w.name("externalCallState").plain(o.Call.String())
	// Without a creation fees are unknown, not 0, and left out.
	if o.Created != nil {
		w.name("referralCode").uint(uint64(o.Created.Fact.ReferralCode))
		w.name("percentFee").bigNumber(o.Created.Fact.PercentFee)
	}
	if o.FinalPercentFee != nil {
		w.name("finalPercentFee").bigNumber(*o.FinalPercentFee)
	}
	if o.Created != nil {
		w.name("fixFee").bigNumber(o.Created.Fact.FixFee)
	}
	w.name("unlockBeneficiarySrc").addressOrNull(beneficiary(o.SentUnlock, o.ClaimedUnlock), source)
	w.name("cancelBeneficiarySrc").addressOrNull(beneficiary(o.SentCancel, o.ClaimedCancel), source)
	w.name("taker").address(fulfilled.Taker, destination)
	w.name("unlockAuthorityDst").address(fulfilled.UnlockAuthority, destination)
	orNull(w.name("affiliateFee"), created.Affiliate, func(a order.Affiliate) { w.affiliateFee(a, source) })
	w.name("createdSrcEventMetadata").eventMetadata(o.Created.Where())
	w.name("fulfilledDstEventMetadata").eventMetadata(o.Fulfilled.Where())
	w.name("sentUnlockDstEventInfo").eventInfo(o.SentUnlock.Where(), factOf(o.SentUnlock).Submission)
	w.name("claimedUnlockSrcEventInfo").eventInfo(o.ClaimedUnlock.Where(), factOf(o.ClaimedUnlock).Submission)
	w.name("orderCancelledDstEventMetadata").eventMetadata(o.CancelledAt())
	w.name("sentOrderCancelDstEventInfo").eventInfo(o.SentCancel.Where(), factOf(o.SentCancel).Submission)
	w.name("claimedOrderCancelSrcEventInfo").eventInfo(o.ClaimedCancel.Where(), factOf(o.ClaimedCancel).Submission)
	orNull(w.name("preswapData"), created.Preswap, func(p order.Preswap) { w.preswap(terms.Give.Chain, p, r) })
	w.name("externalCallData").bytesOrNull(terms.ExternalCall)
	w.name("orderMetadata").orderMetadata(created.Metadata, false)
	w.close('}')
	return w.json
}

// offer writes an OfferWithMetadata, which contains the token's metadata twice.
func (w *writer) offer(o order.Offer, final chain.Amount, t token.Token) {
	w.open('{')
	w.name("chainId").chainID(o.Chain)
	w.name("tokenAddress").address(o.Token, w.chains.Family(o.Chain))
	w.name("amount").bigNumber(o.Amount)
	w.name("finalAmount").bigNumber(final)
	w.name("metadata").tokenMetadata(t)
	w.tokenMembers(t)
	w.close('}')
}

func (w *writer) affiliateFee(a order.Affiliate, source chain.Family) {
	w.object(func() {
		w.name("beneficiarySrc").address(a.Beneficiary, source)
		w.name("amount").bigNumber(a.Amount)
	})
}

// preswap writes the swap into the give token in the form of published client schemas.
func (w *writer) preswap(id chain.ID, p order.Preswap, r Record) {
	family := w.chains.Family(id)
	w.open('{')
	w.name("chainId").chainID(id)
	w.name("inTokenAddress").address(p.TokenIn, family)
	w.name("inAmount").bigNumber(p.AmountIn)
	w.name("tokenInMetadata").tokenMetadata(r.PreswapIn)
	w.name("tokenInLogoURI").text(r.PreswapIn.LogoURI)
	w.name("outTokenAddress").address(p.TokenOut, family)
	w.name("outAmount").bigNumber(p.AmountOut)
	w.name("tokenOutMetadata").tokenMetadata(r.Give)
	w.name("tokenOutLogoURI").text(r.Give.LogoURI)
	w.close('}')
}

func (w *writer) bytesOrNull(raw []byte) {
	w.unless(len(raw) == 0, func() { w.hex(raw) })
}

// beneficiary returns the beneficiary on the give chain from the message or, until that is seen, from its claim.
func beneficiary(sent *order.Seen[order.Sent], claimed *order.Seen[order.Claimed]) chain.Address {
	if sent != nil {
		return sent.Fact.Beneficiary
	}
	return factOf(claimed).Beneficiary
}

// factOf returns the fact of an event, zero if it has not been seen.
func factOf[F order.Fact](seen *order.Seen[F]) F {
	if seen == nil {
		var nothing F
		return nothing
	}
	return seen.Fact
}

// orderMetadata writes the decoded metadata of the maker's software. Members that are missing, or have a code without a
// name, are omitted, because strict clients accept no null there. In that case, and always in lists of orders, the raw
// bytes are added, as by the hosted service.
func (w *writer) orderMetadata(raw []byte, isListed bool) {
	if len(raw) == 0 {
		w.null()
		return
	}
	m, known := onchain.ParseMetadata(raw)
	w.open('{')
	if isListed || m.CreationProcessType == "" || m.Origin == "" || m.PromotionType == "" || m.OrderTradeType == "" {
		w.name("rawMetadataHex").hex(raw)
	}
	if known {
		w.name("version").uint(uint64(m.Version))
		w.wordOrNone("creationProcessType", m.CreationProcessType)
		w.wordOrNone("origin", m.Origin)
		w.name("additionalTakerIncentiveBps").uint(uint64(m.AdditionalTakerIncentiveBps))
		w.name("operatingExpensesAmount").decimal(m.OperatingExpenses)
		w.name("recommendedTakeAmount").decimal(m.RecommendedTake)
		w.name("metadata").hex(m.Metadata[:])
		w.wordOrNone("promotionType", m.PromotionType)
		w.wordOrNone("orderTradeType", m.OrderTradeType)
	}
	// No known layout contains these; recorded responses have null.
	w.name("partnerFeeBps").null()
	w.name("srcProtocolChainId").null()
	w.name("dstProtocolChainId").null()
	w.close('}')
}

func (w *writer) wordOrNone(name, word string) {
	if word != "" {
		w.name(name).plain(word)
	}
}

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
