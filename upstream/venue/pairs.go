package venue

// Uniswap V2's like: https://docs.uniswap.org/contracts/v2. Solidly's like have a stable and a volatile pool for each
// pair: https://github.com/aerodrome-finance/contracts

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

// The calls' types of a path, and the same where it begins or ends with the coin.
const (
	v2Path      = "address[] in/out"
	solidlyPath = "(address in,address out,bool stable,address factory)[]"
)

var (
	fromCoin = strings.NewReplacer(" in/out", " out", " in", "")
	toCoin   = strings.NewReplacer(" in/out", " in", " out", "")
)

var v2Calls, solidlyCalls = newPairCalls(v2Path), newPairCalls(solidlyPath)

// pairCalls are the swaps along a path.
type pairCalls struct{ tokens, toCoin, fromCoin, prices *method }

func newPairCalls(path string) pairCalls {
	form := func(signature, path string) *method {
		return newMethod(function{signature: strings.Replace(signature, "PATH", path, 1)})
	}
	return pairCalls{
		tokens:   form("swapExactTokensForTokens(uint256 amount,uint256 least,PATH,address payee,uint256)", path),
		toCoin:   form("swapExactTokensForETH(uint256 amount,uint256 least,PATH,address payee,uint256)", toCoin.Replace(path)),
		fromCoin: form("swapExactETHForTokens(uint256 least,PATH,address payee,uint256)", fromCoin.Replace(path)),
		prices:   form("getAmountsOut(uint256,PATH)", path),
	}
}

func (c pairCalls) reader() callReader { return readerOf(c.tokens, c.toCoin, c.fromCoin) }

// dialect is the ABI of routers with these calls and names of factory and wrapped coin, and their form of a path.
func (c pairCalls) dialect(factory, wrappedCoin string, paths func(listing, []common.Address) []path, argument func(listing, path) any) dialect {
	return dialect{
		paths: paths, enforced: c.reader().read, read: lastOf,
		ask: func(at listing, p path, amount chain.Amount) contractCall {
			return contractCall{at.Router, c.prices.pack(amount.Big(), argument(at, p))}
		},
		call: func(at listing, p path, s swapCall) []byte {
			in, least, deadline := s.amount.Big(), s.least.Big(), big.NewInt(s.deadline.Unix())
			switch {
			case s.fromCoin:
				return c.fromCoin.pack(least, argument(at, p), s.recipient, deadline)
			case s.toCoin:
				return c.toCoin.pack(in, least, argument(at, p), s.recipient, deadline)
			}
			return c.tokens.pack(in, least, argument(at, p), s.recipient, deadline)
		},
		identity: func(at listing, wrapped common.Address) []identityCheck {
			return []identityCheck{
				{contractCall{at.Router, newMethod(function{signature: factory}).pack()}, at.Factory},
				{contractCall{at.Router, newMethod(function{signature: wrappedCoin}).pack()}, wrapped},
			}
		},
	}
}

// Gas of a swap through a router, and of every further pool on the path.
const (
	exchangeGas    = 130_000
	furtherPoolGas = 80_000
)

// lastOf is the outcome of a path whose answer is a list, of the amounts at all its stops, behind its place and length.
func lastOf(answer []byte) (priced, error) {
	words := len(answer) / common.HashLength
	if words < 4 || word(answer, 1) != chain.NewAmount(uint64(words-2)) {
		return priced{}, fmt.Errorf("amounts on a path in %d words", words)
	}
	return priced{word(answer, words-1), exchangeGas + furtherPoolGas*uint64(words-4)}, nil
}

// word is one of an answer.
func word(answer []byte, index int) chain.Amount {
	return chain.AmountFromBytes(answer[index*common.HashLength : (index+1)*common.HashLength])
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
	From    common.Address `abi:"member0"`
	To      common.Address `abi:"member1"`
	Stable  bool           `abi:"member2"`
	Factory common.Address `abi:"member3"`
}

func (p path) routes(at listing) []poolRoute {
	routes := make([]poolRoute, len(p.stable))
	for i, stable := range p.stable {
		routes[i] = poolRoute{p.stops[i], p.stops[i+1], stable, at.Factory}
	}
	return routes
}
