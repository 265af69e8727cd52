package solana

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// programs run only by the accounts and the data of their instructions, whoever made those. The first handler that
// matches an instruction runs it; if none does, the data is malformed. The programs call each other through this table,
// so it cannot be a composite literal of the declaration.
var programs map[Key][]handler

// handler is one instruction of a program.
type handler struct {
	prefix   []byte // prefix of its data
	size     int    // of the rest of the data, or anySize
	accounts int    // minimum number of accounts
	logs     string // first log line of the program
	run      func(i *invocation, accounts []Meta, data []byte)
}

const anySize = -1

func init() {
	programs = map[Key][]handler{
		computeBudgetProgram: {{size: anySize, run: func(*invocation, []Meta, []byte) {}}},
		systemProgram: {
			{borsh(systemTransfer), 8, 2, "", (*invocation).transferLamports},
			{borsh(systemCreateAccount), 48, 2, "", (*invocation).createAccount},
		},
		associatedProgram: {
			{nil, 0, 6, "", (*invocation).createAssociated},
			{[]byte{associatedCreate}, 0, 6, "", (*invocation).createAssociated},
			{[]byte{associatedCreateIdempotent}, 0, 6, "", (*invocation).createAssociated},
		},
		sourceProgram: {
			anchorHandler("create_order", 12, (*invocation).createOrder),
			anchorHandler("create_order_with_nonce", 12, (*invocation).createOrderWithNonce),
			{nil, anySize, 0, "", (*invocation).refuseFallback},
		},
		destinationProgram: {
			anchorHandler("cancel_order", 4, (*invocation).cancelOrder),
			anchorHandler("prepare_send", preparing, (*invocation).prepareSend),
			anchorHandler("send_order_cancel", 3+sendingCount, (*invocation).sendOrderCancel),
			anchorHandler("send_unlock", 3+sendingCount, (*invocation).sendUnlock),
			anchorHandler("send_batch_unlock", 2+sendingCount, (*invocation).sendBatchUnlock),
			{nil, anySize, 0, "", (*invocation).refuseFallback},
		},
		Executor: {
			anchorHandler("make_fallback", 7, (*invocation).makeFallback),
			{nil, anySize, 0, "", (*invocation).refuseFallback},
		},
		tokenProgram:     tokenHandlers,
		token2022Program: tokenHandlers,
		poolProgram: {
			{[]byte{poolSwap}, 16, 14, "Instruction: Swap", (*invocation).swap},
			{nil, anySize, 0, "", func(*invocation, []Meta, []byte) { panic(errPoolCall) }},
		},
		jupiterProgram: {
			{anchor("global", "shared_accounts_route_v2", uint8(jupiterID)), anySize, 0, "", (*invocation).jupiter},
			{nil, anySize, 0, "", (*invocation).refuseFallback},
		},
		dflowProgram: {
			{anchor("global", dflowSwap), anySize, dflowNamed, "Instruction: " + dflowSwap, (*invocation).dflow},
			{anchor("global", dflowToWallet), anySize, dflowNamed + 3, "Instruction: " + dflowToWallet, (*invocation).dflowTo},
			{anchor("global", dflowToNative), anySize, dflowNamed + 3, "Instruction: " + dflowToNative, (*invocation).dflowNative},
			{nil, anySize, 0, "", (*invocation).refuseFallback},
		},
	}
}

// anchorHandler returns the handler of an Anchor program's instruction by name.
func anchorHandler(name string, accounts int, run func(*invocation, []Meta, []byte)) handler {
	return handler{anchor("global", name), anySize, accounts, instructionLog(name), run}
}

// run executes an instruction: by its own function if the ledger made it, else by the handler of its program.
func (i *invocation) run() {
	if i.instruction.run != nil {
		i.instruction.run(i)
		return
	}
	for _, h := range programs[i.instruction.Program] {
		data, fits := bytes.CutPrefix(i.instruction.Data, h.prefix)
		if !fits || h.size != anySize && h.size != len(data) {
			continue
		}
		if h.logs != "" {
			i.log("%s", h.logs)
		}
		i.require(len(i.instruction.Accounts) >= h.accounts, errFewAccounts)
		h.run(i, i.instruction.Accounts, data)
		return
	}
	panic(errMalformed)
}

