package evm

import (
	"crossgate/chain"
	"crossgate/order"
)

var _ order.TellerSource = (*Chain)(nil)

// Tellers implements order.TellerSource. The hash of the block tells a transaction apart from the same one on a branch
// that was dropped.
func (c *Chain) Tellers(tx chain.TxHash, block chain.Hash) []string {
	return c.sources.Of(string(append(tx.Bytes(), block[:]...)))
}

// heard takes note of who listed logs.
func (c *Chain) heard(logs []log, by string) {
	for _, l := range logs {
		c.sources.Add(string(append(l.TransactionHash[:], l.BlockHash[:]...)), by)
	}
}

// heardReceipt takes note of who told a receipt.
func (c *Chain) heardReceipt(r *receipt, by string) {
	c.sources.Add(string(append(r.TransactionHash[:], r.BlockHash[:]...)), by)
}
