package quote

import (
	"context"
	"encoding/binary"

	"crossgate/chain"
)

// How Solana charges for a place in a block (https://solana.com/docs/core/fees): a message says how many compute
// units it may take and what it pays for each of them, taken or not.
const (
	setUnitLimit   = 2 // instructions of the compute budget program
	setUnitPrice   = 3
	mostUnits      = 1_400_000
	unitsPerCall   = 200_000 // of a message without a limit
	bidsInALamport = 1_000_000
	leastPriority  = 1_000_000 // lamports that are kept for it: venues bid by themselves
)

// Lamports that accounts must hold (165 bytes for tokens, none for a wallet's own).
const (
	tokenAccountRent = 2_039_280
	walletRent       = 890_880
)

var budgetProgram = solanaProgram("ComputeBudget111111111111111111111111111111")

// budget is what a message says of its compute units.
type budget struct {
	limit  uint64
	price  uint64 // millionths of a lamport
	priced bool
}

func (m message) budget() budget {
	b, calls := budget{}, uint64(0)
	for _, i := range m.instructions {
		switch {
		case m.key(i.program) != budgetProgram:
			calls++
		case len(i.data) == 5 && i.data[0] == setUnitLimit:
			b.limit = uint64(binary.LittleEndian.Uint32(i.data[1:]))
		case len(i.data) == 9 && i.data[0] == setUnitPrice:
			b.price, b.priced = binary.LittleEndian.Uint64(i.data[1:]), true
		}
	}
	if b.limit == 0 {
		b.limit = calls * unitsPerCall
	}
	b.limit = min(b.limit, mostUnits)
	return b
}

// placeFee is what the transaction pays for its place in a block, in lamports: what its message says, where that
// says a price, else as much as others bid for the units that it takes. Nothing on chains of other families.
func (b *built) placeFee(s Swap) chain.Amount {
	if s.Chain.Family != chain.SVM {
		return chain.Amount{}
	}
	if m, err := readMessage(b.tx.Data); err == nil {
		if told := m.budget(); told.priced {
			return bidFor(told.limit, chain.NewAmount(told.price))
		}
	}
	return bidFor(min(withRoom(b.gas()), mostUnits), s.Bid)
}

// bidFor is what units cost at a price in millionths of a lamport, in lamports and rounded up.
func bidFor(units uint64, price chain.Amount) chain.Amount {
	return price.MulDiv(units, 1).Add(chain.NewAmount(bidsInALamport-1)).MulDiv(1, bidsInALamport)
}

// keptLamports is the reserve on Solana: for the signature and a place in a block, and what must lie on the accounts
// that the swap opens, one for the outcome and one for the wrapped coin, and on the sender's own.
func (e *Estimator) keptLamports(ctx context.Context, s Swap, price *GasPrice) *Reserve {
	priority := bidFor(mostUnits, price.Bid.MulDiv(2, 1))
	if least := chain.NewAmount(leastPriority); priority.Cmp(least) < 0 {
		priority = least
	}
	kept := &Reserve{GasLimit: mostUnits, Deposit: chain.NewAmount(2*tokenAccountRent + walletRent)}
	kept.Total = e.dataFee(ctx, s, built{}).Add(priority).Add(kept.Deposit)
	return kept
}
