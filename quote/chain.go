package quote

import (
	"context"
	"errors"

	"crossgate/chain"
)

// Chain is what can be done on one chain. A chain needs its Guard; without another part answers are less precise.
type Chain struct {
	Guard     Guard     // nil: transactions are refused
	Fees      FeeSource // nil: answers have no fee
	Router    Router    // nil: there are direct swaps only
	Simulator Simulator // nil: transactions are not simulated
	Execution Execution
	Operator  Affiliate // receives a share of the input of direct swaps; zero: no share is taken
	// Payee finds where the gateway pays a share of a direct swap. ErrNoPayee: nowhere. nil: venues pay.
	Payee func(ctx context.Context, token, recipient chain.Address) (Payee, error)
	// AllowUnsimulated hands out direct transactions that could not be simulated.
	AllowUnsimulated bool
}

// FeeSource reads transaction costs from a chain.
type FeeSource interface {
	GasPrice(ctx context.Context, p Priority) (GasPrice, error)
	// EstimateGas runs tx from sender and returns the gas it needs. A revert is an error that wraps ErrReverted.
	EstimateGas(ctx context.Context, sender chain.Address, tx Tx) (uint64, error)
	// DataFee is what the chain takes for tx beyond gas at its price, in wei: on a rollup, for publishing it.
	DataFee(ctx context.Context, sender chain.Address, tx Tx, gas uint64) (chain.Amount, error)
}

// ErrRefused means that a venue's transaction would not do what its quote says.
var ErrRefused = errors.New("transaction refused")

// Guard reads what venues' transactions would do, in the format of a family of chains. Errors wrap ErrRefused.
type Guard interface {
	// Check refuses a transaction that would not do what the swap says: one with another callee or value.
	Check(s Swap, p Profile, tx Tx) error
	// MinOut returns the minimum that a direct tx enforces: wanted, or less by rounding. Without one it refuses.
	MinOut(s Swap, p Profile, q Quote, tx Tx, wanted chain.Amount) (chain.Amount, error)
}

// ErrNotSimulated means that a transaction could not be simulated, which says nothing about the transaction.
var ErrNotSimulated = errors.New("not simulated")

// Simulator runs transactions on the newest block, and reads balances.
type Simulator interface {
	// Balance is what holder has of a token; the zero address is the native coin.
	Balance(ctx context.Context, token, holder chain.Address) (chain.Amount, error)
	// Simulate runs a transaction on each of the next blocks with the balances and allowances that it needs, and
	// returns the worst result. ErrReverted: a certain failure; ErrRefused: it takes more of the sender's than stated;
	// ErrNotSimulated: the chain cannot run it; with ErrSenderLacks: the sender lacks the input.
	Simulate(ctx context.Context, s Simulation) (Result, error)
}

// Simulation is a transaction to be simulated, and what to look at.
type Simulation struct {
	Sender, Recipient chain.Address
	In, Out           chain.Address // the zero address is the native coin
	AmountIn          chain.Amount
	Tx                Tx
	Gas               uint64        // that it is expected to need; zero when unknown
	Spender           chain.Address // the contract that the sender allows to take a token input
	IsPermitted       bool          // by a permit within Tx, which an allowance must not stand in for
	// Through is the public router when the transaction goes through it: it must keep nothing of the input.
	Through chain.Address
}

// Result is what a simulation showed.
type Result struct {
	// Measured says that the amounts were seen. Otherwise the transaction is only known to succeed: not simulated.
	Measured bool
	Received chain.Amount // by the recipient, out token
	Gross    chain.Amount // by the public router, before its shares; zero in a direct swap, and where unknown
	Left     chain.Amount // of the input with the public router
	Gas      uint64       // that the transaction needs; zero when unknown
}
