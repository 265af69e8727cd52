package solana

import (
	"errors"
	"fmt"
)

// ErrNoRoute means that no pools connect the two tokens, or that they pay nothing.
var ErrNoRoute = errors.New("no route")

// Route is a path through pools, with amounts based on the reserves at a slot.
type Route struct {
	Hops []Hop
	Slot uint64 // of the reserves
}

// Hop is one pool on the route.
type Hop struct {
	Pool                Pool
	In, Out             Token
	AmountIn, AmountOut uint64
}

// hop returns the hop through a pool at its current reserves.
func (c *Chain) hop(p Pool, in Token, amount uint64) Hop {
	return Hop{Pool: p, In: in, Out: p.other(in), AmountIn: amount, AmountOut: p.give(c.now, in, amount)}
}

// AmountOut returns the output of the last pool.
func (r Route) AmountOut() uint64 { return r.Hops[len(r.Hops)-1].AmountOut }

func (r Route) first() Hop { return r.Hops[0] }
func (r Route) last() Hop  { return r.Hops[len(r.Hops)-1] }

// Best returns the route with the highest output through usable pools, either direct or by way of the wrapped coin or
// USDC.
func (c *Chain) Best(in, out Token, amount uint64, usable func(Pool) bool) (Route, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if in == out {
		return Route{}, fmt.Errorf("%w from %s to itself", ErrNoRoute, in.Mint)
	}
	best := Route{Slot: c.head}
	for _, middle := range []Token{out, Tokens[0], Tokens[1]} {
		stops := []Token{middle, out}
		if middle == out {
			stops = stops[:1]
		}
		hops := c.walk(in, stops, amount, usable)
		if hops != nil && (best.Hops == nil || hops[len(hops)-1].AmountOut > best.AmountOut()) {
			best.Hops = hops
		}
	}
	if best.Hops == nil {
		return Route{}, fmt.Errorf("%w from %s to %s", ErrNoRoute, in.Mint, out.Mint)
	}
	return best, nil
}

// walk goes from stop to stop by the best pool of each step. It returns nil if a step has no pool.
func (c *Chain) walk(in Token, stops []Token, amount uint64, usable func(Pool) bool) (hops []Hop) {
	for _, out := range stops {
		var best Hop
		for _, p := range c.pools {
			if in == out || !p.has(in) || !p.has(out) || !usable(p) {
				continue
			}
			if h := c.hop(p, in, amount); h.AmountOut > best.AmountOut {
				best = h
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
