package solana

import (
	"encoding/binary"
	"errors"
)

// Instructions of the token programs: spl-token, instruction.rs. What swaps and orders have no use for is missing.
const (
	tokenTransfer           = 3
	tokenCloseAccount       = 9
	tokenTransferChecked    = 12
	tokenSyncNative         = 17
	tokenInitializeAccount3 = 18
)

// Errors of the token programs: spl-token, error.rs.
var (
	errFunds         = &refusal{code: 1, name: "InsufficientFunds", message: "insufficient funds"}
	errMint          = &refusal{code: 3, name: "MintMismatch", message: "Account not associated with this Mint"}
	errOwner         = &refusal{code: 4, name: "OwnerMismatch", message: "owner does not match"}
	errNotWrapped    = &refusal{code: 10, name: "NativeNotSupported", message: "Instruction does not support native tokens"}
	errNotEmpty      = &refusal{code: 11, name: "NonNativeHasBalance", message: "Non-native account can only be closed if its balance is zero"}
	errNoInstruction = &refusal{code: 12, name: "InvalidInstruction", message: "Invalid instruction"}
	errDecimals      = &refusal{code: 18, name: "MintDecimalsMismatch", message: "The provided decimals value different from the Mint decimals"}
)

// token is either token program.
func (i *invocation) token() error {
	err := i.tokenInstruction()
	if told := (*refusal)(nil); errors.As(err, &told) && !told.named {
		i.log("Error: %s", told.message)
	}
	return err
}

func (i *invocation) tokenInstruction() error {
	data := i.instruction.Data
	if len(data) == 0 {
		return errNoInstruction
	}
	switch rest := data[1:]; {
	case data[0] == tokenTransfer && len(rest) == 8:
		i.log("Instruction: Transfer")
		return i.transfer(binary.LittleEndian.Uint64(rest))
	case data[0] == tokenTransferChecked && len(rest) == 9:
		i.log("Instruction: TransferChecked")
		return i.transferChecked(binary.LittleEndian.Uint64(rest), int(rest[8]))
	case data[0] == tokenCloseAccount && len(rest) == 0:
		i.log("Instruction: CloseAccount")
		return i.closeTokens()
	case data[0] == tokenSyncNative && len(rest) == 0:
		i.log("Instruction: SyncNative")
		return i.countWrapped()
	case data[0] == tokenInitializeAccount3 && len(rest) == len(Key{}):
		i.log("Instruction: InitializeAccount3")
		return i.initializeTokens(Key(rest))
	}
	return errNoInstruction
}

func (i *invocation) transfer(amount uint64) error {
	accounts, err := i.accounts(3)
	if err != nil {
		return err
	}
	return i.moveTokens(accounts[0].Key, accounts[1].Key, accounts[2], amount)
}

func (i *invocation) transferChecked(amount uint64, decimals int) error {
	accounts, err := i.accounts(4)
	if err != nil {
		return err
	}
	source, _ := i.tokens(accounts[0].Key)
	switch t, err := tokenOf(accounts[1].Key); {
	case err != nil || source.mint != t.Mint:
		return errMint
	case t.Decimals != decimals:
		return errDecimals
	}
	return i.moveTokens(accounts[0].Key, accounts[2].Key, accounts[3], amount)
}

// moveTokens moves tokens as their owner wants it; those of the wrapped coin take their lamports along.
func (i *invocation) moveTokens(from, to Key, owner Meta, amount uint64) error {
	source, isToken := i.tokens(from)
	target, exists := i.tokens(to)
	switch {
	case !isToken || !exists || i.account(from).owner != i.instruction.Program || i.account(to).owner != i.instruction.Program:
		return errAccount
	case source.amount < amount:
		return errFunds
	case source.mint != target.mint:
		return errMint
	case source.owner != owner.Key:
		return errOwner
	case !owner.Signer:
		return errUnsigned
	}
	source.amount -= amount
	i.update(from, source.data(), source)
	target, _ = i.tokens(to) // again: it may be the same account
	target.amount += amount
	i.update(to, target.data(), target)
	if source.isWrapped() {
		return i.move(from, to, amount)
	}
	return nil
}

// closeTokens ends a token account that is empty, or of the wrapped coin, and gives its lamports away.
func (i *invocation) closeTokens() error {
	accounts, err := i.accounts(3)
	if err != nil {
		return err
	}
	at, heir, owner := accounts[0].Key, accounts[1].Key, accounts[2]
	account, exists := i.tokens(at)
	switch {
	case !exists || i.account(at).owner != i.instruction.Program || at == heir:
		return errAccount
	case !account.isWrapped() && account.amount > 0:
		return errNotEmpty
	case account.owner != owner.Key:
		return errOwner
	case !owner.Signer:
		return errUnsigned
	}
	if err := i.move(at, heir, i.account(at).lamports); err != nil {
		return err
	}
	i.written[at] = nil
	return nil
}

// countWrapped makes the lamports on an account of the wrapped coin its amount.
func (i *invocation) countWrapped() error {
	accounts, err := i.accounts(1)
	if err != nil {
		return err
	}
	at := accounts[0].Key
	account, exists := i.tokens(at)
	if !exists {
		return errAccount
	}
	if !account.isWrapped() {
		return errNotWrapped
	}
	account.amount = i.account(at).lamports - rent(tokenAccountSize)
	i.update(at, account.data(), account)
	return nil
}

// initializeTokens makes a token account of an account of zeros.
func (i *invocation) initializeTokens(owner Key) error {
	accounts, err := i.accounts(2)
	if err != nil {
		return err
	}
	at := accounts[0].Key
	content := i.account(at)
	t, err := tokenOf(accounts[1].Key)
	switch {
	case err != nil || t.program != i.instruction.Program:
		return errMint
	case content == nil || content.owner != t.program || len(content.data) != tokenAccountSize || content.state != nil:
		return errAccount
	case content.lamports < rent(tokenAccountSize):
		return &refusal{code: 0, name: "NotRentExempt", message: "Lamport balance below rent-exempt threshold"}
	}
	account := tokenAccount{mint: t.Mint, owner: owner}
	if account.isWrapped() {
		account.amount = content.lamports - rent(tokenAccountSize)
	}
	i.update(at, account.data(), account)
	return nil
}
