package solana

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// jupiterProgram is Jupiter's aggregator, version 6, as far as it routes through accounts of its own.
var jupiterProgram = solana.MPK("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

// Jupiter is the address of its program.
func Jupiter() Key { return jupiterProgram }

// jupiterID is the one of its sets of accounts that the sandbox has.
const jupiterID = 3

// jupiterAuthority owns the accounts through which routes lead.
var (
	jupiterAuthority = pda(jupiterProgram, "authority", []byte{jupiterID})
	jupiterEvents    = pda(jupiterProgram, "__event_authority")
)

// Places of accounts in the instruction shared_accounts_route: IDL of jupiter-amm 6.
const (
	routeAuthority   = 1
	routeUser        = 2
	routeSource      = 3
	routeIn          = 4
	routeOut         = 5
	routeDestination = 6
	routeAccounts    = 13
)

// routeStep is a step of the route plan: which kind of pool takes how many percent of which output of the steps before.
type routeStep struct{ Pool, Percent, Input, Output uint8 }

// JupiterSwap makes the transaction of a swap as Jupiter does, for User alone.
func (c *Chain) JupiterSwap(x Exchange) (Unsigned, error) {
	const tokenSwap, whole, noPlatformFee = 3, 100, uint8(0)
	authority, in, out := jupiterAuthority, x.Route.first().In, x.Route.last().Out
	accounts := []Meta{
		reads(tokenProgram), reads(authority), signs(x.User), writes(in.Wallet(x.User)), writes(in.Wallet(authority)),
		writes(out.Wallet(authority)), writes(out.Wallet(x.User)), reads(in.Mint), reads(out.Mint),
		reads(jupiterProgram), reads(token2022Program), // no account for a fee
		reads(jupiterEvents), reads(jupiterProgram),
	}
	var plan []routeStep
	for n, h := range x.Route.Hops {
		plan = append(plan, routeStep{tokenSwap, whole, uint8(n), uint8(n + 1)})
		for _, account := range h.step(authority, h.In.Wallet(authority), h.Out.Wallet(authority)) {
			account.Signer = false // the program signs for its authority
			accounts = append(accounts, account)
		}
	}
	route := Instruction{Program: jupiterProgram, Accounts: accounts, Data: anchor("global", "shared_accounts_route",
		uint8(jupiterID), uint32(len(plan)), plan, x.Route.first().AmountIn, x.Quoted, x.SlippageBps, noPlatformFee)}
	return c.unsigned(x, x.prepared(true, route)...)
}

// jupiter is Jupiter's program: the input goes to its own accounts, from pool to pool among them, and what comes out
// to the user.
func (i *invocation) jupiter(accounts []Meta, data []byte) {
	const count, stepSize, tail = 4, 4, 8 + 8 + 2 + 1
	if len(data) < count+tail {
		i.refuseFallback(nil, nil)
	}
	i.log("Instruction: SharedAccountsRoute")
	steps := int(binary.LittleEndian.Uint32(data))
	i.check(steps > 0 && len(data) == count+steps*stepSize+tail, 6000, "EmptyRoute", "Empty route")
	i.require(len(accounts) >= routeAccounts+steps*stepAccounts, errFewAccounts)
	terms := readSwapTerms(data[len(data)-tail:])
	user, to := accounts[routeUser], accounts[routeDestination].Key
	from, through := accounts[routeIn].Key, accounts[routeOut].Key
	source, _ := i.tokens(accounts[routeSource].Key)
	in, err := TokenAt(source.mint)
	i.require(err == nil && accounts[routeAuthority].Key == jupiterAuthority, errInvalidAccount)
	i.require(user.Signer, errUnsigned)
	i.call(in.transferChecked(accounts[routeSource].Key, from, user.Key, terms.amount))
	before, _ := i.tokens(through)
	i.steps(accounts[routeAccounts:routeAccounts+steps*stepAccounts], jupiterAuthority, terms.amount)
	after, _ := i.tokens(through)
	given := after.amount - min(after.amount, before.amount)
	i.check(given >= terms.least(), 6001, "SlippageToleranceExceeded", "Slippage tolerance exceeded")
	out, err := TokenAt(after.mint)
	i.require(err == nil, errInvalidAccount)
	i.call(out.transferChecked(through, to, jupiterAuthority, given))
}
