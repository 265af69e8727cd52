package solana

import (
	"bytes"
	"encoding/binary"
)

// dflowProgram is DFlow's swap orchestrator. Its instructions and errors have the names of its IDL (swap_orchestrator
// 0.1.0); their arguments and accounts are the sandbox's own, as those are not published apart from it.
var dflowProgram = known("DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH")

// DFlow is the address of its program.
func DFlow() Key { return dflowProgram }

// dflowAuthority owns the accounts in which the wrapped coin waits for being paid out as the coin.
func dflowAuthority() Key { return pda(dflowProgram, []byte("authority")) }

func dflowCoins(user Key) Key { return pda(dflowProgram, []byte("coins"), user[:]) }

// Names of DFlow's instructions.
const (
	dflowSwap          = "swap"
	dflowToDestination = "swap_with_destination"
	dflowToNative      = "swap_with_destination_native"
)

// DFlowSwap makes the transaction of a swap as DFlow does. It pays any wallet: tokens into an account that it opens,
// the coin itself.
func (c *Chain) DFlowSwap(x Exchange) (Unsigned, error) {
	name, last := dflowSwap, x.Route.last()
	destination := last.Out.Wallet(x.receiver())
	paysCoin := x.wrapsOut() && x.receiver() != x.User
	switch {
	case paysCoin:
		name, destination = dflowToNative, dflowCoins(x.User)
	case x.receiver() != x.User:
		name = dflowToDestination
	}
	swap := Instruction{
		Program:  dflowProgram,
		Accounts: []Meta{signs(x.User), writes(x.receiver()), writes(destination), writes(dflowAuthority()), reads(systemProgram)},
		Data:     anchor("global", name),
	}
	data := borsh(swap.Data).u32(uint32(len(x.Route.Hops)))
	var calls []Instruction
	for n, h := range x.Route.Hops {
		to := h.Out.Wallet(x.User)
		if n == len(x.Route.Hops)-1 {
			to = destination
		} else {
			calls = append(calls, h.Out.openWallet(x.User, x.User))
		}
		step := h.Pool.swap(h.In, x.User, h.In.Wallet(x.User), to, 0, 0)
		swap.Accounts = append(append(swap.Accounts, reads(poolProgram)), step.Accounts...)
	}
	swap.Data = data.u64(x.Route.first().AmountIn).u64(x.Quoted).u16(x.SlippageBps).u16(0) // no platform fee
	return c.unsigned(x, x.prepared(!paysCoin, append(calls, swap)...)...)
}

// Errors of DFlow's program.
var (
	errDFlowSlippage = &refusal{code: 15001, name: "SlippageLimitExceeded", message: "Slippage limit exceeded"}
	errDFlowNothing  = &refusal{code: 15004, name: "InputAmountIsZero", message: "Input amount is zero"}
	errDFlowOutput   = &refusal{code: 15005, name: "OutputTokenAccountMismatch", message: "Output token account mismatch"}
)

// dflow is DFlow's program: pools take from the user's accounts and give to them, the last one to the destination.
func (i *invocation) dflow() error {
	name, data := "", []byte(nil)
	for _, each := range []string{dflowSwap, dflowToDestination, dflowToNative} {
		if rest, fits := bytes.CutPrefix(i.instruction.Data, anchor("global", each)); fits {
			name, data = each, rest
		}
	}
	const size, fixed = 4 + 8 + 8 + 2 + 2, 5
	if len(data) != size {
		return i.refuse(101, "InstructionFallbackNotFound", "Fallback functions are not supported")
	}
	i.log("Instruction: %s", name)
	steps := int(binary.LittleEndian.Uint32(data))
	amount, quoted := binary.LittleEndian.Uint64(data[4:]), binary.LittleEndian.Uint64(data[12:])
	if amount == 0 || steps == 0 || steps > maxTransactionBytes {
		return i.anchorError(errDFlowNothing)
	}
	accounts, err := i.accounts(fixed + steps*stepAccounts)
	if err != nil {
		return err
	}
	user, receiver, destination := accounts[0], accounts[1].Key, accounts[2].Key
	if !user.Signer {
		return errUnsigned
	}
	if name == dflowToNative {
		if err := i.openCoins(user.Key, destination); err != nil {
			return err
		}
	}
	steppers := accounts[fixed : fixed+steps*stepAccounts]
	if last := steppers[len(steppers)-stepAccounts:]; last[7].Key != destination {
		return i.anchorError(errDFlowOutput)
	}
	for ; len(steppers) > 0; steppers = steppers[stepAccounts:] {
		if amount, err = i.hop(steppers[:stepAccounts], user.Key, amount); err != nil {
			return err
		}
	}
	if amount < leastOf(quoted, binary.LittleEndian.Uint16(data[20:])) {
		return i.anchorError(errDFlowSlippage)
	}
	if name == dflowToNative {
		return i.payCoins(user.Key, receiver, destination, amount)
	}
	return nil
}

// openCoins opens the account in which the wrapped coin waits.
func (i *invocation) openCoins(user, at Key) error {
	if at != dflowCoins(user) {
		return i.anchorError(errDFlowOutput)
	}
	return i.createTokens(user, at, dflowAuthority(), Tokens[0])
}

// payCoins pays the amount that waits to the receiver, and gives the account's rent back to the user.
func (i *invocation) payCoins(user, receiver, at Key, amount uint64) error {
	authority := dflowAuthority()
	if err := i.call(Tokens[0].closeAccount(at, authority, authority)); err != nil {
		return err
	}
	if err := i.call(transferLamports(authority, receiver, amount)); err != nil {
		return err
	}
	return i.call(transferLamports(authority, user, rent(tokenAccountSize)))
}
