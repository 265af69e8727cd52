package quote

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
)

// Chain holds the adapters of one chain. Only Guard is required; without the others answers are less precise.
type Chain struct {
	Guard     Guard     // nil: transactions are refused
	Fees      FeeSource // nil: answers have no fee
	Router    Router    // nil: only direct swaps are possible
	Simulator Simulator // nil: transactions are not simulated
	Execution Execution
	Operator  Affiliate // takes a share of the input of direct swaps; zero: none
	// Payee looks up the account that receives a share of a direct swap; ErrNoPayee: there is none. nil: venues pay.
	Payee func(ctx context.Context, token, recipient chain.Address) (Payee, error)
	// LookUp returns a message's accounts from lookup tables. It is needed with Payee.
	LookUp func(ctx context.Context, m solana.Message) (written, read []chain.Address, err error)
	// AllowUnsimulated hands out direct transactions that could not be simulated.
	AllowUnsimulated bool
}

// FeeSource reads transaction costs from a chain.
type FeeSource interface {
	// GasPrice returns the current price, or one from shortly before.
	GasPrice(ctx context.Context, p Priority) (GasPrice, error)
	// RenewGasPrice reads the price if that of GasPrice is no longer current.
	RenewGasPrice(ctx context.Context)
	// EstimateGas runs tx from sender and returns the gas it needs. A revert is an error that wraps ErrReverted.
	EstimateGas(ctx context.Context, sender chain.Address, tx Tx) (uint64, error)
	// DataFee returns what the chain charges for tx besides gas, in wei: on a rollup, for publishing it.
	DataFee(ctx context.Context, tx Tx, gas uint64) (chain.Amount, error)
}

// ErrRefused means that a venue's transaction would not do what its quote says.
var ErrRefused = errors.New("transaction refused")

// ErrBelowMinimum is ErrRefused of a transaction that would leave the recipient less than its minimum.
var ErrBelowMinimum = fmt.Errorf("%w: it pays less than its minimum", ErrRefused)

// Guard checks what venues' transactions would do, in the format of a family of chains. Errors wrap ErrRefused.
type Guard interface {
	// Check refuses a transaction that would not do what the swap says, such as one with another callee or value.
	Check(s Swap, p Profile, tx Tx) error
	// MinOut returns the minimum that a direct tx enforces: wanted, or less by rounding. It refuses a tx without one.
	MinOut(s Swap, p Profile, tx Tx, wanted chain.Amount) (chain.Amount, error)
}

// ErrNotSimulated means that a transaction could not be simulated, which says nothing about the transaction.
var ErrNotSimulated = errors.New("not simulated")

// Simulator runs transactions on the newest block, and reads balances.
type Simulator interface {
	// Balance returns holder's balance of a token; the zero address is the native coin.
	Balance(ctx context.Context, token, holder chain.Address) (chain.Amount, error)
	// Simulate runs a transaction on each of the next blocks with the balances and allowances that it needs, and
	// returns the worst result. ErrReverted: it is certain to fail; ErrRefused: it takes more from the sender than
	// stated; ErrNotSimulated: the chain cannot run it; with ErrSenderLacks: the sender lacks the input.
	Simulate(ctx context.Context, s Simulation) (Result, error)
}

// Simulation is a transaction to simulate and what to observe.
type Simulation struct {
	Sender, Recipient chain.Address
	In, Out           chain.Address // the zero address is the native coin
	AmountIn          chain.Amount
	Tx                Tx
	Gas               uint64        // expected need; zero if unknown
	Spender           chain.Address // the contract that the sender approves to take a token input
	IsPermitted       bool          // Tx carries a permit, which a simulated allowance must not replace
	// Shares are those of the input that Tx pays. A recipient who gets less is ErrRefused, if that is measured.
	Shares []Affiliate
	// Through is the public router if the transaction calls it: it must not retain any of the input.
	Through chain.Address
}

// Result is the outcome of a simulation.
type Result struct {
	// Measured reports whether amounts were observed. If not, Tx only succeeded, which does not count as simulated.
	Measured bool
	Received chain.Amount // by the recipient, out token
	Gross    chain.Amount // by the public router, before its shares; zero in a direct swap or if unknown
	Left     chain.Amount // input left in the public router
	Gas      uint64       // needed by the transaction; zero if unknown
}
