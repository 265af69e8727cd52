// Package tron has what swaps need of TRON's nodes besides upstream/evm/swap. TRON's gas is energy, at one price
// for everybody, and bandwidth is paid for in addition. Orders and tokens are read by upstream/evm.
package tron

import (
	"context"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
)

// Fees reads what transactions cost on TRON. Safe for concurrent use.
type Fees struct{ *swap.Fees }

var _ quote.FeeSource = Fees{}

// NewFees returns a reader of costs on the newest block of c.
func NewFees(c *evm.Chain) Fees { return Fees{swap.NewFees(c)} }

// GasPrice returns the price of a unit of energy, in sun (getEnergyFee). It is the same for every priority.
func (f Fees) GasPrice(ctx context.Context, _ quote.Priority) (quote.GasPrice, error) {
	return f.Fees.GasPrice(ctx, quote.Normal)
}

// Bandwidth of a transaction that calls a contract.
const (
	// bandwidthPrice is the price of a byte, in sun (getTransactionFee; documentation-en, docs/api/http).
	bandwidthPrice = 1000

	// envelopeBytes is the most that a transaction takes besides calldata: 143 recorded, 10 for the value, 4 for
	// lengths, 67 for a signature, 3 for its tag, and 64 reserved for the outcome.
	envelopeBytes = 143 + 10 + 4 + 67 + 3 + 64
)

// DataFee returns the price of a transaction's bandwidth, in sun, for a sender who has no bandwidth left.
func (Fees) DataFee(_ context.Context, tx quote.Tx, _ uint64) (chain.Amount, error) {
	return chain.NewAmount(bandwidthPrice * uint64(envelopeBytes+len(tx.Data))), nil
}
