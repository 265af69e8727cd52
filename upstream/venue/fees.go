package venue

// Uniswap V3 and its like, several pools for each pair that differ in their fee: QuoterV2 and SwapRouter02,
// https://docs.uniswap.org/contracts/v3

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

var feesABI = parseABI(`[
	{"type":"function","name":"factory","inputs":[],"outputs":[{"type":"address"}]},
	{"type":"function","name":"WETH9","inputs":[],"outputs":[{"type":"address"}]},
	{"type":"function","name":"quoteExactInput","inputs":[{"name":"path","type":"bytes"},{"name":"amountIn","type":"uint256"}],
		"outputs":[{"name":"amountOut","type":"uint256"},{"name":"sqrtPriceX96AfterList","type":"uint160[]"},
			{"name":"initializedTicksCrossedList","type":"uint32[]"},{"name":"gasEstimate","type":"uint256"}]},
	{"type":"function","name":"exactInput","inputs":[{"name":"params","type":"tuple","components":[{"name":"path","type":"bytes"},
		{"name":"recipient","type":"address"},{"name":"amountIn","type":"uint256"},{"name":"amountOutMinimum","type":"uint256"}]}],"outputs":[]},
	{"type":"function","name":"unwrapWETH9","inputs":[{"name":"amountMinimum","type":"uint256"},{"name":"recipient","type":"address"}],"outputs":[]},
	{"type":"function","name":"multicall","inputs":[{"name":"deadline","type":"uint256"},{"name":"data","type":"bytes[]"}],"outputs":[]}
]`)

// routerItself is what SwapRouter02 takes for its own address when it is named as a recipient.
var routerItself = common.BigToAddress(big.NewInt(2))

var v3Dialect = dialect{
	paths: v3Paths,
	ask: func(at listing, p path, amount chain.Amount) contractCall {
		return contractCall{at.Quoter, pack(feesABI, "quoteExactInput", p.packed(), amount.Big())}
	},
	read: func(answer []byte) (priced, error) {
		values, err := feesABI.Unpack("quoteExactInput", answer)
		if err != nil {
			return priced{}, err
		}
		pools := values[3].(*big.Int) // their part of the gas alone
		if !pools.IsUint64() {
			return priced{}, fmt.Errorf("gas of %s", pools)
		}
		out, err := chain.AmountFromBig(values[0].(*big.Int))
		return priced{out, feesGas + pools.Uint64()}, err
	},
	call: v3Call,
	identity: func(at listing, wrapped common.Address) []identityCheck {
		return []identityCheck{
			{contractCall{at.Router, pack(feesABI, "factory")}, at.Factory},
			{contractCall{at.Router, pack(feesABI, "WETH9")}, wrapped},
			{contractCall{at.Quoter, pack(feesABI, "factory")}, at.Factory},
		}
	},
}

// feesGas is what a swap takes beside its pools.
const feesGas = 60_000

// v3Paths tries every fee between two tokens. On longer paths only the fees that most pools have are combined,
// since a quoter runs each path on the chain.
func v3Paths(at listing, stops []common.Address) []path {
	var paths []path
	if len(stops) == 2 {
		for _, fee := range at.Fees {
			paths = append(paths, path{stops: stops, fees: []uint32{fee}})
		}
		return paths
	}
	for _, first := range at.usualFees() {
		for _, second := range at.usualFees() {
			paths = append(paths, path{stops: stops, fees: []uint32{first, second}})
		}
	}
	return paths
}

// usualFees are the two in the middle: the lowest is for stables among themselves, the highest for rarities.
func (at listing) usualFees() []uint32 {
	if len(at.Fees) < 3 {
		return at.Fees
	}
	return at.Fees[1:3]
}

// packed is the path as Uniswap V3 writes it: token, fee in three bytes, token, fee, token …
func (p path) packed() []byte {
	packed := p.stops[0].Bytes()
	for i, fee := range p.fees {
		packed = append(packed, byte(fee>>16), byte(fee>>8), byte(fee))
		packed = append(packed, p.stops[i+1].Bytes()...)
	}
	return packed
}

// v3Call swaps and, for the coin, unwraps what the router got.
func v3Call(_ listing, p path, s swapCall) []byte {
	call := struct {
		Path             []byte
		Recipient        common.Address
		AmountIn         *big.Int
		AmountOutMinimum *big.Int
	}{p.packed(), s.recipient, s.amount.Big(), s.least.Big()}
	if !s.toCoin {
		return pack(feesABI, "multicall", big.NewInt(s.deadline.Unix()), [][]byte{pack(feesABI, "exactInput", call)})
	}
	call.Recipient = routerItself
	return pack(feesABI, "multicall", big.NewInt(s.deadline.Unix()), [][]byte{
		pack(feesABI, "exactInput", call), pack(feesABI, "unwrapWETH9", s.least.Big(), s.recipient),
	})
}
