package solana

import "crossgate/chain"

// How Solana charges for priority (https://solana.com/docs/core/fees): a message says how many compute units it may
// take and what it pays for each of them, taken or not.
const (
	MaxComputeUnits = 1_400_000

	setComputeUnitLimit = 2 // instructions of the compute budget program
	setComputeUnitPrice = 3
	unitsPerCall        = 200_000 // of a message without a limit
	microPerLamport     = 1_000_000
)

// Budget is what a message says of its compute units.
type Budget struct {
	Units  uint64 // at most
	Price  uint64 // of a unit, in millionths of a lamport
	Priced bool   // it names a price, which may be zero
}

// Budget reads the instructions of the compute budget program.
func (m Message) Budget() Budget {
	b, calls := Budget{}, uint64(0)
	for _, i := range m.Instructions {
		r := Reader{Rest: i.Data}
		switch kind := r.Uint8(); {
		case m.Account(i.Program) != ComputeBudgetProgram:
			calls++
		case len(i.Data) == 5 && kind == setComputeUnitLimit:
			b.Units = uint64(r.Uint32())
		case len(i.Data) == 9 && kind == setComputeUnitPrice:
			b.Price, b.Priced = r.Uint64(), true
		}
	}
	if b.Units == 0 {
		b.Units = calls * unitsPerCall
	}
	b.Units = min(b.Units, MaxComputeUnits)
	return b
}

// PriorityFee is what compute units cost at a price in millionths of a lamport, in lamports and rounded up.
func PriorityFee(units uint64, price chain.Amount) chain.Amount {
	return price.MulDiv(units, 1).Add(chain.NewAmount(microPerLamport-1)).MulDiv(1, microPerLamport)
}
