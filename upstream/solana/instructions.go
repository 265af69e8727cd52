package solana

import (
	"context"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

var (
	_ order.TransactionSource = (*Chain)(nil)
	_ order.TellerSource      = (*Chain)(nil)
)

// Tellers implements order.TellerSource. No block that was read is ever dropped.
func (c *Chain) Tellers(tx chain.TxHash, _ chain.Hash) []string {
	return c.sources.Of(string(tx.Bytes()))
}

// Transaction implements order.TransactionSource, in one round trip: by the call that EventsIn makes. One that failed
// has no instructions.
func (c *Chain) Transaction(ctx context.Context, tx chain.TxHash) (order.Transaction, error) {
	if !slices.Contains(tx.Families(), chain.SVM) {
		return order.Transaction{}, order.ErrNotFound
	}
	var found *transaction
	asked := c.doubted(transactionCall(&found, tx))
	if err := c.rpc.All(ctx, asked); err != nil {
		return order.Transaction{}, err
	}
	if found == nil {
		return order.Transaction{}, order.ErrNotFound
	}
	if found.aside != nil {
		return order.Transaction{}, fmt.Errorf("chain %d: transaction %s: %w", c.chain.ID, tx, found.aside.Err)
	}
	read := order.Transaction{
		Chain: c.chain.ID, Hash: tx, Block: found.Slot, Sender: found.message.FeePayer(), GasUsed: found.Meta.Units,
		Calls: onchain.ReadInstructions(c.chain, found.ran), By: []string{asked.By},
	}
	if found.Meta.Fee != nil {
		fee := chain.NewAmount(*found.Meta.Fee)
		read.Fee = &fee
	}
	return read, nil
}
