package wire

import (
	"crossgate/chain"
	"crossgate/order"
)

// Listed is either an order whose creation is known or a swap within a chain.
type Listed struct {
	Order *Record
	Swap  *SwapRecord
}

// AppendOrderList appends a part of a list of orders and swaps within a chain, and the total count.
func (e Encoder) AppendOrderList(dst []byte, records []Listed, total uint64) []byte {
	return e.object(dst, func(w *writer) {
		objects(w.name("orders"), records, func(each Listed) {
			if each.Swap != nil {
				w.listedSwap(*each.Swap)
			} else {
				w.listedOrder(*each.Order)
			}
		})
		w.name("totalCount").uint(total)
	})
}

// listedOrder writes some members of the record, two of them in another form, and the trade type.
func (w *writer) listedOrder(r Record) {
	o, created := r.Order, r.Order.Created
	source, destination := w.chains.Family(o.Terms.Give.Chain), w.chains.Family(o.Terms.Take.Chain)
	w.name("orderId").hash(o.ID)
	w.name("creationTimestamp").uint(created.At.Time)
	w.name("giveOfferWithMetadata").offer(o.Terms.Give, o.GiveFinal, r.Give)
	w.name("takeOfferWithMetadata").offer(o.Terms.Take, o.TakeFinal, r.Take)
	w.name("state").plain(o.State.String())
	w.name("externalCallState").plain(o.Call.String())
	orNull(w.name("finalPercentFee"), o.FinalPercentFee, w.bigNumber)
	w.name("fixFee").bigNumber(created.Fact.FixFee)
	w.name("affiliateFee").listedAffiliateFee(created.Fact.Affiliate, source)
	w.name("unlockAuthorityDst").addressOrNull(factOf(o.Fulfilled).UnlockAuthority, destination)
	w.name("createEventTransactionHash").txHash(created.At.Tx, source)
	orNull(w.name("preswapData"), created.Fact.Preswap, func(p order.Preswap) { w.preswap(o.Terms.Give.Chain, p, r) })
	w.name("orderMetadata").orderMetadata(created.Fact.Metadata, true)
	w.name("tradeType").plain("CrossChain")
}

// listedAffiliateFee writes an affiliate's fee, an object of nulls if there is none.
func (w *writer) listedAffiliateFee(a *order.Affiliate, source chain.Family) {
	if a != nil {
		w.affiliateFee(*a, source)
		return
	}
	w.json = append(w.json, `{"beneficiarySrc":null,"amount":null}`...)
}

// AppendUnlockList appends what a taker needs to unlock a part of its orders, and the total count.
func (e Encoder) AppendUnlockList(dst []byte, orders []*order.Order, total uint64) []byte {
	return e.object(dst, func(w *writer) {
		objects(w.name("orders"), orders, func(o *order.Order) {
			w.name("orderId").hash(o.ID)
			w.name("giveTokenAddress").address(o.Terms.Give.Token, w.chains.Family(o.Terms.Give.Chain))
			w.name("finalGiveAmount").bigNumber(o.GiveFinal)
		})
		w.name("totalCount").uint(total)
	})
}
