package solana

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// jupiterProgram is Jupiter's aggregator, version 6, as far as it routes through accounts of its own.
var jupiterProgram = known("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

// Jupiter is the address of its program.
func Jupiter() Key { return jupiterProgram }

// jupiterID is the one of its sets of accounts that the sandbox has.
const jupiterID = 3

// jupiterAuthority owns the accounts through which routes lead.
func jupiterAuthority() Key { return pda(jupiterProgram, []byte("authority"), []byte{jupiterID}) }

func jupiterEvents() Key { return pda(jupiterProgram, []byte("__event_authority")) }

// Places of accounts in the instruction shared_accounts_route: IDL of jupiter-amm 6.
const (
	routeAuthority   = 1
	routeUser        = 2
	routeSource      = 3
	routeIn          = 4
	routeOut         = 5
	routeDestination = 6
	routeAccounts    = 13
	stepAccounts     = 15 // of each step: the pool program, and what it takes
)

// tokenSwapStep begins a step of the route plan through the pool program.
const tokenSwapStep = 3

// JupiterSwap makes the transaction of a swap as Jupiter does, for User alone.
func (c *Chain) JupiterSwap(x Exchange) (Unsigned, error) {
	authority, in, out := jupiterAuthority(), x.Route.first().In, x.Route.last().Out
	route := Instruction{
		Program: jupiterProgram,
		Accounts: []Meta{
			reads(tokenProgram), reads(authority), signs(x.User), writes(in.Wallet(x.User)), writes(in.Wallet(authority)),
			writes(out.Wallet(authority)), writes(out.Wallet(x.User)), reads(in.Mint), reads(out.Mint),
			reads(jupiterProgram), reads(token2022Program), // no account for a fee
			reads(jupiterEvents()), reads(jupiterProgram),
		},
		Data: anchor("global", "shared_accounts_route").u8(jupiterID),
	}
	data := borsh(route.Data).u32(uint32(len(x.Route.Hops)))
	for n, h := range x.Route.Hops {
		const whole = 100 // percent
		data = data.u8(tokenSwapStep).u8(whole).u8(byte(n)).u8(byte(n + 1))
		step := h.Pool.swap(h.In, authority, h.In.Wallet(authority), h.Out.Wallet(authority), 0, 0)
		route.Accounts = append(route.Accounts, reads(poolProgram))
		for _, account := range step.Accounts {
			account.Signer = false // the program signs for its authority
			route.Accounts = append(route.Accounts, account)
		}
	}
	route.Data = data.u64(x.Route.first().AmountIn).u64(x.Quoted).u16(x.SlippageBps).u8(0) // no platform fee
	return c.unsigned(x, x.prepared(true, route)...)
}

// Errors of Jupiter's program: IDL of jupiter-amm 6.
var (
	errJupiterSlippage = &refusal{code: 6001, name: "SlippageToleranceExceeded", message: "Slippage tolerance exceeded"}
	errJupiterPlan     = &refusal{code: 6000, name: "EmptyRoute", message: "Empty route"}
)

// jupiter is Jupiter's program: the input goes to its own accounts, from pool to pool among them, and what comes out
// to the user.
func (i *invocation) jupiter() error {
	data, isRoute := bytes.CutPrefix(i.instruction.Data, anchor("global", "shared_accounts_route"))
	const tail = 8 + 8 + 2 + 1
	if !isRoute || len(data) < 1+4+tail || data[0] != jupiterID {
		return i.refuse(101, "InstructionFallbackNotFound", "Fallback functions are not supported")
	}
	i.log("Instruction: SharedAccountsRoute")
	steps := int(binary.LittleEndian.Uint32(data[1:]))
	const stepSize = 4
	if steps == 0 || len(data) != 1+4+steps*stepSize+tail {
		return i.anchorError(errJupiterPlan)
	}
	accounts, err := i.accounts(routeAccounts + steps*stepAccounts)
	if err != nil {
		return err
	}
	order := data[len(data)-tail:]
	amount, quoted := binary.LittleEndian.Uint64(order), binary.LittleEndian.Uint64(order[8:])
	source, _ := i.tokens(accounts[routeSource].Key)
	in, err := tokenOf(source.mint)
	if err != nil || accounts[routeAuthority].Key != jupiterAuthority() {
		return errAccount
	}
	if !accounts[routeUser].Signer {
		return errUnsigned
	}
	if err := i.call(in.transferChecked(accounts[routeSource].Key, accounts[routeIn].Key, accounts[routeUser].Key, amount)); err != nil {
		return err
	}
	before, _ := i.tokens(accounts[routeOut].Key)
	for rest := accounts[routeAccounts:]; len(rest) >= stepAccounts; rest = rest[stepAccounts:] {
		if amount, err = i.hop(rest[:stepAccounts], jupiterAuthority(), amount); err != nil {
			return err
		}
	}
	after, _ := i.tokens(accounts[routeOut].Key)
	given := after.amount - min(after.amount, before.amount)
	if given < leastOf(quoted, binary.LittleEndian.Uint16(order[16:])) {
		return i.anchorError(errJupiterSlippage)
	}
	out, err := tokenOf(after.mint)
	if err != nil {
		return errAccount
	}
	return i.call(out.transferChecked(accounts[routeOut].Key, accounts[routeDestination].Key, jupiterAuthority(), given))
}

// hop swaps an amount through the pool program that comes first among the accounts, as owner, and tells what came
// out of it.
func (i *invocation) hop(accounts []Meta, owner Key, amount uint64) (given uint64, err error) {
	const ownerAt, destinationAt = 3, 7
	step := Instruction{
		Program:  accounts[0].Key,
		Accounts: slices.Clone(accounts[1:]),
		Data:     borsh{}.u8(poolSwap).u64(amount).u64(0),
	}
	if step.Program != poolProgram || accounts[ownerAt].Key != owner {
		return 0, errAccount
	}
	step.Accounts[ownerAt-1].Signer = true
	before, _ := i.tokens(accounts[destinationAt].Key)
	if err := i.call(step); err != nil {
		return 0, err
	}
	after, _ := i.tokens(accounts[destinationAt].Key)
	return after.amount - min(after.amount, before.amount), nil
}

// anchorError fails with an error that the program declares.
func (i *invocation) anchorError(r *refusal) error { return i.refuse(r.code, r.name, r.message) }

// leastOf is what remains of an amount after slippage, rounded up.
func leastOf(amount uint64, slippageBps uint16) uint64 {
	high, low := bits.Mul64(amount, bps-min(bps, uint64(slippageBps)))
	least, rest := bits.Div64(high, low, bps)
	if rest > 0 {
		least++
	}
	return least
}
