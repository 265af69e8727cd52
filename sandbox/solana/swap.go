package solana

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Exchange is a swap to build an unsigned transaction for.
type Exchange struct {
	Route       Route
	User        Key    // pays and signs
	Receiver    Key    // of the output; the zero key is User
	Wraps       bool   // the wrapped coin is wrapped from, and unwrapped to, the coin
	Quoted      uint64 // expected output, from which SlippageBps may be lost
	SlippageBps uint16
	UnitPrice   uint64 // micro-lamports per compute unit
	MostFee     uint64 // limit of the priority fee in lamports; zero: none
}

// Least returns the minimum output, rounded up.
func (x Exchange) Least() uint64 { return leastOf(x.Quoted, x.SlippageBps) }

func (x Exchange) receiver() Key {
	if x.Receiver == (Key{}) {
		return x.User
	}
	return x.Receiver
}

// wrapsIn and wrapsOut report whether the input, or the output, is the coin.
func (x Exchange) wrapsIn() bool  { return x.Wraps && x.Route.first().In == Tokens[0] }
func (x Exchange) wrapsOut() bool { return x.Wraps && x.Route.last().Out == Tokens[0] }

// priceFor returns the bid per unit for a number of units.
func (x Exchange) priceFor(units uint64) uint64 {
	if x.MostFee == 0 {
		return x.UnitPrice
	}
	return min(x.UnitPrice, x.MostFee*microPerLamport/units)
}

// Unsigned is a transaction that still needs its signature.
type Unsigned struct {
	Wire                 []byte
	LastValidBlockHeight uint64
	UnitLimit            uint64
	UnitPrice            uint64 // micro-lamports
	// Failure is why it would fail if sent now, as clients see it; nil if it would not.
	Failure any
}

// Priority returns the transaction's priority fee in lamports.
func (u Unsigned) Priority() uint64 { return priorityFee(u.UnitLimit, u.UnitPrice) }

// unsigned compiles the instructions with a compute budget of a fifth more than they consume in a simulation.
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

// compose compiles the instructions with a compute budget for User's signature.
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

// prepared surrounds the calls with those that open User's accounts and wrap the coin, and those that unwrap it.
func (x Exchange) prepared(receives bool, calls ...Instruction) []Instruction {
	before, after := x.around(receives)
	return slices.Concat(before, calls, after)
}

// around returns the instructions before and after a swap's own.
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

// Each step of a route takes the pool program, followed by that program's accounts.
const (
	stepAccounts  = 15
	ownerAt       = 3
	destinationAt = 7
)

// step returns the accounts with which an aggregator's program swaps in the hop's pool, for the owner of both accounts.
func (h Hop) step(owner, from, to Key) []Meta {
	const nothing = 0 // the aggregator's program sets the amounts itself
	return append([]Meta{reads(poolProgram)}, h.Pool.swap(h.In, owner, from, to, nothing, nothing).Accounts...)
}

// steps swaps an amount through the pools given by accounts, as owner, and returns the output of the last.
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

// swapTerms are the terms of a swap in aggregators' instructions.
type swapTerms struct {
	amount, quoted uint64
	slippageBps    uint16
}

func readSwapTerms(data []byte) swapTerms {
	return swapTerms{
		binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:]), binary.LittleEndian.Uint16(data[16:]),
	}
}

// least returns the minimum output.
func (s swapTerms) least() uint64 { return leastOf(s.quoted, s.slippageBps) }

// leastOf returns what remains of an amount after slippage, rounded up.
func leastOf(amount uint64, slippageBps uint16) uint64 {
	high, low := bits.Mul64(amount, bps-min(bps, uint64(slippageBps)))
	least, rest := bits.Div64(high, low, bps)
	if rest > 0 {
		least++
	}
	return least
}
