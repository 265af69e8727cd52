package tron

import (
	"context"

	"crossgate/chain"
	"crossgate/quote"
)

var _ quote.FeeSource = (*Chain)(nil)

// GasPrice is what a unit of energy costs, in sun: the chain's parameter getEnergyFee, which java-tron reports as its
// gas price. Everybody pays the same: no priority costs more.
func (c *Chain) GasPrice(ctx context.Context, _ quote.Priority) (quote.GasPrice, error) {
	return c.Chain.GasPrice(ctx, quote.Normal)
}

// Bandwidth of a transaction that calls a contract.
const (
	// bandwidthPrice is the price of a byte for accounts without bandwidth, in sun: the chain's parameter
	// getTransactionFee, which only TRON's own interface has (documentation-en, docs/api/http).
	bandwidthPrice = 1000

	// envelopeBytes is the most that a transaction has beside its calldata, by what the interface makes of one
	// (143 bytes, wallet/triggersmartcontract): with 10 for the value that it sends and 4 for longer lengths, a
	// signature of 67, its own tag and length of 3, and 64 that are reserved for the outcome.
	envelopeBytes = 143 + 10 + 4 + 67 + 3 + 64
)

// DataFee is the bandwidth that a transaction takes, as a sender who has none of his own pays for it.
func (c *Chain) DataFee(_ context.Context, _ chain.Address, tx quote.Tx, _ uint64) (chain.Amount, error) {
	return chain.NewAmount(bandwidthPrice * uint64(envelopeBytes+len(tx.Data))), nil
}
