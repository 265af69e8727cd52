package solana

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// jupiterProgram is Jupiter's aggregator, version 6, limited to routes through its own accounts.
var jupiterProgram = solana.MPK("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

// Jupiter returns the address of Jupiter's program.
func Jupiter() Key { return jupiterProgram }

// jupiterID selects one of Jupiter's sets of accounts, the only one in the sandbox.
const jupiterID = 3

// jupiterAuthority owns the accounts that routes pass through.
var (
	jupiterAuthority = pda(jupiterProgram, "authority", []byte{jupiterID})
	jupiterEvents    = pda(jupiterProgram, "__event_authority")
)

// Positions of accounts in the instruction shared_accounts_route_v2: IDL of jupiter 6.
const (
	routeAuthority   = 0
	routeUser        = 1
	routeSource      = 2
	routeIn          = 3
	routeOut         = 4
	routeDestination = 5
	routeAccounts    = 12
)

// routeStep is a step of the route plan: the kind of pool, its share of an input, and the indexes of input and output.
type routeStep struct {
	Pool          uint8
	Bps           uint16
	Input, Output uint8
}

// JupiterBuild holds the parts of a swap transaction.
type JupiterBuild struct {
	Setup, Cleanup       []Instruction
	Budget, Swap         Instruction
	Table                Key // address lookup table
	Holds                []Key
	Blockhash            [32]byte
	LastValidBlockHeight uint64
}

// JupiterBuild builds the instructions of a swap as Jupiter does, with User as the only receiver.
func (c *Chain) JupiterBuild(x Exchange) JupiterBuild {
	const tokenSwap, noFee, noShare = 3, uint16(0), uint16(0)
	authority, in, out := jupiterAuthority, x.Route.first().In, x.Route.last().Out
	accounts := []Meta{
		reads(authority), signs(x.User), writes(in.Wallet(x.User)), writes(in.Wallet(authority)),
		writes(out.Wallet(authority)), writes(out.Wallet(x.User)), reads(in.Mint), reads(out.Mint),
		reads(in.program), reads(out.program), reads(jupiterEvents), reads(jupiterProgram),
	}
	var plan []routeStep
	for n, h := range x.Route.Hops {
		plan = append(plan, routeStep{tokenSwap, bps, uint8(n), uint8(n + 1)})
		for _, account := range h.step(authority, h.In.Wallet(authority), h.Out.Wallet(authority)) {
			account.Signer = false // the program signs for its authority
			accounts = append(accounts, account)
		}
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	b := JupiterBuild{
		Budget: Instruction{Program: computeBudgetProgram, Data: borsh(setComputeUnitPrice, x.UnitPrice)},
		Swap: Instruction{Program: jupiterProgram, Accounts: accounts, Data: anchor("global", "shared_accounts_route_v2",
			uint8(jupiterID), x.Route.first().AmountIn, x.Quoted, x.SlippageBps, noFee, noShare, uint32(len(plan)), plan)},
		Table: marketTable, Holds: c.tables[marketTable],
		Blockhash: c.blockhash(c.head), LastValidBlockHeight: height(c.head) + hashLife,
	}
	b.Setup, b.Cleanup = x.around(true)
	return b
}

// jupiter is Jupiter's program: the input moves through its own accounts from pool to pool, and the output goes to the
// user.
func (i *invocation) jupiter(accounts []Meta, data []byte) {
	const terms, fees, count, stepSize = 8 + 8 + 2, 2 + 2, 4, 5
	if len(data) < terms+fees+count {
		i.refuseFallback(nil, nil)
	}
	i.log("Instruction: SharedAccountsRouteV2")
	steps := int(binary.LittleEndian.Uint32(data[terms+fees:]))
	i.check(steps > 0 && len(data) == terms+fees+count+steps*stepSize, 6000, "EmptyRoute", "Empty route")
	i.require(len(accounts) >= routeAccounts+steps*stepAccounts, errFewAccounts)
	said := readSwapTerms(data)
	user, to := accounts[routeUser], accounts[routeDestination].Key
	from, through := accounts[routeIn].Key, accounts[routeOut].Key
	source, _ := i.tokens(accounts[routeSource].Key)
	in, err := TokenAt(source.mint)
	i.require(err == nil && accounts[routeAuthority].Key == jupiterAuthority, errInvalidAccount)
	i.require(user.Signer, errUnsigned)
	i.call(in.transferChecked(accounts[routeSource].Key, from, user.Key, said.amount))
	before, _ := i.tokens(through)
	i.steps(accounts[routeAccounts:routeAccounts+steps*stepAccounts], jupiterAuthority, said.amount)
	after, _ := i.tokens(through)
	given := after.amount - min(after.amount, before.amount)
	i.check(given >= said.least(), 6001, "SlippageToleranceExceeded", "Slippage tolerance exceeded")
	out, err := TokenAt(after.mint)
	i.require(err == nil, errInvalidAccount)
	i.call(out.transferChecked(through, to, jupiterAuthority, given))
}
