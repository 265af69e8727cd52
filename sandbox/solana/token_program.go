package solana

import "encoding/binary"

// Instructions of the token programs that swaps and orders need: spl-token, instruction.rs.
const (
	tokenTransfer           uint8 = 3
	tokenCloseAccount       uint8 = 9
	tokenTransferChecked    uint8 = 12
	tokenSyncNative         uint8 = 17
	tokenInitializeAccount3 uint8 = 18
)

// tokenHandlers serve both token programs.
var tokenHandlers = []handler{
	{[]byte{tokenTransfer}, 8, 3, "Instruction: Transfer", (*invocation).transfer},
	{[]byte{tokenTransferChecked}, 9, 4, "Instruction: TransferChecked", (*invocation).transferChecked},
	{[]byte{tokenCloseAccount}, 0, 3, "Instruction: CloseAccount", (*invocation).closeTokens},
	{[]byte{tokenSyncNative}, 0, 1, "Instruction: SyncNative", (*invocation).syncNative},
	{[]byte{tokenInitializeAccount3}, 32, 2, "Instruction: InitializeAccount3", (*invocation).initializeTokens},
	{nil, anySize, 0, "", func(i *invocation, _ []Meta, _ []byte) { i.demand(false, errNoInstruction) }},
}

// Errors of the token programs: spl-token, error.rs.
var (
	errNotRentExempt = custom(0, "NotRentExempt", "Lamport balance below rent-exempt threshold")
	errFunds         = custom(1, "InsufficientFunds", "insufficient funds")
	errMint          = custom(3, "MintMismatch", "Account not associated with this Mint")
	errOwner         = custom(4, "OwnerMismatch", "owner does not match")
	errNotWrapped    = custom(10, "NativeNotSupported", "Instruction does not support native tokens")
	errNotEmpty      = custom(11, "NonNativeHasBalance", "Non-native account can only be closed if its balance is zero")
	errNoInstruction = custom(12, "InvalidInstruction", "Invalid instruction")
	errDecimals      = custom(18, "MintDecimalsMismatch", "The provided decimals value different from the Mint decimals")
)

// demand is require for the token programs, which log their own errors.
func (i *invocation) demand(holds bool, err *programError) {
	if !holds && !err.isRuntime {
		i.log("Error: %s", err.message)
	}
	i.require(holds, err)
}

// tokens returns the current content of a token account.
func (i *invocation) tokens(at Key) (tokenAccount, bool) { return stateOf[tokenAccount](i.account(at)) }

// setTokens rewrites a token account.
func (i *invocation) setTokens(at Key, held tokenAccount) { i.update(at, held.data(), held) }

// owns reports whether the account belongs to the running program.
func (i *invocation) owns(at Key) bool {
	content := i.account(at)
	return content != nil && content.owner == i.instruction.Program
}

// instruction returns an instruction of the token's program.
func (t Token) instruction(accounts []Meta, args ...any) Instruction {
	return Instruction{Program: t.program, Accounts: accounts, Data: borsh(args...)}
}

// transfer returns an instruction that moves an amount of a token from wallet to wallet.
func (t Token) transfer(from, to, owner Key, amount uint64) Instruction {
	switch {
	case t.isNative():
		return transferLamports(from, to, amount)
	case t.program == token2022Program:
		return t.transferChecked(from, to, owner, amount)
	}
	return t.instruction([]Meta{writes(from), writes(to), {Key: owner, Signer: true}}, tokenTransfer, amount)
}

func (i *invocation) transfer(accounts []Meta, data []byte) {
	i.moveTokens(accounts[0].Key, accounts[1].Key, accounts[2], binary.LittleEndian.Uint64(data))
}

// transferChecked returns an instruction that moves an amount and checks the token's decimals.
func (t Token) transferChecked(from, to, owner Key, amount uint64) Instruction {
	accounts := []Meta{writes(from), reads(t.Mint), writes(to), {Key: owner, Signer: true}}
	return t.instruction(accounts, tokenTransferChecked, amount, uint8(t.Decimals))
}

