package quote

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
)

// ErrLowBalance means that a sender who wants to swap all that he has, has nothing to swap after paying for the
// transaction.
var ErrLowBalance = errors.New("balance too low")

// What is kept of the coin for a transaction that swaps the rest: gas for a large one through the public router, and
// on rollups the publishing of as many bytes as a large one has.
const (
	keptGas   = 600_000
	keptBytes = 4 << 10
)

// Reserve is what is kept of the sender's coin for the transaction when the rest is swapped.
type Reserve struct {
	GasLimit uint64
	GasPrice chain.Amount // wei, at most; zero on Solana, whose gas costs nothing by itself
	Total    chain.Amount // wei, with what the chain takes beside gas
	Deposit  chain.Amount // the part of Total that accounts must hold, which pays for nothing
}

// whole returns all that the sender has of the input, less the reserve when that is the coin.
func (e *Estimator) whole(ctx context.Context, s Swap, price *GasPrice) (chain.Amount, *Reserve, error) {
	simulator, can := e.simulators[s.Chain.ID]
	if !can {
		return chain.Amount{}, nil, fmt.Errorf("balances on chain %d are not read: %w", s.Chain.ID, ErrUnsupportedChain)
	}
	balance, err := simulator.Balance(ctx, s.In.Address, s.Sender)
	if err != nil {
		return chain.Amount{}, nil, fmt.Errorf("balance of the sender: %w", err)
	}
	var kept *Reserve
	rest := balance
	if s.In.Address.IsNative() {
		if kept, err = e.reserve(ctx, s, price); err != nil {
			return chain.Amount{}, nil, err
		}
		rest = balance.Sub(kept.Total)
	}
	if rest.IsZero() {
		return chain.Amount{}, nil, fmt.Errorf("%w: the sender has %s", ErrLowBalance, balance)
	}
	return rest, kept, nil
}

func (e *Estimator) reserve(ctx context.Context, s Swap, price *GasPrice) (*Reserve, error) {
	if price == nil {
		return nil, fmt.Errorf("%w: what the transaction will cost is not known", ErrNoTransaction)
	}
	if s.Chain.Family == chain.SVM {
		return e.keptLamports(ctx, s, price), nil
	}
	most := price.MaxFee
	if price.Legacy {
		most = price.Expected.MulDiv(5, 4)
	}
	large := built{tx: Tx{To: s.Recipient, Data: make([]byte, keptBytes), Value: chain.NewAmount(1)}}
	for i := range large.tx.Data {
		large.tx.Data[i] = byte(i * 151) // bytes that do not compress
	}
	total := gasCost(keptGas, most).Add(e.dataFee(ctx, s, large))
	return &Reserve{GasLimit: keptGas, GasPrice: most, Total: total}, nil
}

// covers refuses a transaction that takes more than was kept for it.
func (r *Reserve) covers(gas uint64, beside chain.Amount) error {
	if r == nil {
		return nil
	}
	if needed := gasCost(gas, r.GasPrice).Add(beside).Add(r.Deposit); needed.Cmp(r.Total) > 0 {
		return fmt.Errorf("%w: it may cost %s, more than the %s that are kept for it", ErrRefused, needed, r.Total)
	}
	return nil
}
