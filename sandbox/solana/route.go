package solana

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNoRoute means that no pools lead from the one token to the other, or that they pay nothing.
var ErrNoRoute = errors.New("no route")

// Route is a way through pools at what lies in them.
type Route struct {
	Hops []Hop
	Slot uint64 // of what lies in them
}

// Hop is one pool on the way.
type Hop struct {
	Pool                Pool
	In, Out             Token
	AmountIn, AmountOut uint64
	Fee                 uint64 // of AmountIn
}

// AmountOut is what the last pool gives.
func (r Route) AmountOut() uint64 { return r.Hops[len(r.Hops)-1].AmountOut }

func (r Route) first() Hop { return r.Hops[0] }
func (r Route) last() Hop  { return r.Hops[len(r.Hops)-1] }

// TokenAt returns the token of the sandbox with a mint.
func TokenAt(mint Key) (Token, error) { return tokenOf(mint) }

// Best is the route with the highest outcome through those pools that may be used: the direct ones, and those over
// the wrapped coin or USDC.
func (c *Chain) Best(in, out Token, amount uint64, usable func(Pool) bool) (Route, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	best := Route{Slot: c.head}
	if in == out {
		return Route{}, fmt.Errorf("%w from %s to itself", ErrNoRoute, in.Mint)
	}
	for _, middle := range []Token{out, Tokens[0], Tokens[1]} {
		stops := []Token{middle, out}
		if middle == out {
			stops = stops[:1]
		}
		if hops := c.walk(in, stops, amount, usable); hops != nil && (best.Hops == nil || hops[len(hops)-1].AmountOut > best.AmountOut()) {
			best.Hops = hops
		}
	}
	if best.Hops == nil {
		return Route{}, fmt.Errorf("%w from %s to %s", ErrNoRoute, in.Mint, out.Mint)
	}
	return best, nil
}

// walk goes from stop to stop by the best pool of each step; nil where none leads on.
func (c *Chain) walk(in Token, stops []Token, amount uint64, usable func(Pool) bool) (hops []Hop) {
	for _, out := range stops {
		var best Hop
		for _, p := range c.pools {
			if in == out || !p.has(in) || !p.has(out) || !usable(p) {
				continue
			}
			if given := p.give(c.now, in, amount); given > best.AmountOut {
				best = Hop{Pool: p, In: in, Out: out, AmountIn: amount, AmountOut: given, Fee: p.fee(amount)}
			}
		}
		if best.AmountOut == 0 {
			return nil
		}
		hops = append(hops, best)
		in, amount = out, best.AmountOut
	}
	return hops
}

// Along repeats a route through given pools at what lies in them now.
func (c *Chain) Along(in Token, amount uint64, pools ...Key) (Route, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r := Route{Slot: c.head}
	for _, at := range pools {
		p, isPool := stateOf[Pool](c.accounts[at])
		if !isPool || !p.has(in) {
			return Route{}, fmt.Errorf("%w: %s is no pool of %s", ErrNoRoute, at, in.Mint)
		}
		h := Hop{Pool: p, In: in, Out: p.other(in), AmountIn: amount, AmountOut: p.give(c.now, in, amount), Fee: p.fee(amount)}
		if h.AmountOut == 0 {
			return Route{}, fmt.Errorf("%w: %s gives nothing for %d", ErrNoRoute, at, amount)
		}
		r.Hops, in, amount = append(r.Hops, h), h.Out, h.AmountOut
	}
	if len(r.Hops) == 0 {
		return Route{}, fmt.Errorf("%w without pools", ErrNoRoute)
	}
	return r, nil
}

// Exchange is a swap that somebody shall sign the transaction of.
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

// wrapsIn and wrapsOut tell whether what goes in, or comes out, is the coin.
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
func (u Unsigned) Priority() uint64 { return priorityOf(u.UnitLimit, u.UnitPrice) }

// unsigned compiles the instructions behind a budget of a fifth more than they take when they are tried.
func (c *Chain) unsigned(x Exchange, calls ...Instruction) (Unsigned, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	made := Unsigned{UnitLimit: mostUnits, UnitPrice: x.priceFor(mostUnits), LastValidBlockHeight: height(c.head) + hashLife}
	tx, err := c.compose(x, made, calls)
	if err != nil {
		return Unsigned{}, err
	}
	e, err := c.trial(tx, checks{}, c.now)
	if err != nil {
		return Unsigned{}, err
	}
	if made.Failure = tx.failure(); made.Failure == nil {
		made.UnitLimit = e.outcome.units * 6 / 5
	}
	made.UnitPrice = x.priceFor(made.UnitLimit)
	if tx, err = c.compose(x, made, calls); err != nil {
		return Unsigned{}, err
	}
	made.Wire = tx.wire()
	if len(made.Wire) > maxTransactionBytes {
		return Unsigned{}, fmt.Errorf("transaction of %d bytes, %d fit", len(made.Wire), maxTransactionBytes)
	}
	return made, nil
}

// compose compiles the instructions with a budget for User's signature.
func (c *Chain) compose(x Exchange, u Unsigned, calls []Instruction) (*recorded, error) {
	tx := Transaction{
		Payer: Account{Key: x.User}, Versioned: true, Tables: []Key{marketTable},
		Instructions: budgeted(uint32(u.UnitLimit), u.UnitPrice, calls...),
	}
	m, err := compile(tx, c.blockhash(c.head), func(t Key) []Key { return c.tables[t] })
	if err != nil {
		return nil, err
	}
	m.loadedWritable, m.loadedReadonly = nil, nil // whoever reads it looks them up
	return &recorded{message: m, signatures: make([]Signature, m.signed)}, nil
}

// prepared puts in front of the calls what opens User's accounts and wraps the coin, and behind them what unwraps it.
func (x Exchange) prepared(receives bool, calls ...Instruction) []Instruction {
	in, out := x.Route.first(), x.Route.last().Out
	var before, after []Instruction
	unwraps := false
	if x.wrapsIn() {
		before, unwraps = append(before, wrap(x.User, in.AmountIn)...), true
	}
	if receives {
		before = append(before, out.openWallet(x.User, x.receiver()))
		unwraps = unwraps || x.wrapsOut()
	}
	if unwraps {
		after = append(after, Tokens[0].closeAccount(Tokens[0].Wallet(x.User), x.User, x.User))
	}
	return slices.Concat(before, calls, after)
}
