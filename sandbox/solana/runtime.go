package solana

import "slices"

// Programs and variables of the runtime: https://docs.anza.xyz/runtime/programs.
var (
	systemProgram        = Key{}
	nativeLoader         = known("NativeLoader1111111111111111111111111111111")
	upgradeableLoader    = known("BPFLoaderUpgradeab1e11111111111111111111111")
	computeBudgetProgram = known("ComputeBudget111111111111111111111111111111")
	lookupTableProgram   = known("AddressLookupTab1e1111111111111111111111111")
	instructionsSysvar   = known("Sysvar1nstructions1111111111111111111111111")
)

// isBuiltin reports whether the runtime itself is the program: its logs name no compute units.
func isBuiltin(program Key) bool {
	return slices.Contains([]Key{systemProgram, computeBudgetProgram}, program)
}

// Instructions of the system program count as u32.
const (
	systemCreateAccount = 0
	systemTransfer      = 2
)

func transferLamports(from, to Key, lamports uint64) Instruction {
	return Instruction{
		Program:  systemProgram,
		Accounts: []Meta{signs(from), writes(to)},
		Data:     borsh{}.u32(systemTransfer).u64(lamports),
	}
}

func createAccount(payer, at, owner Key, lamports uint64, size int) Instruction {
	return Instruction{
		Program:  systemProgram,
		Accounts: []Meta{signs(payer), signs(at)},
		Data:     borsh{}.u32(systemCreateAccount).u64(lamports).u64(uint64(size)).key(owner),
	}
}

// Instructions of the compute budget program.
const (
	setComputeUnitLimit = 2
	setComputeUnitPrice = 3
)

// budgeted puts a limit of compute units and a price for them in front of the instructions, as wallets do.
func budgeted(limit uint32, microLamports uint64, instructions ...Instruction) []Instruction {
	return append([]Instruction{
		{Program: computeBudgetProgram, Data: borsh{}.u8(setComputeUnitLimit).u32(limit)},
		{Program: computeBudgetProgram, Data: borsh{}.u8(setComputeUnitPrice).u64(microLamports)},
	}, instructions...)
}

// newTable places an address lookup table that holds keys: solana address-lookup-table-program, state.rs.
func (c *Chain) newTable(at Key, authority Key, keys ...Key) {
	const kind, neverDeactivated = 1, ^uint64(0)
	data := borsh{}.u32(kind).u64(neverDeactivated).u64(firstSlot - 1).u8(0).optionalKey(authority).u16(0)
	for _, k := range keys {
		data = data.key(k)
	}
	c.tables[at] = keys
	c.put(at, held{owner: lookupTableProgram, data: data})
}

// newProgram places a deployed program: an account that points to the account of its code.
func (c *Chain) newProgram(at Key) {
	const program = 2
	code := pda(upgradeableLoader, at[:])
	c.put(at, held{owner: upgradeableLoader, data: borsh{}.u32(program).key(code), executable: true})
}
