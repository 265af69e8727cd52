package solana

import (
	"crossgate/chain"
	"crossgate/order"
)

var _ order.TellerSource = (*Chain)(nil)

// Tellers implements order.TellerSource. No block that was read is ever dropped.
func (c *Chain) Tellers(tx chain.TxHash, _ chain.Hash) []string {
	return c.sources.Of(string(tx.Bytes()))
}
