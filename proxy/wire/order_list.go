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

// AppendOrderIDs appends ids as the tracking API does: as objects with their bytes.
func (e Encoder) AppendOrderIDs(dst []byte, ids []order.ID) []byte {
	return e.appendIDs(dst, ids, (*writer).hash)
}

// AppendOrderIDTexts appends ids as the swap API does: as strings (schema DlnOrderidsByTxResponse of its OpenAPI
// document).
func (e Encoder) AppendOrderIDTexts(dst []byte, ids []order.ID) []byte {
	return e.appendIDs(dst, ids, func(w *writer, id chain.Hash) { w.hex(id[:]) })
}

func (e Encoder) appendIDs(dst []byte, ids []order.ID, write func(*writer, order.ID)) []byte {
	return e.object(dst, func(w *writer) {
		list(w.name("orderIds"), ids, func(id order.ID) { write(w, id) })
	})
}

// AppendStatus appends the status of an order as the swap API does (schema DlnOrderStatusResponse of its OpenAPI
// document), and what clients read of its fulfilment. Strict ones accept no null, and want the amount as a string.
func (e Encoder) AppendStatus(dst []byte, o *order.Order) []byte {
	return e.object(dst, func(w *writer) {
		w.name("orderId").hex(o.ID[:])
		w.name("status").plain(o.State.String())
		if o.Fulfilled == nil {
			return
		}
		received := o.Fulfilled.Fact.ActualAmount
		if received == nil { // the contract accepted no other amount
			received = &o.TakeFinal
		}
		w.name("fulfilledDstEventMetadata").open('{')
		w.name("transactionHash").txHash(o.Fulfilled.At.Tx, w.chains.Family(o.Terms.Take.Chain))
		w.name("receivedAmount").open('{')
		w.name("bigIntegerValue").decimal(*received)
		w.close('}')
		w.close('}')
	})
}
