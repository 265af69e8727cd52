package wire

import (
	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
)

// SwapRecord is a swap made within a chain, with the metadata of its tokens.
type SwapRecord struct {
	Swap    order.Swap
	In, Out token.Token
}

// AppendSwapRecord appends the record of a swap that was made (SameChainSwapDTO). tokenOut is the amount that the
// recipient received. The members after affiliateFee are this server's own, as are beneficiary and referralCode in it:
// the rest of the hosted service's affiliateFee is not published.
func (e Encoder) AppendSwapRecord(dst []byte, r SwapRecord) []byte {
	return e.object(dst, func(w *writer) {
		at, fact := r.Swap.At, r.Swap.Fact
		family := w.chains.Family(at.Chain)
		w.name("swapId").hash(r.Swap.ID)
		w.name("chainId").chainID(at.Chain)
		w.name("sender").address(fact.Sender, family)
		w.name("recipient").address(fact.Recipient, family)
		w.name("tokenIn").tokenAmount(fact.TokenIn, fact.AmountIn, r.In, family)
		w.name("tokenOut").tokenAmount(fact.TokenOut, fact.Received(), r.Out, family)
		w.name("transactionHash").encodings("bytesValue", at.Tx.Bytes(), at.Tx.Format(family)) // in another sequence than elsewhere
		w.name("blockTimeStamp").uint(at.Time)
		orNull(w.name("affiliateFee"), fact.Affiliate, func(a order.Affiliate) {
			w.object(func() {
				w.name("affiliateFee").tokenAmount(fact.TokenOut, a.Amount, r.Out, family)
				w.name("beneficiary").addressOrNull(a.Beneficiary, family)
				w.name("referralCode").uint(uint64(fact.ReferralCode))
			})
		})
		w.name("state").plain(order.StateFulfilled.String())
		w.name("grossTokenOut").tokenAmount(fact.TokenOut, fact.AmountOut, r.Out, family)
		w.name("protocolFee").tokenAmount(fact.TokenOut, fact.Fee, r.Out, family)
		w.name("referralCode").uint(uint64(fact.ReferralCode))
		w.name("blockNumber").uint(at.Block)
		w.name("blockHash").hashOf(at.BlockHash, family)
	})
}

func (w *writer) tokenAmount(address chain.Address, amount chain.Amount, t token.Token, family chain.Family) {
	w.open('{')
	w.name("tokenAddress").address(address, family)
	w.name("amount").bigNumber(amount)
	w.name("metadata").tokenMetadata(t)
	w.close('}')
}

// listedSwap writes a swap as a delivered order: it gives the input, takes what the recipient received, and has no fees
// of the give token or the coin. The affiliate's share is in the output token.
func (w *writer) listedSwap(r SwapRecord) {
	at, fact, nothing := r.Swap.At, r.Swap.Fact, chain.Amount{}
	give := order.Offer{Chain: at.Chain, Token: fact.TokenIn, Amount: fact.AmountIn}
	take := order.Offer{Chain: at.Chain, Token: fact.TokenOut, Amount: fact.Received()}
	family := w.chains.Family(at.Chain)
	w.name("orderId").hash(r.Swap.ID)
	w.name("creationTimestamp").uint(at.Time)
	w.name("giveOfferWithMetadata").offer(give, give.Amount, r.In)
	w.name("takeOfferWithMetadata").offer(take, take.Amount, r.Out)
	w.name("state").plain(order.StateFulfilled.String())
	w.name("externalCallState").plain(order.NoExtCall.String())
	w.name("finalPercentFee").bigNumber(nothing)
	w.name("fixFee").bigNumber(nothing)
	w.name("affiliateFee").listedAffiliateFee(fact.Affiliate, family)
	w.name("unlockAuthorityDst").null()
	w.name("createEventTransactionHash").txHash(at.Tx, family)
	w.name("preswapData").null()
	w.name("orderMetadata").null()
	w.name("tradeType").plain("SameChain")
}
