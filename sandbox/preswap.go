package sandbox

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/sandbox/contracts"
	"crossgate/sandbox/venues"
)

// forever is a deadline that does not pass, so that calldata is the same at every start.
func forever() *big.Int { return big.NewInt(math.MaxInt64) }

// createSwapped has the public router swap amountIn of another token into what the proposal gives, and
// create the order, in one transaction. What the swap brings beyond goes back to the maker.
func (w *World) createSwapped(ctx context.Context, at time.Time, p proposal, in Token, amountIn *big.Int) (Order, error) {
	c, err := w.known(p.giveChain)
	if err != nil {
		return Order{}, err
	}
	venue := common.HexToAddress(venues.Routers("kyberswap", c.Facts.Native)[0])
	swap := venues.RouterOrder{
		TokenIn: in.Address, TokenOut: p.giveToken.Address, AmountIn: amountIn, MinAmountOut: p.giveAmount,
		Recipient: c.router(), Pools: []common.Address{c.wrappedPool().Address}, Deadline: forever(),
	}.Calldata()
	value, creation := p.creation(c)
	if in.Address == (common.Address{}) {
		value.Add(value, amountIn)
	}
	data := contracts.DeBridgeRouter.Pack("strictlySwapAndCall",
		in.Address, amountIn, []byte{}, venue, swap, p.giveToken.Address, p.giveAmount, p.maker.Address, c.dlnSource(), creation)
	receipts, err := c.execute(ctx, at, call{p.maker, c.router(), value, data})
	if err != nil {
		return Order{}, fmt.Errorf("swap and create order: %w", err)
	}
	orders, err := ordersOf(receipts)
	if err != nil || len(orders) != 1 {
		return Order{}, fmt.Errorf("creation announced %d orders: %w", len(orders), err)
	}
	return orders[0], nil
}

// wrappedPool is the deep pool of the wrapped coin and USDC, the first of all pools.
func (c *Chain) wrappedPool() Pool { return c.Pools[0] }
