package wire

import (
	"crossgate/chain"
	"crossgate/order/creation"
)

// Settlement is a transaction that cancels an order or its external call, or pays for deliveries.
type Settlement struct {
	creation.Transaction
	Chain       chain.ID
	Beneficiary chain.Address // who is paid
	PaidOn      chain.ID
}

// AppendSettlement appends CancelTxResponsePayload, with the beneficiary in the member paid.
func (e Encoder) AppendSettlement(dst []byte, s Settlement, paid string) []byte {
	family := e.Chains.Family(s.Chain)
	return e.object(dst, func(w *writer) {
		w.name("to").unless(s.To.IsAbsent(), func() { w.plain(s.To.Checksum()) }) // in hex on TRON, as in create-tx
		w.name("data").hex(s.Data)
		w.name("value").decimal(s.Value)
		w.name("chainId").uint(uint64(s.Chain))
		w.name("from").addressText(s.Sender, family)
		w.name(paid).addressText(s.Beneficiary, w.chains.Family(s.PaidOn))
	})
}
