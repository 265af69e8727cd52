package venues

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"crossgate/sandbox/contracts"
)

// RouterOrder is the argument of swap, the one function of contract VenueRouter, which is deployed at every
// venue's router address.
type RouterOrder struct {
	TokenIn, TokenOut common.Address
	AmountIn          *big.Int
	MinAmountOut      *big.Int // after the output fee
	Recipient         common.Address
	Pools             []common.Address
	Shares            []Share
	OutputFeeBps      uint16   // kept by the venue
	Deadline          *big.Int // Unix seconds
}

// Share is a part of the input that somebody is paid before the rest is swapped.
type Share struct {
	Recipient common.Address
	Bps       uint16
}

// Calldata is the call of swap.
func (o RouterOrder) Calldata() []byte { return contracts.VenueRouter.Pack("swap", o) }

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
