package venues

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"crossgate/sandbox/contracts"
)

// RouterOrder is a swap by contract VenueRouter, which is deployed at every venue's router address and called as the
// venue's own router is (calls.go).
type RouterOrder struct {
	TokenIn, TokenOut common.Address
	AmountIn          *big.Int
	MinAmountOut      *big.Int // after the output fee
	Recipient         common.Address
	Plan              Plan
}

// Plan is how an order is carried out.
type Plan struct {
	Pools        []common.Address
	Shares       []Share
	OutputFeeBps uint16   // kept by the venue
	Deadline     *big.Int // Unix seconds
}

// Share is a part of the input that somebody is paid before the rest is swapped.
type Share struct {
	Recipient common.Address
	Bps       uint16
}

// Calldata is the call of swapOrder, which is no venue's.
func (o RouterOrder) Calldata() []byte { return contracts.VenueRouter.Pack("swapOrder", o) }

// lessShares is what of an input is swapped.
func lessShares(amount *big.Int, shares []Share) *big.Int {
	rest := amount
	for _, s := range shares {
		rest = new(big.Int).Sub(rest, shareOf(amount, float64(s.Bps)))
	}
	return rest
}

// approval is the calldata with which spender may take amount of a token.
func approval(spender string, amount *big.Int) string {
	return hexutil.Encode(contracts.Token.Pack("approve", common.HexToAddress(spender), amount))
}
