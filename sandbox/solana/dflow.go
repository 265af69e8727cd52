package solana

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// dflowProgram is DFlow's swap orchestrator. Its instructions and errors have the names of its IDL (swap_orchestrator
// 0.1.0); their arguments and accounts are the sandbox's own, as those are not published separately.
var dflowProgram = solana.MPK("DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH")

// DFlow is the address of its program.
func DFlow() Key { return dflowProgram }

// dflowAuthority owns the accounts in which the wrapped coin waits for being paid out as the coin.
var dflowAuthority = pda(dflowProgram, "authority")

func dflowCoins(user Key) Key { return pda(dflowProgram, "coins", user[:]) }

// Names of DFlow's instructions, the length of their arguments, and the accounts before those of the steps.
const (
	dflowSwap     = "swap"
	dflowToWallet = "swap_with_destination"
	dflowToNative = "swap_with_destination_native"
	dflowSize     = 4 + 8 + 8 + 2 + 2
	dflowAccounts = 5
)

// DFlowSwap makes the transaction of a swap as DFlow does. It pays any wallet: tokens into an account that it opens,
// the coin itself.
func (c *Chain) DFlowSwap(x Exchange) (Unsigned, error) {
	const noPlatformFee = uint16(0)
	name, last := dflowSwap, x.Route.last()
	destination := last.Out.Wallet(x.receiver())
	paysCoin := x.wrapsOut() && x.receiver() != x.User
	switch {
	case paysCoin:
		name, destination = dflowToNative, dflowCoins(x.User)
	case x.receiver() != x.User:
		name = dflowToWallet
	}
	accounts := []Meta{
		signs(x.User), writes(x.receiver()), writes(destination), writes(dflowAuthority), reads(systemProgram),
	}
	var calls []Instruction
	for n, h := range x.Route.Hops {
		to := destination
		if n < len(x.Route.Hops)-1 {
			to = h.Out.Wallet(x.User)
			calls = append(calls, h.Out.openWallet(x.User, x.User))
		}
		accounts = append(accounts, h.step(x.User, h.In.Wallet(x.User), to)...)
	}
	swap := Instruction{Program: dflowProgram, Accounts: accounts, Data: anchor("global", name,
		uint32(len(x.Route.Hops)), x.Route.first().AmountIn, x.Quoted, x.SlippageBps, noPlatformFee)}
	return c.unsigned(x, x.prepared(!paysCoin, append(calls, swap)...)...)
}

// dflow is DFlow's program: pools take from the user's accounts and give to them, the last one to the destination.
func (i *invocation) dflow(accounts []Meta, data []byte) {
	i.dflowSteps(accounts, data, func(user, destination Key) {})
}

// dflowNative pays the coin, which waits wrapped in an account of the program's, to a wallet; the account's rent goes
// back to the user.
func (i *invocation) dflowNative(accounts []Meta, data []byte) {
	user, receiver, at := accounts[0].Key, accounts[1].Key, accounts[2].Key
	amount := i.dflowSteps(accounts, data, func(user, destination Key) {
		i.check(destination == dflowCoins(user), 15005, "OutputTokenAccountMismatch", "Output token account mismatch")
		i.createTokens(user, destination, dflowAuthority, Tokens[0])
	})
	i.call(
		Tokens[0].closeAccount(at, dflowAuthority, dflowAuthority),
		transferLamports(dflowAuthority, receiver, amount),
		transferLamports(dflowAuthority, user, rent(tokenAccountSize)),
	)
}

// dflowSteps swaps into the destination once that is prepared, and returns how much has come out.
func (i *invocation) dflowSteps(accounts []Meta, data []byte, prepare func(user, destination Key)) uint64 {
	steps, terms := int(binary.LittleEndian.Uint32(data)), readSwapTerms(data[4:])
	user, destination := accounts[0], accounts[2].Key
	isSwap := terms.amount > 0 && steps > 0 && steps <= maxTransactionBytes
	i.check(isSwap, 15004, "InputAmountIsZero", "Input amount is zero")
	i.require(len(accounts) >= dflowAccounts+steps*stepAccounts, errFewAccounts)
	i.require(user.Signer, errUnsigned)
	prepare(user.Key, destination)
	hops := accounts[dflowAccounts : dflowAccounts+steps*stepAccounts]
	output := hops[len(hops)-stepAccounts+destinationAt].Key
	i.check(output == destination, 15005, "OutputTokenAccountMismatch", "Output token account mismatch")
	amount := i.steps(hops, user.Key, terms.amount)
	i.check(amount >= terms.least(), 15001, "SlippageLimitExceeded", "Slippage limit exceeded")
	return amount
}
