package solana

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// dflowProgram is DFlow's swap orchestrator. Its instructions, their arguments and named accounts, and its errors
// follow its IDL (swap_orchestrator 0.1.0). The accounts after the named ones are the sandbox's own, because DFlow does
// not publish them.
var dflowProgram = solana.MPK("DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH")

// DFlow returns the address of DFlow's program.
func DFlow() Key { return dflowProgram }

// dflowAuthority owns the accounts that hold wrapped coin until it is paid out as the coin.
var dflowAuthority = pda(dflowProgram, "authority")

func dflowCoins(user Key) Key { return pda(dflowProgram, "coins", user[:]) }

// Names of DFlow's instructions.
const (
	dflowSwap     = "swap"
	dflowToWallet = "swap_with_destination"
	dflowToNative = "swap_with_destination_native"
)

// Positions of accounts that DFlow's instructions name.
const (
	dflowUser        = 3
	dflowDestination = 4 // of instructions with a destination
	dflowNamed       = 6 // number of accounts of swap
)

// dflowEvents is the account that would sign its events.
var dflowEvents = pda(dflowProgram, "__event_authority")

// dflowAction is a step of a route: SPL's token swap with the input amount, zero for everything available.
type dflowAction struct {
	Kind   uint8
	Amount uint64
	Flags  uint8
}

const (
	dflowTokenSwap  = 28
	dflowActionSize = 1 + 8 + 1
)

// DFlowSwap builds a swap transaction as DFlow does. It can pay any wallet: tokens into an account that it opens, the
// coin directly.
func (c *Chain) DFlowSwap(x Exchange) (Unsigned, error) {
	const noPlatformFee = uint16(0)
	name, last := dflowSwap, x.Route.last()
	destination := last.Out.Wallet(x.receiver())
	accounts := []Meta{reads(tokenProgram), reads(associatedProgram), reads(systemProgram), signs(x.User)}
	paysCoin := x.wrapsOut() && x.receiver() != x.User
	switch {
	case paysCoin:
		name, destination = dflowToNative, dflowCoins(x.User)
		accounts = append(accounts, writes(x.receiver()))
	case x.receiver() != x.User:
		name = dflowToWallet
		accounts = append(accounts, writes(destination), reads(x.receiver()), reads(last.Out.Mint))
	}
	accounts = append(accounts, reads(dflowEvents), reads(dflowProgram))
	if paysCoin {
		accounts = append(accounts, writes(destination), writes(dflowAuthority))
	}
	var calls []Instruction
	var actions []dflowAction
	for n, h := range x.Route.Hops {
		to, amount := destination, uint64(0)
		if n < len(x.Route.Hops)-1 {
			to = h.Out.Wallet(x.User)
			calls = append(calls, h.Out.openWallet(x.User, x.User))
		}
		if n == 0 {
			amount = h.AmountIn
		}
		actions = append(actions, dflowAction{dflowTokenSwap, amount, 0})
		accounts = append(accounts, h.step(x.User, h.In.Wallet(x.User), to)...)
	}
	swap := Instruction{Program: dflowProgram, Accounts: accounts, Data: anchor("global", name,
		uint32(len(actions)), actions, x.Quoted, x.SlippageBps, noPlatformFee)}
	return c.unsigned(x, x.prepared(!paysCoin, append(calls, swap)...)...)
}

// dflow is DFlow's swap: pools take from the user's accounts and pay into them, the last one into any account.
func (i *invocation) dflow(accounts []Meta, data []byte) {
	i.dflowSteps(accounts, accounts[dflowNamed:], data)
}

// dflowTo is like dflow, but the last pool must pay into the named destination account.
func (i *invocation) dflowTo(accounts []Meta, data []byte) {
	hops := accounts[dflowNamed+3:]
	i.checkOutput(hops, accounts[dflowDestination].Key)
	i.dflowSteps(accounts, hops, data)
}

// dflowNative pays a wallet in the coin, which is kept wrapped in an account of the program until then. The account's
// rent returns to the user.
func (i *invocation) dflowNative(accounts []Meta, data []byte) {
	user, receiver, own := accounts[dflowUser].Key, accounts[dflowDestination].Key, accounts[dflowNamed+1:]
	at, hops := own[0].Key, own[2:]
	i.check(at == dflowCoins(user), 15005, "OutputTokenAccountMismatch", "Output token account mismatch")
	i.checkOutput(hops, at)
	i.createTokens(user, at, dflowAuthority, Tokens[0])
	amount := i.dflowSteps(accounts, hops, data)
	i.call(
		Tokens[0].closeAccount(at, dflowAuthority, dflowAuthority),
		transferLamports(dflowAuthority, receiver, amount),
		transferLamports(dflowAuthority, user, rent(tokenAccountSize)),
	)
}

// checkOutput fails unless the last pool pays into the given account.
func (i *invocation) checkOutput(hops []Meta, destination Key) {
	i.require(len(hops) >= stepAccounts, errFewAccounts)
	last := (len(hops)/stepAccounts - 1) * stepAccounts
	i.check(hops[last+destinationAt].Key == destination, 15005, "OutputTokenAccountMismatch", "Output token account mismatch")
}

// dflowSteps swaps and returns the output of the last pool. It ignores data after the arguments.
func (i *invocation) dflowSteps(accounts, hops []Meta, data []byte) uint64 {
	const countSize, termsSize = 4, 8 + 2 + 2
	i.require(len(data) >= countSize, errMalformed)
	steps := int(binary.LittleEndian.Uint32(data))
	i.require(steps <= maxTransactionBytes && len(data) >= countSize+steps*dflowActionSize+termsSize, errMalformed)
	i.require(len(hops) >= steps*stepAccounts, errFewAccounts)
	i.require(accounts[dflowUser].Signer, errUnsigned)
	var in uint64
	for n := range steps {
		action := data[countSize+n*dflowActionSize:]
		i.require(action[0] == dflowTokenSwap, errMalformed)
		if n == 0 {
			in = binary.LittleEndian.Uint64(action[1:])
		}
	}
	i.check(in > 0, 15004, "InputAmountIsZero", "Input amount is zero")
	terms := data[countSize+steps*dflowActionSize:]
	least := leastOf(binary.LittleEndian.Uint64(terms), binary.LittleEndian.Uint16(terms[8:]))
	amount := i.steps(hops[:steps*stepAccounts], accounts[dflowUser].Key, in)
	i.check(amount >= least, 15001, "SlippageLimitExceeded", "Slippage limit exceeded")
	return amount
}
