package venue

// Aerodrome and Velodrome, a stable and a volatile pool for each pair: https://github.com/aerodrome-finance/contracts

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

var routesABI = parseABI(`[
	{"type":"function","name":"defaultFactory","inputs":[],"outputs":[{"type":"address"}]},
	{"type":"function","name":"weth","inputs":[],"outputs":[{"type":"address"}]},
	{"type":"function","name":"getAmountsOut","inputs":[{"name":"amountIn","type":"uint256"},` + routesParameter + `],
		"outputs":[{"name":"amounts","type":"uint256[]"}]},
	{"type":"function","name":"swapExactTokensForTokens","inputs":[{"name":"amountIn","type":"uint256"},{"name":"amountOutMin","type":"uint256"},
		` + routesParameter + `,{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]},
	{"type":"function","name":"swapExactETHForTokens","inputs":[{"name":"amountOutMin","type":"uint256"},
		` + routesParameter + `,{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]},
	{"type":"function","name":"swapExactTokensForETH","inputs":[{"name":"amountIn","type":"uint256"},{"name":"amountOutMin","type":"uint256"},
		` + routesParameter + `,{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]}
]`)

const routesParameter = `{"name":"routes","type":"tuple[]","components":[{"name":"from","type":"address"},{"name":"to","type":"address"},
	{"name":"stable","type":"bool"},{"name":"factory","type":"address"}]}`

var routesSpeech = speech{
	ways: routesWays,
	ask: func(at listing, w way, amount chain.Amount) question {
		return question{at.Router, pack(routesABI, "getAmountsOut", amount.Big(), w.routes(at))}
	},
	read: func(answer []byte) (priced, error) {
		values, err := routesABI.Unpack("getAmountsOut", answer)
		if err != nil {
			return priced{}, err
		}
		return lastOf(values[0].([]*big.Int))
	},
	call: func(at listing, w way, o order) []byte {
		in, least, deadline := o.amount.Big(), o.least.Big(), big.NewInt(o.deadline.Unix())
		switch {
		case o.fromCoin:
			return pack(routesABI, "swapExactETHForTokens", least, w.routes(at), o.recipient, deadline)
		case o.toCoin:
			return pack(routesABI, "swapExactTokensForETH", in, least, w.routes(at), o.recipient, deadline)
		}
		return pack(routesABI, "swapExactTokensForTokens", in, least, w.routes(at), o.recipient, deadline)
	},
	proofs: func(at listing, wrapped common.Address) []proof {
		return []proof{
			{question{at.Router, pack(routesABI, "defaultFactory")}, at.Factory},
			{question{at.Router, pack(routesABI, "weth")}, wrapped},
		}
	},
}

// routesWays are all combinations of volatile and stable pools on the way.
func routesWays(_ listing, stops []common.Address) []way {
	ways := []way{{stops: stops}}
	for range stops[1:] {
		var longer []way
		for _, w := range ways {
			for _, stable := range []bool{false, true} {
				longer = append(longer, way{stops: stops, stable: append(w.stable[:len(w.stable):len(w.stable)], stable)})
			}
		}
		ways = longer
	}
	return ways
}

// poolRoute is one pool on the way, as the contract takes it.
type poolRoute struct {
	From    common.Address
	To      common.Address
	Stable  bool
	Factory common.Address
}

func (w way) routes(at listing) []poolRoute {
	routes := make([]poolRoute, len(w.stable))
	for i, stable := range w.stable {
		routes[i] = poolRoute{w.stops[i], w.stops[i+1], stable, at.Factory}
	}
	return routes
}
