package wire

import (
	"crossgate/chain"
	"crossgate/order/creation"
)

// Cancel is a transaction by which an order's authority cancels it, or its external call.
type Cancel struct {
	creation.Transaction
	Chain       chain.ID
	Beneficiary chain.Address // who gets the refund
	PaidOn      chain.ID      // the chain of the refund
}

// AppendCancel appends CancelTxResponsePayload.
func (e Encoder) AppendCancel(dst []byte, c Cancel) []byte {
	family := e.Chains.Family(c.Chain)
	return e.object(dst, func(w *writer) {
		w.name("to").addressText(c.To, family)
		w.name("data").hex(c.Data)
		w.name("value").decimal(c.Value)
		w.name("chainId").uint(uint64(c.Chain))
		w.name("from").addressText(c.Sender, family)
		w.name("cancelBeneficiary").addressText(c.Beneficiary, w.chains.Family(c.PaidOn))
	})
}