// refuseFallback is how Anchor programs answer an unknown instruction.
func (i *invocation) refuseFallback([]Meta, []byte) {
	i.check(false, 101, "InstructionFallbackNotFound", "Fallback functions are not supported")
}

// isBuiltin reports whether a program is part of the runtime, whose logs report no compute units.
func isBuiltin(program Key) bool {
	return program == systemProgram || program == computeBudgetProgram
}

// Instructions of the compute budget program.
const (
	setComputeUnitLimit uint8 = 2
	setComputeUnitPrice uint8 = 3
)

// budgeted prepends a compute unit limit and price to the instructions, as wallets do.
func budgeted(limit uint32, microLamports uint64, instructions ...Instruction) []Instruction {
	return slices.Concat([]Instruction{
		{Program: computeBudgetProgram, Data: borsh(setComputeUnitLimit, limit)},
		{Program: computeBudgetProgram, Data: borsh(setComputeUnitPrice, microLamports)},
	}, instructions)
}

// Instructions of the system program: https://docs.rs/solana-system-interface.
const (
	systemCreateAccount uint32 = 0
	systemTransfer      uint32 = 2
)

func transferLamports(from, to Key, lamports uint64) Instruction {
	return Instruction{
		Program: systemProgram, Accounts: []Meta{signs(from), writes(to)}, Data: borsh(systemTransfer, lamports),
	}
}

func (i *invocation) transferLamports(accounts []Meta, data []byte) {
	i.pay(accounts[0], accounts[1], binary.LittleEndian.Uint64(data))
}

// pay moves lamports between accounts of the system program.
func (i *invocation) pay(from, to Meta, lamports uint64) {
	source := i.account(from.Key)
	if source == nil {
		source = &account{}
	}
	i.require(from.Signer, errUnsigned)
	if len(source.data) > 0 {
		i.print("Transfer: `from` must not carry data")
		panic(errArgument)
	}
	if source.lamports < lamports {
		i.print("Transfer: insufficient lamports %d, need %d", source.lamports, lamports)
		panic(custom(1, "ResultWithNegativeLamports", "insufficient lamports"))
	}
	i.move(from.Key, to.Key, lamports)
}

func createAccount(payer, at, owner Key, lamports uint64, size int) Instruction {
	return Instruction{
		Program: systemProgram, Accounts: []Meta{signs(payer), signs(at)},
		Data: borsh(systemCreateAccount, lamports, uint64(size), owner),
	}
}

// createAccount creates a zeroed account owned by a program.
func (i *invocation) createAccount(accounts []Meta, data []byte) {
	const largest = 10 << 20
	payer, at := accounts[0], accounts[1]
	lamports, size := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
	if content := i.account(at.Key); content != nil && (content.lamports > 0 || len(content.data) > 0) {
		i.print("Create Account: account Address { address: %s, base: None } already in use", at.Key)
		panic(custom(0, "AccountAlreadyInUse", "account "+at.Key.String()+" is in use"))
	}
	i.require(at.Signer, errUnsigned)
	i.require(size <= largest, custom(3, "InvalidAccountDataLength", "cannot allocate account data of this length"))
	i.pay(payer, at, lamports)
	i.write(at.Key, account{lamports: lamports, owner: Key(data[16:]), data: make([]byte, size)})
}

// Instructions of the associated token account program. Empty data means the first.
const (
	associatedCreate           uint8 = 0
	associatedCreateIdempotent uint8 = 1
)

// createAssociated opens the default account of an owner for a token: spl-associated-token-account.
func (i *invocation) createAssociated(accounts []Meta, _ []byte) {
	payer, at, owner, mint := accounts[0], accounts[1].Key, accounts[2].Key, accounts[3].Key
	t, err := TokenAt(mint)
	i.require(err == nil && t.program == accounts[5].Key, errWrongProgram)
	if t.Wallet(owner) != at {
		i.log("Error: Associated address does not match seed derivation")
		panic(errInvalidSeeds)
	}
	if bytes.Equal(i.instruction.Data, []byte{associatedCreateIdempotent}) {
		i.log("CreateIdempotent")
		if held, exists := i.tokens(at); exists && held.owner == owner {
			return
		}
	} else {
		i.log("Create")
	}
	i.require(payer.Signer, errUnsigned)
	i.createTokens(payer.Key, at, owner, t)
}
