package onchain

import (
	"crossgate/chain"
	"crossgate/order"
)

// swapExecuted is the router's report of a swap that it made (DeBridgeRouter): router, tokenIn,
// amountIn, tokenOut, amountOut.
var swapExecuted = topic("SwapExecuted(address,address,uint256,address,uint256)")

// swaps are those that the router reported in one transaction and no order was made of yet.
type swaps struct {
	router chain.Address
	unused []order.Preswap
}

// see remembers the router's report of a swap. An unreadable report does not lose the order.
func (s *swaps) see(log Log) {
	if log.Address.IsAbsent() || log.Address != s.router || len(log.Topics) != 1 || log.Topics[0] != swapExecuted {
		return
	}
	w := newWords(log.Data)
	swap := order.Preswap{TokenIn: w.address(1), AmountIn: w.amount(2), TokenOut: w.address(3), AmountOut: w.amount(4)}
	if w.err() == nil {
		s.unused = append(s.unused, swap)
	}
}

// take returns the newest swap into the give token of an order that was just created, nil without one.
// A swap belongs to one order: those before the creation serve no later one.
func (s *swaps) take(give chain.Address) *order.Preswap {
	var newest *order.Preswap
	for _, swap := range s.unused {
		if swap.TokenOut == give {
			newest = &swap
		}
	}
	s.unused = nil
	return newest
}
