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
	accounts := []Meta{signs(x.User), writes(x.receiver()), writes(destination), writes(dflowAuthority), reads(systemProgram)}
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
func (i *invocation) dflow(accounts []Meta, data []byte) error {
	_, err := i.dflowSteps(accounts, data, false)
	return err
}

// dflowNative pays the coin, which waits wrapped in an account of the program's, to a wallet; the account's rent goes
// back to the user.
func (i *invocation) dflowNative(accounts []Meta, data []byte) error {
	user, receiver, at := accounts[0].Key, accounts[1].Key, accounts[2].Key
	amount, err := i.dflowSteps(accounts, data, true)
	if err != nil {
		return err
	}
	for _, payment := range []Instruction{
		Tokens[0].closeAccount(at, dflowAuthority, dflowAuthority),
		transferLamports(dflowAuthority, receiver, amount),
		transferLamports(dflowAuthority, user, rent(tokenAccountSize)),
	} {
		if err := i.call(payment); err != nil {
			return err
		}
	}
	return nil
}

// dflowSteps swaps into the destination, which it opens for coins, and tells how much has come out.
func (i *invocation) dflowSteps(accounts []Meta, data []byte, opensCoins bool) (uint64, error) {
	steps, terms := int(binary.LittleEndian.Uint32(data)), readSwapTerms(data[4:])
	user, destination := accounts[0], accounts[2].Key
	switch {
	case terms.amount == 0 || steps == 0 || steps > maxTransactionBytes:
		return 0, i.fail(15004, "InputAmountIsZero", "Input amount is zero")
	case len(accounts) < dflowAccounts+steps*stepAccounts:
		return 0, errFewAccounts
	case !user.Signer:
		return 0, errUnsigned
	}
	hops := accounts[dflowAccounts : dflowAccounts+steps*stepAccounts]
	if hops[len(hops)-stepAccounts+destinationAt].Key != destination || opensCoins && destination != dflowCoins(user.Key) {
		return 0, i.fail(15005, "OutputTokenAccountMismatch", "Output token account mismatch")
	}
	if opensCoins {
		if err := i.createTokens(user.Key, destination, dflowAuthority, Tokens[0]); err != nil {
			return 0, err
		}
	}
	amount, err := i.steps(hops, user.Key, terms.amount)
	if err == nil && amount < terms.least() {
		err = i.fail(15001, "SlippageLimitExceeded", "Slippage limit exceeded")
	}
	return amount, err
}
