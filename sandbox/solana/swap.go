package solana

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Exchange is a swap for which somebody gets a transaction to sign.
type Exchange struct {
	Route       Route
	User        Key    // pays and signs
	Receiver    Key    // of what comes out; the zero key is User
	Wraps       bool   // the wrapped coin comes from, and goes to, the coin
	Quoted      uint64 // what is to come out, less SlippageBps at the worst
	SlippageBps uint16
	UnitPrice   uint64 // micro-lamports for a compute unit
	MostFee     uint64 // lamports that may be spent on that in all; zero: any
}

// Least is what must come out, rounded up.
func (x Exchange) Least() uint64 { return leastOf(x.Quoted, x.SlippageBps) }

func (x Exchange) receiver() Key {
	if x.Receiver == (Key{}) {
		return x.User
	}
	return x.Receiver
}

// wrapsIn and wrapsOut report whether what goes in, or comes out, is the coin.
func (x Exchange) wrapsIn() bool  { return x.Wraps && x.Route.first().In == Tokens[0] }
func (x Exchange) wrapsOut() bool { return x.Wraps && x.Route.last().Out == Tokens[0] }

// priceFor is what is bid for each of so many units.
func (x Exchange) priceFor(units uint64) uint64 {
	if x.MostFee == 0 {
		return x.UnitPrice
	}
	return min(x.UnitPrice, x.MostFee*microPerLamport/units)
}

// Unsigned is a transaction that waits for its signature.
type Unsigned struct {
	Wire                 []byte
	LastValidBlockHeight uint64
	UnitLimit            uint64
	UnitPrice            uint64 // micro-lamports
	// Failure is why it would fail if it were sent now, as clients see it; nil when it would not.
	Failure any
}

// Priority is what the transaction spends on its place in a block, in lamports.
func (u Unsigned) Priority() uint64 { return priorityFee(u.UnitLimit, u.UnitPrice) }

// unsigned compiles the instructions behind a budget of a fifth more than they take in a simulation.
func (c *Chain) unsigned(x Exchange, calls ...Instruction) (Unsigned, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	u := Unsigned{UnitLimit: mostUnits, UnitPrice: x.priceFor(mostUnits), LastValidBlockHeight: height(c.head) + hashLife}
	t, err := c.compose(x, u, calls)
	if err != nil {
		return Unsigned{}, err
	}
	e, err := c.simulate(t, checks{}, c.now)
	if err != nil {
		return Unsigned{}, err
	}
	if u.Failure = e.outcome.failure(); u.Failure == nil {
		u.UnitLimit = e.outcome.units * 6 / 5
	}
	u.UnitPrice = x.priceFor(u.UnitLimit)
	if t, err = c.compose(x, u, calls); err == nil {
		u.Wire, err = t.wire()
	}
	return u, err
}

// compose compiles the instructions with a budget for User's signature.
func (c *Chain) compose(x Exchange, u Unsigned, calls []Instruction) (*transaction, error) {
	d := draft{
		payer: Account{Key: x.User}, table: marketTable,
		instructions: budgeted(uint32(u.UnitLimit), u.UnitPrice, calls...),
	}
	t, err := d.compile(c.blockhash(c.head), c.tables)
	if err != nil {
		return nil, err
	}
	t.Signatures = make([]Signature, t.Message.Header.NumRequiredSignatures)
	return t, nil
}

// prepared puts in front of the calls what opens User's accounts and wraps the coin, and after them what unwraps it.
func (x Exchange) prepared(receives bool, calls ...Instruction) []Instruction {
	before, after := x.around(receives)
	return slices.Concat(before, calls, after)
}

// around is what comes before a swap's own instructions, and after them.
func (x Exchange) around(receives bool) (before, after []Instruction) {
	in, out := x.Route.first(), x.Route.last().Out
	if x.wrapsIn() {
		before = wrap(x.User, in.AmountIn)
	}
	if receives {
		before = append(before, out.openWallet(x.User, x.receiver()))
	}
	if x.wrapsIn() || receives && x.wrapsOut() {
		after = append(after, Tokens[0].closeAccount(Tokens[0].Wallet(x.User), x.User, x.User))
	}
	return before, after
}

// Each step of a route takes the accounts of the pool program and before them that program.
const (
	stepAccounts  = 15
	ownerAt       = 3
	destinationAt = 7
)

// step is the accounts by which an aggregator's program has the hop's pool swap, for the owner of both accounts.
func (h Hop) step(owner, from, to Key) []Meta {
	const nothing = 0 // the program writes amounts itself
	return append([]Meta{reads(poolProgram)}, h.Pool.swap(h.In, owner, from, to, nothing, nothing).Accounts...)
}

// steps swaps an amount through the pools that the accounts lead to, as owner, and returns what came out of the last.
func (i *invocation) steps(accounts []Meta, owner Key, amount uint64) uint64 {
	for step := range slices.Chunk(accounts, stepAccounts) {
		i.require(step[0].Key == poolProgram && step[ownerAt].Key == owner, errInvalidAccount)
		swap := Instruction{Program: poolProgram, Accounts: slices.Clone(step[1:]), Data: borsh(poolSwap, amount, uint64(0))}
		swap.Accounts[ownerAt-1].Signer = true
		before, _ := i.tokens(step[destinationAt].Key)
		i.call(swap)
		after, _ := i.tokens(step[destinationAt].Key)
		amount = after.amount - min(after.amount, before.amount)
	}
	return amount
}

// swapTerms are what aggregators' instructions say of a swap.
type swapTerms struct {
	amount, quoted uint64
	slippageBps    uint16
}

func readSwapTerms(data []byte) swapTerms {
	return swapTerms{
		binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:]), binary.LittleEndian.Uint16(data[16:]),
	}
}

// least is what must come out.
func (s swapTerms) least() uint64 { return leastOf(s.quoted, s.slippageBps) }

// leastOf is what remains of an amount after slippage, rounded up.
func leastOf(amount uint64, slippageBps uint16) uint64 {
	high, low := bits.Mul64(amount, bps-min(bps, uint64(slippageBps)))
	least, rest := bits.Div64(high, low, bps)
	if rest > 0 {
		least++
	}
	return least
}
