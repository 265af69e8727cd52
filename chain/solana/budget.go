package solana

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"crossgate/chain"
)

// Solana charges for the compute units that a message may take, used or not (https://solana.com/docs/core/fees).
const (
	MaxComputeUnits = 1_400_000

	setComputeUnitLimit = 2 // instructions of the compute budget program
	setComputeUnitPrice = 3
	unitsPerCall        = 200_000 // of a message without a limit
	microPerLamport     = 1_000_000
)

// Budget is a message's limit and price of compute units.
type Budget struct {
	Units  uint64 // at most
	Price  uint64 // of a unit, in millionths of a lamport
	Priced bool   // a price is set, which may be zero
}

// Budget returns the budget that the instructions of the compute budget program set, or the default.
func (m Message) Budget() Budget {
	b, calls := Budget{}, uint64(0)
	for _, i := range m.Instructions {
		if m.Account(i.Program) == ComputeBudgetProgram {
			b.Read(i.Data)
		} else {
			calls++
		}
	}
	if b.Units == 0 {
		b.Units = calls * unitsPerCall
	}
	b.Units = min(b.Units, MaxComputeUnits)
	return b
}

// Read sets the budget's part that an instruction of the compute budget program contains, given its data.
func (b *Budget) Read(data []byte) {
	r := Reader{Rest: data}
	switch kind := r.Uint8(); {
	case isUnitLimit(data):
		b.Units = uint64(r.Uint32())
	case len(data) == 9 && kind == setComputeUnitPrice:
		b.Price, b.Priced = r.Uint64(), true
	}
}

func isUnitLimit(data []byte) bool { return len(data) == 5 && data[0] == setComputeUnitLimit }

// Instructions returns the instructions that set the budget.
func (b Budget) Instructions() []DraftInstruction {
	limit := binary.LittleEndian.AppendUint32([]byte{setComputeUnitLimit}, uint32(b.Units))
	price := binary.LittleEndian.AppendUint64([]byte{setComputeUnitPrice}, b.Price)
	return []DraftInstruction{{Program: ComputeBudgetProgram, Data: limit}, {Program: ComputeBudgetProgram, Data: price}}
}

// LowerUnitLimit returns an unsigned transaction whose unit limit, if it has one, is at most units.
func LowerUnitLimit(raw []byte, units uint64) ([]byte, error) {
	raw = bytes.Clone(raw)
	m, err := ParseUnsigned(raw)
	if err != nil {
		return nil, fmt.Errorf("compute unit limit: %w", err)
	}
	for _, i := range m.Instructions { // their data is part of raw
		if m.Account(i.Program) == ComputeBudgetProgram && isUnitLimit(i.Data) {
			limit := i.Data[1:]
			binary.LittleEndian.PutUint32(limit, uint32(min(uint64(binary.LittleEndian.Uint32(limit)), units)))
		}
	}
	return raw, nil
}

// AddUnits raises the limit of compute units, if the draft sets one.
func (d Draft) AddUnits(more uint64) {
	for n, i := range d.Instructions {
		if i.Program == ComputeBudgetProgram && isUnitLimit(i.Data) {
			units := min(uint64(binary.LittleEndian.Uint32(i.Data[1:]))+more, MaxComputeUnits)
			d.Instructions[n].Data = binary.LittleEndian.AppendUint32([]byte{setComputeUnitLimit}, uint32(units))
		}
	}
}

// PriorityFee returns the cost of compute units at a price in millionths of a lamport, in lamports, rounded up.
func PriorityFee(units uint64, price chain.Amount) chain.Amount {
	return price.MulDiv(units, 1).Add(chain.NewAmount(microPerLamport-1)).MulDiv(1, microPerLamport)
}

// PriorityFee returns a message's priority fee, in lamports.
func (m Message) PriorityFee() chain.Amount {
	budget := m.Budget()
	return PriorityFee(budget.Units, chain.NewAmount(budget.Price))
}