func (i *invocation) transferChecked(accounts []Meta, data []byte) {
	source, _ := i.tokens(accounts[0].Key)
	t, err := TokenAt(accounts[1].Key)
	i.demand(err == nil && source.mint == t.Mint, errMint)
	i.demand(t.Decimals == int(data[8]), errDecimals)
	i.moveTokens(accounts[0].Key, accounts[2].Key, accounts[3], binary.LittleEndian.Uint64(data))
}

// moveTokens moves tokens if their owner signed. Wrapped coin takes its lamports along.
func (i *invocation) moveTokens(from, to Key, owner Meta, amount uint64) {
	source, isToken := i.tokens(from)
	target, exists := i.tokens(to)
	i.demand(isToken && exists && i.owns(from) && i.owns(to), errInvalidAccount)
	i.demand(source.amount >= amount, errFunds)
	i.demand(source.mint == target.mint, errMint)
	i.demand(source.owner == owner.Key, errOwner)
	i.demand(owner.Signer, errUnsigned)
	source.amount -= amount
	i.setTokens(from, source)
	target, _ = i.tokens(to) // read again: it may be the same account
	target.amount += amount
	i.setTokens(to, target)
	if source.isWrapped() {
		i.move(from, to, amount)
	}
}

// closeAccount returns an instruction that closes an emptied token account and pays its lamports to receiver.
func (t Token) closeAccount(at, receiver, owner Key) Instruction {
	return t.instruction([]Meta{writes(at), writes(receiver), {Key: owner, Signer: true}}, tokenCloseAccount)
}

// closeTokens closes a token account that is empty, or one of the wrapped coin, and pays out its lamports.
func (i *invocation) closeTokens(accounts []Meta, _ []byte) {
	at, heir, owner := accounts[0].Key, accounts[1].Key, accounts[2]
	held, exists := i.tokens(at)
	i.demand(exists && i.owns(at) && at != heir, errInvalidAccount)
	i.demand(held.isWrapped() || held.amount == 0, errNotEmpty)
	i.demand(held.owner == owner.Key, errOwner)
	i.demand(owner.Signer, errUnsigned)
	i.move(at, heir, i.account(at).lamports)
	i.written[at] = nil
}

// wrap returns instructions that fund owner's account of the wrapped coin with lamports.
func wrap(owner Key, lamports uint64) []Instruction {
	t := Tokens[0]
	at := t.Wallet(owner)
	return []Instruction{
		t.openWallet(owner, owner), transferLamports(owner, at, lamports), t.instruction([]Meta{writes(at)}, tokenSyncNative),
	}
}

// syncNative sets the amount of a wrapped coin account to its lamports, without the rent.
func (i *invocation) syncNative(accounts []Meta, _ []byte) {
	at := accounts[0].Key
	held, exists := i.tokens(at)
	i.demand(exists, errInvalidAccount)
	i.demand(held.isWrapped(), errNotWrapped)
	held.amount = i.account(at).lamports - rent(tokenAccountSize)
	i.setTokens(at, held)
}

// openWallet returns an instruction that creates owner's associated account unless it exists.
func (t Token) openWallet(payer, owner Key) Instruction {
	return Instruction{
		Program: associatedProgram, Data: []byte{associatedCreateIdempotent},
		Accounts: []Meta{
			signs(payer), writes(t.Wallet(owner)), reads(owner), reads(t.Mint), reads(systemProgram), reads(t.program),
		},
	}
}

// createTokens creates an empty token account.
func (i *invocation) createTokens(payer, at, owner Key, t Token) {
	i.create(payer, at, t.program, zeros(tokenAccountSize), nil)
	i.call(t.instruction([]Meta{writes(at), reads(t.Mint)}, tokenInitializeAccount3, owner))
}

// initializeTokens turns a zeroed account into a token account.
func (i *invocation) initializeTokens(accounts []Meta, data []byte) {
	at := accounts[0].Key
	content := i.account(at)
	t, err := TokenAt(accounts[1].Key)
	i.demand(err == nil && t.program == i.instruction.Program, errMint)
	i.demand(i.owns(at) && len(content.data) == tokenAccountSize && content.state == nil, errInvalidAccount)
	i.demand(content.lamports >= rent(tokenAccountSize), errNotRentExempt)
	held := tokenAccount{mint: t.Mint, owner: Key(data)}
	if held.isWrapped() {
		held.amount = content.lamports - rent(tokenAccountSize)
	}
	i.setTokens(at, held)
}
