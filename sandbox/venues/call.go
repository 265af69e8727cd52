package venues

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

// routerABI is the one function of contract VenueRouter, which stands at every venue's router address.
var routerABI = parseABI(`[{
	"type": "function", "name": "swap", "stateMutability": "payable",
	"inputs": [{"name": "order", "type": "tuple", "components": [
		{"name": "tokenIn", "type": "address"},
		{"name": "tokenOut", "type": "address"},
		{"name": "amountIn", "type": "uint256"},
		{"name": "minAmountOut", "type": "uint256"},
		{"name": "recipient", "type": "address"},
		{"name": "pools", "type": "address[]"},
		{"name": "shares", "type": "tuple[]", "components": [
			{"name": "recipient", "type": "address"},
			{"name": "bps", "type": "uint16"}
		]},
		{"name": "outputFeeBps", "type": "uint16"},
		{"name": "deadline", "type": "uint256"}
	]}],
	"outputs": [{"name": "amountOut", "type": "uint256"}]
}]`)

// call is the argument of the router's swap function.
type call struct {
	TokenIn, TokenOut common.Address
	AmountIn          *big.Int
	MinAmountOut      *big.Int // after the output fee
	Recipient         common.Address
	Pools             []common.Address
	Shares            []Share
	OutputFeeBps      uint16 // kept by the venue
	Deadline          *big.Int
}

// Share is a part of the input that somebody is paid before it is swapped, as the router has it.
type Share struct {
	Recipient common.Address
	Bps       uint16
}

// lessShares is what of an input is swapped.
func lessShares(amount *big.Int, shares []Share) *big.Int {
	rest := amount
	for _, s := range shares {
		rest = new(big.Int).Sub(rest, shareOf(amount, int64(s.Bps)))
	}
	return rest
}

func (c call) encode() (string, error) {
	data, err := routerABI.Pack("swap", c)
	if err != nil {
		return "", fmt.Errorf("encode the router's call: %w", err)
	}
	return "0x" + common.Bytes2Hex(data), nil
}

// value is what the call must carry of the coin.
func (c call) value() string {
	if c.TokenIn == coin {
		return c.AmountIn.String()
	}
	return "0"
}

func parseABI(text string) abi.ABI {
	parsed, err := abi.JSON(strings.NewReader(text))
	if err != nil {
		panic("venues: router ABI: " + err.Error())
	}
	return parsed
}

// approval is the calldata with which spender may take amount of a token: approve(address,uint256).
func approval(spender string, amount *big.Int) string {
	const selector = "0x095ea7b3"
	return selector + common.Bytes2Hex(common.LeftPadBytes(common.FromHex(spender), 32)) + common.Bytes2Hex(common.LeftPadBytes(amount.Bytes(), 32))
}
