package evm

import (
	"crossgate/chain"
	"crossgate/order"
)

var _ order.TellerSource = (*Chain)(nil)

// Tellers implements order.TellerSource. The block's hash distinguishes the transaction from the same one on a
// dropped branch.
func (c *Chain) Tellers(tx chain.TxHash, block chain.Hash) []string {
	return c.sources.Of(string(append(tx.Bytes(), block[:]...)))
}

// heard takes note of who listed logs.
func (c *Chain) heard(logs []log) {
	for _, l := range logs {
		c.sources.Add(string(append(l.TransactionHash[:], l.BlockHash[:]...)), l.by)
	}
}

// heardReceipt notes the endpoint of a receipt.
func (c *Chain) heardReceipt(r *receipt, by string) {
	c.sources.Add(string(append(r.TransactionHash[:], r.BlockHash[:]...)), by)
}
