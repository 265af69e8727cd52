package venue

// Uniswap V2's like: https://docs.uniswap.org/contracts/v2. Solidly's like have a stable and a volatile pool for each
// pair: https://github.com/aerodrome-finance/contracts

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
)

// How the calls take a path.
const (
	v2Path      = `{"name":"path","type":"address[]"}`
	solidlyPath = `{"name":"routes","type":"tuple[]","components":[{"name":"from","type":"address"},
		{"name":"to","type":"address"},{"name":"stable","type":"bool"},{"name":"factory","type":"address"}]}`
)

const v2ABI = `[
	{"type":"function","name":"FACTORY","inputs":[],"outputs":[{"type":"address"}]},
	{"type":"function","name":"WRAPPED","inputs":[],"outputs":[{"type":"address"}]},
	{"type":"function","name":"getAmountsOut","inputs":[{"name":"amountIn","type":"uint256"},PATH],
		"outputs":[{"name":"amounts","type":"uint256[]"}]},
	{"type":"function","name":"swapExactTokensForTokens","inputs":[{"name":"amountIn","type":"uint256"},
		{"name":"amountOutMin","type":"uint256"},
		PATH,{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]},
	{"type":"function","name":"swapExactETHForTokens","inputs":[{"name":"amountOutMin","type":"uint256"},
		PATH,{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]},
	{"type":"function","name":"swapExactTokensForETH","inputs":[{"name":"amountIn","type":"uint256"},
		{"name":"amountOutMin","type":"uint256"},
		PATH,{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]}
]`

// v2Dialect is the ABI of routers with these names of factory and wrapped coin, and their form of a path.
func v2Dialect(
	factory, wrappedCoin, pathABI string,
	paths func(listing, []common.Address) []path, argument func(listing, path) any,
	enforced func(chain.Chain, quote.Tx) (quote.Call, error),
) dialect {
	abi := parseABI(strings.NewReplacer("FACTORY", factory, "WRAPPED", wrappedCoin, "PATH", pathABI).Replace(v2ABI))
	return dialect{
		paths: paths, enforced: enforced,
		ask: func(at listing, p path, amount chain.Amount) contractCall {
			return contractCall{at.Router, pack(abi, "getAmountsOut", amount.Big(), argument(at, p))}
		},
		read: func(answer []byte) (priced, error) {
			values, err := abi.Unpack("getAmountsOut", answer)
			if err != nil {
				return priced{}, err
			}
			return lastOf(values[0].([]*big.Int))
		},
		call: func(at listing, p path, s swapCall) []byte {
			in, least, deadline := s.amount.Big(), s.least.Big(), big.NewInt(s.deadline.Unix())
			switch {
			case s.fromCoin:
				return pack(abi, "swapExactETHForTokens", least, argument(at, p), s.recipient, deadline)
			case s.toCoin:
				return pack(abi, "swapExactTokensForETH", in, least, argument(at, p), s.recipient, deadline)
			}
			return pack(abi, "swapExactTokensForTokens", in, least, argument(at, p), s.recipient, deadline)
		},
		identity: func(at listing, wrapped common.Address) []identityCheck {
			return []identityCheck{
				{contractCall{at.Router, pack(abi, factory)}, at.Factory},
				{contractCall{at.Router, pack(abi, wrappedCoin)}, wrapped},
			}
		},
	}
}

// v2Calls and solidlyCalls are the same swaps with what the routers hold them to.
var (
	v2Calls      = pairCalls("address[]", nil, nil)
	solidlyCalls = pairCalls("(address,address,bool,address)[]", position{0}, position{1})
)

// pairCalls are the swaps along a path of a type; from and to lead to the token in the first and last member.
func pairCalls(path string, from, to position) callReader {
	at := func(argument, member int, more position) position {
		return append(position{argument, member}, more...)
	}
	return readsCalls(
		function{
			signature: "swapExactTokensForTokens(uint256,uint256," + path + ",address,uint256)",
			amountIn:  position{0}, minOut: position{1}, tokenIn: at(2, 0, from), tokenOut: at(2, -1, to), payee: position{3},
		},
		function{
			signature: "swapExactETHForTokens(uint256," + path + ",address,uint256)",
			amountIn:  callValue, minOut: position{0}, tokenIn: coinItself, tokenOut: at(1, -1, to), payee: position{2},
		},
		function{
			signature: "swapExactTokensForETH(uint256,uint256," + path + ",address,uint256)",
			amountIn:  position{0}, minOut: position{1}, tokenIn: at(2, 0, from), tokenOut: coinItself, payee: position{3},
		},
	)
}

// Gas of a swap through a router, and of every further pool on the path.
const (
	exchangeGas    = 130_000
	furtherPoolGas = 80_000
)

// lastOf is the outcome of a path whose answer is the amounts at all its stops.
func lastOf(amounts []*big.Int) (priced, error) {
	if len(amounts) < 2 {
		return priced{}, fmt.Errorf("%d amounts on a path", len(amounts))
	}
	out, err := chain.AmountFromBig(amounts[len(amounts)-1])
	return priced{out, exchangeGas + furtherPoolGas*uint64(len(amounts)-2)}, err
}

func v2Paths(_ listing, stops []common.Address) []path { return []path{{stops: stops}} }

// solidlyPaths are all combinations of volatile and stable pools on the path.
func solidlyPaths(_ listing, stops []common.Address) []path {
	paths := []path{{stops: stops}}
	for range stops[1:] {
		var longer []path
		for _, p := range paths {
			for _, stable := range []bool{false, true} {
				longer = append(longer, path{stops: stops, stable: append(p.stable[:len(p.stable):len(p.stable)], stable)})
			}
		}
		paths = longer
	}
	return paths
}

// poolRoute is one pool on the path, as Solidly's routers take it.
type poolRoute struct {
	From    common.Address
	To      common.Address
	Stable  bool
	Factory common.Address
}

func (p path) routes(at listing) []poolRoute {
	routes := make([]poolRoute, len(p.stable))
	for i, stable := range p.stable {
		routes[i] = poolRoute{p.stops[i], p.stops[i+1], stable, at.Factory}
	}
	return routes
}
