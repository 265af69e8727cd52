package wire

import (
	"crossgate/chain"
	"crossgate/order"
)

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
