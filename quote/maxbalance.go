package quote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"crossgate/chain"
	"crossgate/chain/solana"
)

// ErrLowBalance means that the whole balance leaves nothing to swap after paying for the transaction.
var ErrLowBalance = errors.New("balance too low")

// What a reserve of the coin covers: the gas of a large transaction through the router, and the bytes of a large one.
const (
	keptGas   = 600_000
	keptBytes = 4 << 10
)

// Reserves on Solana, in lamports.
const (
	leastPriorityFee = 1_000_000                                     // venues bid by themselves
	keptDeposits     = 2*solana.TokenAccountRent + solana.WalletRent // of two opened accounts and the wallet
)

// Reserve is the part of a sender's coin that is kept for the transaction when the rest is swapped.
type Reserve struct {
	Total    chain.Amount // wei, including what the chain charges besides gas
	gasPrice chain.Amount // wei, at most; zero on Solana, where gas itself is free
	deposit  chain.Amount // part of Total that accounts must hold, so that it cannot pay fees
}

// Need is what a sender's large transaction needs.
type Need struct {
	Gas      uint64
	Deposits uint64 // lamports; Solana only
}

// NewReserve returns the reserve for a need at a gas price; on Solana, for a signature and a priority fee.
func NewReserve(ctx context.Context, c chain.Chain, fees FeeSource, price GasPrice, n Need) (*Reserve, error) {
	if c.Family == chain.SVM {
		signed, err := fees.DataFee(ctx, Tx{}, n.Gas)
		priority := solana.PriorityFee(solana.MaxComputeUnits, price.Bid.MulDiv(2, 1))
		if least := chain.NewAmount(leastPriorityFee); priority.Cmp(least) < 0 {
			priority = least
		}
		deposit := chain.NewAmount(n.Deposits)
		return &Reserve{Total: signed.Add(priority).Add(deposit), deposit: deposit}, err
	}
	most := price.MaxFee
	if price.Legacy {
		most = price.Expected.MulDiv(5, 4)
	}
	published, err := fees.DataFee(ctx, Filled(keptBytes), n.Gas)
	return &Reserve{Total: most.MulDiv(n.Gas, 1).Add(published), gasPrice: most}, err
}

// ShortReserveError is an ErrRefused: a transaction may cost more than is kept for it.
type ShortReserveError struct{ Needed, Reserved chain.Amount }

func (e *ShortReserveError) Error() string {
	return fmt.Sprintf("%v: it may cost %s, more than the %s that are kept for it", ErrRefused, e.Needed, e.Reserved)
}

func (e *ShortReserveError) Unwrap() error { return ErrRefused }

// Covers returns a ShortReserveError if a transaction may cost more than the reserve. A nil Reserve covers everything.
func (r *Reserve) Covers(gas uint64, beside chain.Amount) error {
	if r == nil {
		return nil
	}
	if needed := r.gasPrice.MulDiv(gas, 1).Add(beside).Add(r.deposit); needed.Cmp(r.Total) > 0 {
		return &ShortReserveError{needed, r.Total}
	}
	return nil
}

// Balance returns holder's balance of a token; ErrUnsupportedChain if balances of the chain are not read.
func (e *Estimator) Balance(ctx context.Context, id chain.ID, token, holder chain.Address) (chain.Amount, error) {
	simulator := e.Chains[id].Simulator
	if simulator == nil {
		return chain.Amount{}, fmt.Errorf("balances on chain %d are not read: %w", id, ErrUnsupportedChain)
	}
	return simulator.Balance(ctx, token, holder)
}

// takeBalance sets the input to the sender's whole balance, less the reserve if it is the coin.
func (t *trade) takeBalance(ctx context.Context) error {
	balance, err := t.Balance(ctx, t.request.Chain, t.swap.In.Address, t.swap.Sender)
	if err != nil {
		return fmt.Errorf("balance of the sender: %w", err)
	}
	rest := balance
	if t.swap.In.Address.IsNative() {
		if t.kept, err = t.reserve(ctx); err != nil {
			return fmt.Errorf("%w: unknown transaction cost: %w", ErrNoTransaction, err)
		}
		rest = balance.Sub(t.kept.Total)
	}
	if rest.IsZero() {
		return fmt.Errorf("%w: the sender has %s", ErrLowBalance, balance)
	}
	t.swap.In.Amount = rest
	return nil
}

// reserve returns the reserve, which depends on the chain's gas price and other fees.
func (t *trade) reserve(ctx context.Context) (*Reserve, error) {
	if t.gasPrice == nil {
		return nil, errors.New("unknown gas price")
	}
	ctx, cancel := context.WithTimeout(ctx, gasPatience)
	defer cancel()
	return NewReserve(ctx, t.swap.Chain, t.chain.Fees, *t.gasPrice, Need{keptGas, keptDeposits})
}

// Filled returns a transaction whose calldata does not compress, since rollups charge for compressed bytes.
func Filled(length int) Tx {
	data := make([]byte, length)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // the same bytes for each length
	return Tx{To: chain.NativeCoin(chain.EVM), Data: data}
}
