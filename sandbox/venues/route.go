package venues

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

const allBps = 10_000

// route is a path through the pools at their current reserves. The coin and its wrapped token are interchangeable,
// without a hop.
type route struct {
	hops      []hop
	amountOut *big.Int // of the last hop, before the venue's own fee
}

// hop is one pool on the route.
type hop struct {
	pool                pool
	in, out             common.Address
	amountIn, amountOut *big.Int
}

// best returns the route with the highest output, either direct or by way of the wrapped coin or USDC.
func (c *chainMarket) best(ctx context.Context, in, out common.Address, amount *big.Int) (route, error) {
	from, to := c.pooled(in), c.pooled(out)
	found := route{amountOut: new(big.Int)}
	if from == to {
		if in == out || amount.Sign() == 0 {
			return route{}, errNoRoute
		}
		return route{amountOut: amount}, nil
	}
	for _, stops := range [][]common.Address{{to}, {c.wrapped, to}, {c.usdc, to}} {
		if len(stops) > 1 && (stops[0] == from || stops[0] == to) {
			continue
		}
		hops, err := c.walk(ctx, from, stops, amount)
		if err != nil {
			return route{}, err
		}
		if len(hops) == len(stops) && hops[len(hops)-1].amountOut.Cmp(found.amountOut) > 0 {
			found = route{hops, hops[len(hops)-1].amountOut}
		}
	}
	if found.amountOut.Sign() == 0 {
		return route{}, errNoRoute
	}
	return found, nil
}

// walk goes from stop to stop by the best pool of each step. That is the best way through these stops, because more
// input never pays less. It ends early if no pool continues.
func (c *chainMarket) walk(
	ctx context.Context, from common.Address, stops []common.Address, amount *big.Int,
) (hops []hop, err error) {
	for _, to := range stops {
		step := hop{amountOut: new(big.Int)}
		for _, p := range c.pools {
			if !p.joins(from, to) {
				continue
			}
			tried, err := c.through(ctx, p, from, amount)
			if err != nil {
				return nil, err
			}
			if tried.amountOut.Cmp(step.amountOut) > 0 {
				step = tried
			}
		}
		if step.amountOut.Sign() == 0 {
			return hops, nil
		}
		hops = append(hops, step)
		from, amount = to, step.amountOut
	}
	return hops, nil
}

// along prices a route through given pools at the current reserves.
func (c *chainMarket) along(
	ctx context.Context, in, out common.Address, pools []common.Address, amount *big.Int,
) (route, error) {
	repeated, at := route{amountOut: amount}, c.pooled(in)
	for _, address := range pools {
		i := slices.IndexFunc(c.pools, func(p pool) bool { return p.address == address })
		if i < 0 || c.pools[i].a != at && c.pools[i].b != at {
			return route{}, errNoRoute
		}
		step, err := c.through(ctx, c.pools[i], at, repeated.amountOut)
		if err != nil {
			return route{}, err
		}
		repeated.hops = append(repeated.hops, step)
		at, repeated.amountOut = step.out, step.amountOut
	}
	if at != c.pooled(out) {
		return route{}, errNoRoute
	}
	return repeated, nil
}

// through computes a pool's output as its contract does:
// floor(in·(1−fee)·reserveOut / (reserveIn + in·(1−fee))).
func (c *chainMarket) through(ctx context.Context, p pool, in common.Address, amount *big.Int) (hop, error) {
	reserveIn, reserveOut, err := c.reserves(ctx, c.id, p.text)
	if err != nil {
		return hop{}, fmt.Errorf("reserves of pool %s on chain %d: %w", p.text, c.id, err)
	}
	out := p.b
	if in == p.b {
		reserveIn, reserveOut, out = reserveOut, reserveIn, p.a
	}
	afterFee := new(big.Int).Mul(amount, big.NewInt(allBps-p.feeBps))
	depth := new(big.Int).Mul(reserveIn, big.NewInt(allBps))
	depth.Add(depth, afterFee)
	given := new(big.Int)
	if depth.Sign() > 0 {
		given.Quo(afterFee.Mul(afterFee, reserveOut), depth)
	}
	return hop{pool: p, in: in, out: out, amountIn: amount, amountOut: given}, nil
}

func (p pool) joins(x, y common.Address) bool { return p.a == x && p.b == y || p.a == y && p.b == x }

func (r route) pools() []common.Address {
	pools := make([]common.Address, len(r.hops))
	for i, step := range r.hops {
		pools[i] = step.pool.address
	}
	return pools
}

// Typical gas use of such routers, and the gas price in wei that the venues assume.
const (
	swapGas  = 110_000
	hopGas   = 75_000
	gasPrice = 1_000_000_000

	gasPriceText = "1000000000"
)

func (r route) gas() int64 { return swapGas + hopGas*int64(len(r.hops)) }

// shareOf returns floor(amount × bps / 10,000). Basis points may have a fraction.
func shareOf(amount *big.Int, bps float64) *big.Int {
	share, _ := new(big.Rat).SetString(decimal(bps))
	share.Mul(share, new(big.Rat).SetInt(amount))
	share.Quo(share, big.NewRat(allBps, 1))
	return new(big.Int).Quo(share.Num(), share.Denom())
}

// less returns amount without its share.
func less(amount *big.Int, bps float64) *big.Int {
	return new(big.Int).Sub(amount, shareOf(amount, bps))
}

// Best returns the highest output of an EVM chain's pools for an amount at their current reserves, treating the coin as
// its wrapped token. It fails if there is no route.
func (m Market) Best(ctx context.Context, evmChainID uint64, in, out common.Address, amount *big.Int) (*big.Int, error) {
	c, trades := index(m).chains[evmChainID]
	if !trades {
		return nil, fmt.Errorf("chain %d: %w", evmChainID, errNoRoute)
	}
	found, err := c.best(ctx, in, out, amount)
	return found.amountOut, err
}
