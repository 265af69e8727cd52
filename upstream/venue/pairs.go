package venue

// Uniswap V2 and its like, one pool for each pair: https://docs.uniswap.org/contracts/v2

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

var pairsABI = parseABI(`[
	{"type":"function","name":"factory","inputs":[],"outputs":[{"type":"address"}]},
	{"type":"function","name":"WETH","inputs":[],"outputs":[{"type":"address"}]},
	{"type":"function","name":"getAmountsOut","inputs":[{"name":"amountIn","type":"uint256"},{"name":"path","type":"address[]"}],
		"outputs":[{"name":"amounts","type":"uint256[]"}]},
	{"type":"function","name":"swapExactTokensForTokens","inputs":[{"name":"amountIn","type":"uint256"},{"name":"amountOutMin","type":"uint256"},
		{"name":"path","type":"address[]"},{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]},
	{"type":"function","name":"swapExactETHForTokens","inputs":[{"name":"amountOutMin","type":"uint256"},
		{"name":"path","type":"address[]"},{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]},
	{"type":"function","name":"swapExactTokensForETH","inputs":[{"name":"amountIn","type":"uint256"},{"name":"amountOutMin","type":"uint256"},
		{"name":"path","type":"address[]"},{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}],"outputs":[]}
]`)

var pairsSpeech = speech{
	ways: func(_ listing, stops []common.Address) []way { return []way{{stops: stops}} },
	ask: func(at listing, w way, amount chain.Amount) question {
		return question{at.Router, pack(pairsABI, "getAmountsOut", amount.Big(), w.stops)}
	},
	read: func(answer []byte) (priced, error) {
		values, err := pairsABI.Unpack("getAmountsOut", answer)
		if err != nil {
			return priced{}, err
		}
		return lastOf(values[0].([]*big.Int))
	},
	call: func(_ listing, w way, o order) []byte {
		in, least, deadline := o.amount.Big(), o.least.Big(), big.NewInt(o.deadline.Unix())
		switch {
		case o.fromCoin:
			return pack(pairsABI, "swapExactETHForTokens", least, w.stops, o.recipient, deadline)
		case o.toCoin:
			return pack(pairsABI, "swapExactTokensForETH", in, least, w.stops, o.recipient, deadline)
		}
		return pack(pairsABI, "swapExactTokensForTokens", in, least, w.stops, o.recipient, deadline)
	},
	proofs: func(at listing, wrapped common.Address) []proof {
		return []proof{
			{question{at.Router, pack(pairsABI, "factory")}, at.Factory},
			{question{at.Router, pack(pairsABI, "WETH")}, wrapped},
		}
	},
}

// Gas of a swap through a router, and of every further pool on the way.
const (
	exchangeGas    = 130_000
	furtherPoolGas = 80_000
)

// lastOf is the outcome of a way whose answer is the amounts at all its stops.
func lastOf(amounts []*big.Int) (priced, error) {
	if len(amounts) < 2 {
		return priced{}, fmt.Errorf("%d amounts on a way", len(amounts))
	}
	out, err := chain.AmountFromBig(amounts[len(amounts)-1])
	return priced{out, exchangeGas + furtherPoolGas*uint64(len(amounts)-2)}, err
}
