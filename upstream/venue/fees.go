package venue

// Uniswap V3 and its like, a pool for each pair and fee: QuoterV2, SwapRouter02, https://docs.uniswap.org/contracts/v3

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
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
	call: v3Call, enforced: readV3Call,
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

// v3Paths tries every fee between two tokens, and on longer paths the usual ones: a quoter runs each path on the chain.
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

var (
	v3Multicall = readsCalls(function{signature: "multicall(uint256,bytes[])"})
	v3Swap      = readsCalls(function{
		signature: "exactInput((bytes,address,uint256,uint256))",
		payee:     position{0, 1}, amountIn: position{0, 2}, minOut: position{0, 3}, tokenIn: coinItself, tokenOut: coinItself,
	})
	v3Unwrap = readsCalls(function{
		signature: "unwrapWETH9(uint256,address)",
		minOut:    position{0}, payee: position{1}, amountIn: position{0}, tokenIn: coinItself, tokenOut: coinItself,
	})
)

// v3Hop is the length of a token and a fee in a packed path.
const v3Hop = common.AddressLength + 3

// readV3Call reads what v3Call writes, and nothing else that the router can do.
func readV3Call(c chain.Chain, tx quote.Tx) (quote.Call, error) {
	_, arguments, err := v3Multicall.unpack(tx.Data)
	if err != nil {
		return quote.Call{}, err
	}
	parts := arguments[1].([][]byte)
	if len(parts) == 0 || len(parts) > 2 {
		return quote.Call{}, fmt.Errorf("it makes %d calls of the router", len(parts))
	}
	_, arguments, err = v3Swap.unpack(parts[0])
	if err != nil {
		return quote.Call{}, err
	}
	call, err := v3Swap.read(c, quote.Tx{Data: parts[0]})
	packed := (&argumentReader{arguments: arguments}).at(position{0, 0}).([]byte)
	if err != nil || len(packed) < v3Hop+common.AddressLength || len(packed)%v3Hop != common.AddressLength {
		return quote.Call{}, errors.Join(err, fmt.Errorf("it swaps along a path of %d bytes", len(packed)))
	}
	call.TokenIn = chain.NewAddress(packed[:common.AddressLength])
	call.TokenOut = chain.NewAddress(packed[len(packed)-common.AddressLength:])
	if call.TokenIn == c.WrappedCoin && tx.Value == call.AmountIn {
		call.TokenIn = chain.NativeCoin(chain.EVM)
	}
	if len(parts) == 1 {
		return call, nil
	}
	unwrapped, err := v3Unwrap.read(c, quote.Tx{Data: parts[1]})
	if err != nil || call.TokenOut != c.WrappedCoin || call.Payee != chain.NewAddress(routerItself.Bytes()) {
		return quote.Call{}, errors.Join(err, errors.New("it unwraps what it did not get"))
	}
	call.TokenOut, call.MinOut, call.Payee = chain.NativeCoin(chain.EVM), unwrapped.MinOut, unwrapped.Payee
	return call, nil
}
