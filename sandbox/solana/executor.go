package solana

import (
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// The executor program, as its clients describe it: IDL of extcall_program 1.1.1 in @debridge-finance/dln-client 8.3.6,
// whose class Executor has the seeds.

// Variants of an external call's state.
const (
	callOpen       uint8 = iota // Initializing
	callBegun                   // Execution
	callDone                    // Executed
	_                           // Failed: not in the sandbox
	callFallenBack              // Fallbacked
)

// externalCall is what the executor stores about an order's external call.
type externalCall struct {
	id        [32]byte
	status    uint8
	hash      [32]byte // of its instructions
	amount    uint64   // delivered
	isNative  bool     // the coin was delivered
	authority Key      // may make it fall back
}

func (e externalCall) data() []byte {
	const first = uint64(1)
	var progress raw
	switch e.status {
	case callBegun:
		progress = borsh(first, Key{}, first) // offset, buffer, executed instructions
	case callDone:
		progress = borsh(Key{}) // buffer
	}
	const bumps = 3
	return padTo(callSize, anchor("account", "ExtcallMeta",
		e.id, e.status, progress, e.hash, e.amount, !e.isNative, e.authority, zeros(bumps)))
}

// callSize is what the program allocates: the discriminator and the longest variant.
const callSize = 8 + 32 + 49 + 32 + 8 + 1 + 32 + 3

func callMeta(id [32]byte) Key { return pda(Executor, "META", id[:]) }

// callAuthority owns what was delivered for the call.
func callAuthority(id [32]byte) Key { return pda(Executor, "AUTH", id[:]) }

// callWallet returns the account that holds it.
func callWallet(id [32]byte, t Token) Key {
	if t.isNative() {
		return callAuthority(id)
	}
	return pda(Executor, "WALLET", id[:])
}

// openCall returns the instruction initialize_extcall_meta, with which dln_dst delivers what an order with an external
// call takes.
func (f Fulfilment) openCall(t Token, amount uint64) Instruction {
	id, taker := f.Terms.ID(), f.Taker.Key
	call := externalCall{id: id, hash: *f.Terms.callHash(), amount: amount, isNative: t.isNative(), authority: keyOf(f.Terms.Authority)}
	meta, wallet := callMeta(id), callWallet(id, t)
	return anchorCall(Executor, "initialize_extcall_meta", []Meta{
		reads(executorState), writes(meta), writes(t.Wallet(taker)), signs(taker), writes(wallet), reads(t.Mint),
		signs(taker), reads(t.programOrDefault()), reads(systemProgram), reads(instructionsSysvar),
	}, func(i *invocation) {
		i.create(taker, meta, Executor, call.data(), call)
		if !t.isNative() {
			i.createTokens(taker, wallet, callAuthority(id), t)
		}
		i.call(t.transfer(t.Wallet(taker), wallet, taker, amount))
	}, id, call.hash, amount, !call.isNative, call.authority)
}

// ExecuteCall runs the instructions that a fulfilled order carries for its receiver, all of them or only the first.
func (c *Chain) ExecuteCall(at time.Time, t Terms, by Account, fully bool) error {
	const first = uint64(1)
	token, err := t.taken()
	if err != nil {
		return err
	}
	id, keeper := t.ID(), by.Key
	meta, authority := callMeta(id), callAuthority(id)
	total, status := uint64(2), callBegun
	if fully {
		total, status = 1, callDone
	}
	return c.submit(at, Way{}, by, anchorCall(Executor, "execute_extcall", []Meta{
		writes(meta), writes(pda(Executor, "STORAGE", id[:], keeper[:])), writes(callWallet(id, token)),
		writes(authority), signs(keeper), writes(token.Wallet(keeper)), reads(token.programOrDefault()), reads(systemProgram),
	}, func(i *invocation) {
		i.emit("Executed", fully, first, first, total)
		i.advance(i.underWay(id, 6006, "NotExpectedExtcallStateForExecution", "For execute"), status)
	}, id, first, []byte(nil)))
}

// FallBack abandons the external call of a fulfilled order and pays what was delivered to the account that asks for it.
func (c *Chain) FallBack(at time.Time, t Terms, by Account) error {
	token, err := t.taken()
	if err != nil {
		return err
	}
	id := t.ID()
	instructions := []Instruction{anchored(Executor, "make_fallback", []Meta{
		writes(callMeta(id)), reads(callAuthority(id)), writes(callWallet(id, token)), signs(by.Key),
		writes(token.Wallet(by.Key)), reads(systemProgram), reads(token.programOrDefault()),
	}, id)}
	if !token.isNative() {
		instructions = slices.Insert(instructions, 0, token.openWallet(by.Key, by.Key))
	}
	return c.submit(at, Way{}, by, instructions...)
}

func (i *invocation) makeFallback(accounts []Meta, data []byte) {
	const executed = uint64(0) // instructions
	var args struct{ ID common.Hash }
	i.read(data, &args)
	i.checkAddress(accounts[0], callMeta(args.ID))
	call := i.underWay(args.ID, 6007, "NotExpectedExtcallStateForFallback", "For fallback")
	from, authority, to := accounts[2].Key, accounts[3], accounts[4].Key
	i.checkSigner(authority)
	i.check(authority.Key == call.authority, 2001, "ConstraintHasOne", "A has one constraint was violated")
	token := Native
	if !call.isNative {
		held, _ := i.tokens(from)
		token, _ = TokenAt(held.mint)
	}
	i.check(from == callWallet(args.ID, token), 6005, "WrongExtcallWallet", "Wrong extcall wallet, please check flow rules")
	if call.isNative {
		i.move(from, to, call.amount)
	} else {
		i.call(token.transfer(from, to, accounts[1].Key, call.amount))
	}
	i.emit("Fallbacked", executed)
	i.advance(call, callFallenBack)
}

// underWay returns a call that was delivered for and has not ended, or fails with a code, its name and a reason.
func (i *invocation) underWay(id [32]byte, code uint32, name, reason string) externalCall {
	call, _ := stateOf[externalCall](i.account(callMeta(id)))
	isUnderWay := call.id == id && call.status <= callBegun
	i.check(isUnderWay, code, name, reason+", state of extcall meta must be `Initializing` or `Execution`")
	return call
}

func (i *invocation) advance(call externalCall, status uint8) {
	call.status = status
	i.update(callMeta(call.id), call.data(), call)
}
