package quote

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
)

// ErrLowBalance means that nothing of the whole balance is left to swap after paying for the transaction.
var ErrLowBalance = errors.New("balance too low")

// Reserves of the coin for the transaction: gas for a large one through the router, and the bytes of a large one.
const (
	keptGas   = 600_000
	keptBytes = 4 << 10
)

// Reserves on Solana, in lamports.
const (
	leastPriorityFee = 1_000_000 // venues bid by themselves
	tokenAccountRent = 2_039_280 // what an account of 165 bytes must hold
	walletRent       = 890_880
)

// reserve is the part of the sender's coin that is kept for the transaction when the rest is swapped.
type reserve struct {
	gasPrice chain.Amount // wei, at most; zero on Solana, whose gas costs nothing by itself
	total    chain.Amount // wei, with what the chain takes beside gas
	deposit  chain.Amount // the part of total that accounts must hold, which pays for nothing
}

// Balance returns what holder has of a token on a chain with swaps; ErrUnsupportedChain where that is not read.
func (e *Estimator) Balance(ctx context.Context, id chain.ID, token, holder chain.Address) (chain.Amount, error) {
	simulator := e.Chains[id].Simulator
	if simulator == nil {
		return chain.Amount{}, fmt.Errorf("balances on chain %d are not read: %w", id, ErrUnsupportedChain)
	}
	return simulator.Balance(ctx, token, holder)
}

// takeBalance makes all that the sender has the input, less the reserve when that is the coin.
func (t *trade) takeBalance(ctx context.Context) error {
	balance, err := t.Balance(ctx, t.request.Chain, t.swap.In.Address, t.swap.Sender)
	if err != nil {
		return fmt.Errorf("balance of the sender: %w", err)
	}
	rest := balance
	if t.swap.In.Address.IsNative() {
		kept, known := t.reserve(ctx)
		if !known {
			return fmt.Errorf("%w: the cost of the transaction is unknown", ErrNoTransaction)
		}
		t.kept, rest = kept, balance.Sub(kept.total)
	}
	if rest.IsZero() {
		return fmt.Errorf("%w: the sender has %s", ErrLowBalance, balance)
	}
	t.swap.In.Amount = rest
	return nil
}

// reserve is known once the chain returned its gas price and other fees.
func (t *trade) reserve(ctx context.Context) (kept *reserve, known bool) {
	if t.gasPrice == nil {
		return nil, false
	}
	if t.swap.Chain.Family == chain.SVM {
		return t.reserveLamports(ctx)
	}
	most := t.gasPrice.MaxFee
	if t.gasPrice.Legacy {
		most = t.gasPrice.Expected.MulDiv(5, 4)
	}
	published, known := t.dataFee(ctx, t.filled(keptBytes), typicalGas)
	return &reserve{gasPrice: most, total: gasCost(keptGas, most).Add(published)}, known
}

// filled is a transaction of so many bytes of calldata, which do not compress.
func (t *trade) filled(bytes int) Tx {
	return Tx{To: t.swap.Recipient, Data: Incompressible(bytes), Value: chain.NewAmount(1)}
}

// Incompressible is calldata of so many bytes that do not compress.
func Incompressible(bytes int) []byte {
	data := make([]byte, bytes)
	for i := range data {
		data[i] = byte(i * 151)
	}
	return data
}

// reserveLamports is the reserve on Solana: signature, priority, and deposits of two opened accounts and the wallet.
func (t *trade) reserveLamports(ctx context.Context) (kept *reserve, known bool) {
	priority := solana.PriorityFee(solana.MaxComputeUnits, t.gasPrice.Bid.MulDiv(2, 1))
	if least := chain.NewAmount(leastPriorityFee); priority.Cmp(least) < 0 {
		priority = least
	}
	deposit := chain.NewAmount(2*tokenAccountRent + walletRent)
	signed, known := t.dataFee(ctx, Tx{}, typicalGas)
	return &reserve{total: signed.Add(priority).Add(deposit), deposit: deposit}, known
}

// covers refuses a transaction that takes more than was kept for it.
func (r *reserve) covers(gas uint64, beside chain.Amount) error {
	if r == nil {
		return nil
	}
	if needed := gasCost(gas, r.gasPrice).Add(beside).Add(r.deposit); needed.Cmp(r.total) > 0 {
		return fmt.Errorf("%w: it may cost %s, more than the %s that are kept for it", ErrRefused, needed, r.total)
	}
	return nil
}
