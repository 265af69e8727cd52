package venues

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"crossgate/sandbox/contracts"
)

// RouterOrder is a swap by contract VenueRouter, which is deployed at every venue's router address and called like the
// venue's own router (calls.go).
type RouterOrder struct {
	TokenIn, TokenOut common.Address
	AmountIn          *big.Int
	MinAmountOut      *big.Int // after the output fee
	Recipient         common.Address
	Plan              Plan
}

// Plan is how the router executes an order.
type Plan struct {
	Pools        []common.Address
	Shares       []Share
	OutputFeeBps uint16   // kept by the venue
	Deadline     *big.Int // Unix seconds
}

// Share is a part of the input that is paid to a recipient before the rest is swapped.
type Share struct {
	Recipient common.Address
	Bps       uint16
}

// Calldata returns a call of swapOrder, a function of the sandbox's own.
func (o RouterOrder) Calldata() []byte { return contracts.VenueRouter.Pack("swapOrder", o) }

// lessShares returns what remains of an input to swap.
func lessShares(amount *big.Int, shares []Share) *big.Int {
	rest := amount
	for _, s := range shares {
		rest = new(big.Int).Sub(rest, shareOf(amount, float64(s.Bps)))
	}
	return rest
}

// approval returns the calldata that lets spender take amount of a token.
func approval(spender string, amount *big.Int) string {
	return hexutil.Encode(contracts.Token.Pack("approve", common.HexToAddress(spender), amount))
}
