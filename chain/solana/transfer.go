package solana

import (
	"encoding/binary"

	"crossgate/chain"
)

// What accounts must have, in lamports: 128 bytes of overhead and their own at 6,960 each.
const (
	WalletRent       = 128 * 6_960
	TokenAccountRent = (128 + 165) * 6_960
)

// Instructions of the system program, of the token programs (github.com/solana-program/token, instruction.rs) and of
// the program of associated accounts (github.com/solana-program/associated-token-account, instruction.rs).
const (
	systemTransfer   = 2
	transferChecked  = 12
	syncNative       = 17
	createIdempotent = 1
)

// TokenAccount returns owner's associated account for a token of a token program.
func TokenAccount(owner, program, mint chain.Address) chain.Address {
	return ProgramAddress(AssociatedTokenProgram, owner.Bytes(), program.Bytes(), mint.Bytes())
}

// OpenTokenAccount opens owner's associated account for a token of a token program, unless it exists; owner pays.
func OpenTokenAccount(owner, program, mint chain.Address) DraftInstruction {
	return DraftInstruction{
		Program: AssociatedTokenProgram,
		Accounts: []DraftAccount{
			{Address: owner, Signer: true, Writable: true},
			{Address: TokenAccount(owner, program, mint), Writable: true},
			{Address: owner},
			{Address: mint},
			{Address: SystemProgram},
			{Address: program},
		},
		Data: []byte{createIdempotent},
	}
}

// Transfer moves lamports out of a wallet.
func Transfer(from, to chain.Address, lamports uint64) DraftInstruction {
	data := binary.LittleEndian.AppendUint32(nil, systemTransfer)
	return DraftInstruction{
		Program:  SystemProgram,
		Accounts: []DraftAccount{{Address: from, Signer: true, Writable: true}, {Address: to, Writable: true}},
		Data:     binary.LittleEndian.AppendUint64(data, lamports),
	}
}

// Paid is a transfer of lamports between wallets.
type Paid struct {
	From, To chain.Address
	Lamports chain.Amount
}

// ReadTransfer decodes an instruction, if it is a transfer by the system program.
func (m Message) ReadTransfer(i CompiledInstruction) (read Paid, is bool) {
	if m.Account(i.Program) != SystemProgram || len(i.Data) != 12 || len(i.Accounts) != 2 || binary.LittleEndian.Uint32(i.Data) != systemTransfer {
		return read, false
	}
	return Paid{
		m.Account(int(i.Accounts[0])), m.Account(int(i.Accounts[1])), chain.NewAmount(binary.LittleEndian.Uint64(i.Data[4:])),
	}, true
}

// SyncNative updates the amount of an account of the wrapped coin to the lamports that it received.
func SyncNative(account chain.Address) DraftInstruction {
	return DraftInstruction{
		Program: TokenProgram, Accounts: []DraftAccount{{Address: account, Writable: true}}, Data: []byte{syncNative},
	}
}

// TransferTokens moves tokens of a mint out of an account of owner's.
func TransferTokens(program, mint, from, to, owner chain.Address, amount uint64, decimals uint8) DraftInstruction {
	return DraftInstruction{
		Program: program,
		Accounts: []DraftAccount{
			{Address: from, Writable: true}, {Address: mint}, {Address: to, Writable: true}, {Address: owner, Signer: true},
		},
		Data: append(binary.LittleEndian.AppendUint64([]byte{transferChecked}, amount), decimals),
	}
}
