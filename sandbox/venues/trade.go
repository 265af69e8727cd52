package venues

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

const allBps = 10_000

// errNoPath means that no pools lead from the one token to the other, or that they pay nothing.
var errNoPath = errors.New("no path")

// trade is a way through the pools at their present reserves. The coin and its wrapped token trade for
// each other without hops.
type trade struct {
	listing   *listing
	in, out   common.Address
	amountIn  *big.Int
	hops      []hop
	amountOut *big.Int // of the last hop; the venue's own fee is still in it
}

// hop is one pool on the way.
type hop struct {
	pool                pool
	in, out             common.Address
	amountIn, amountOut *big.Int
}

// best is the trade with the highest outcome among the direct ones and those over the wrapped coin or USDC.
func (f *floor) best(ctx context.Context, l *listing, in, out common.Address, amount *big.Int) (trade, error) {
	from, to := l.pooled(in), l.pooled(out)
	found := trade{listing: l, in: in, out: out, amountIn: amount, amountOut: new(big.Int)}
	if from == to {
		if in == out || amount.Sign() == 0 {
			return trade{}, errNoPath
		}
		found.amountOut = amount
		return found, nil
	}
	for _, middle := range []common.Address{to, l.wrapped, l.usdc} {
		stops := []common.Address{middle, to}
		if middle == to {
			stops = stops[:1]
		}
		if middle == from {
			continue
		}
		hops, err := f.walk(ctx, l, from, stops, amount)
		if err != nil {
			return trade{}, err
		}
		if len(hops) == len(stops) && hops[len(hops)-1].amountOut.Cmp(found.amountOut) > 0 {
			found.hops, found.amountOut = hops, hops[len(hops)-1].amountOut
		}
	}
	if found.amountOut.Sign() == 0 {
		return trade{}, errNoPath
	}
	return found, nil
}

// walk goes from stop to stop by the best pool of each step, which is the best way over these stops since
// more input never gives less. It ends early where no pool leads on.
func (f *floor) walk(ctx context.Context, l *listing, from common.Address, stops []common.Address, amount *big.Int) ([]hop, error) {
	var hops []hop
	for _, to := range stops {
		step := hop{amountOut: new(big.Int)}
		for _, p := range l.pools {
			if !p.joins(from, to) {
				continue
			}
			tried, err := f.through(ctx, l, p, from, amount)
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

// along repeats a trade through given pools at the present reserves.
func (f *floor) along(ctx context.Context, l *listing, in, out common.Address, pools []common.Address, amount *big.Int) (trade, error) {
	repeated := trade{listing: l, in: in, out: out, amountIn: amount, amountOut: amount}
	token := l.pooled(in)
	for _, address := range pools {
		p, listed := l.pool(address)
		if !listed || (p.a != token && p.b != token) {
			return trade{}, errNoPath
		}
		step, err := f.through(ctx, l, p, token, repeated.amountOut)
		if err != nil {
			return trade{}, err
		}
		repeated.hops = append(repeated.hops, step)
		token, repeated.amountOut = step.out, step.amountOut
	}
	if token != l.pooled(out) {
		return trade{}, errNoPath
	}
	return repeated, nil
}

// through computes what a pool gives, as its contract does:
// floor(in·(1−fee)·reserveOut / (reserveIn + in·(1−fee))).
func (f *floor) through(ctx context.Context, l *listing, p pool, in common.Address, amount *big.Int) (hop, error) {
	reserveIn, reserveOut, err := f.reserves(ctx, l.chain, p.text)
	if err != nil {
		return hop{}, fmt.Errorf("reserves of pool %s on chain %d: %w", p.text, l.chain, err)
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

func (l *listing) pool(address common.Address) (p pool, listed bool) {
	for _, p := range l.pools {
		if p.address == address {
			return p, true
		}
	}
	return pool{}, false
}

func (t trade) pools() []common.Address {
	pools := make([]common.Address, len(t.hops))
	for i, step := range t.hops {
		pools[i] = step.pool.address
	}
	return pools
}

// Gas figures of the order that routers of this kind use, and the price of gas in wei that the venues
// reckon with.
const (
	swapGas  = 110_000
	hopGas   = 75_000
	gasPrice = 1_000_000_000
)

func (t trade) gas() int64 { return swapGas + hopGas*int64(len(t.hops)) }

// shareOf is floor(amount × bps / 10,000).
func shareOf(amount *big.Int, bps int64) *big.Int {
	share := new(big.Int).Mul(amount, big.NewInt(bps))
	return share.Quo(share, big.NewInt(allBps))
}

// less is amount without its share.
func less(amount *big.Int, bps int64) *big.Int {
	return new(big.Int).Sub(amount, shareOf(amount, bps))
}
