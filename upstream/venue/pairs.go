package venue

// Uniswap V2 and exchanges like it: https://docs.uniswap.org/contracts/v2. Those like Solidly have a stable and a
// volatile pool for each pair: https://github.com/aerodrome-finance/contracts

import (
	"fmt"
	"strings"

	"crossgate/chain"
	"crossgate/chain/words"
)

// Types of a path in calls; fromCoin and toCoin adapt them to paths that begin or end with the coin.
const (
	v2Path      = "address[] in/out"
	solidlyPath = "(address in,address out,bool stable,address factory)[]"
)

var (
	fromCoin = strings.NewReplacer(" in/out", " out", " in", "")
	toCoin   = strings.NewReplacer(" in/out", " in", " out", "")
)

var v2Calls, solidlyCalls = newPairCalls(v2Path), newPairCalls(solidlyPath)

// pairCalls are the functions that swap along a path, and the one that prices it.
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

// dialect returns the dialect of routers with these calls, getters of factory and wrapped coin, and form of a path.
func (c pairCalls) dialect(factory, wrappedCoin string, paths func(listing, []chain.Address) []path, argument func(listing, path) any) dialect {
	return dialect{
		paths: paths, enforced: c.reader().read, read: lastOf,
		ask: func(at listing, p path, amount chain.Amount) chain.ContractCall {
			return chain.ContractCall{To: at.Router, Data: c.prices.Call(amount, argument(at, p))}
		},
		call: func(at listing, p path, s swapCall) []byte {
			deadline := uint64(s.deadline.Unix())
			switch {
			case s.fromCoin:
				return c.fromCoin.Call(s.least, argument(at, p), s.recipient, deadline)
			case s.toCoin:
				return c.toCoin.Call(s.amount, s.least, argument(at, p), s.recipient, deadline)
			}
			return c.tokens.Call(s.amount, s.least, argument(at, p), s.recipient, deadline)
		},
		identity: func(at listing, wrapped chain.Address) []identityCheck {
			return []identityCheck{
				{chain.ContractCall{To: at.Router, Data: words.Call(factory)}, at.Factory},
				{chain.ContractCall{To: at.Router, Data: words.Call(wrappedCoin)}, wrapped},
			}
		},
	}
}

// Gas of a swap through a router, and of each further pool on the path.
const (
	exchangeGas    = 130_000
	furtherPoolGas = 80_000
)

// lastOf decodes the output of a path from an answer that lists the amounts at all stops, and nothing else.
func lastOf(answer []byte) (priced, error) {
	stops, amounts := words.New(answer).List(0)
	if stops < 2 || stops != uint64(len(answer)/words.Size)-2 {
		return priced{}, fmt.Errorf("%d amounts on a path in %d bytes", stops, len(answer))
	}
	last := amounts.Amount(int(stops - 1))
	return priced{last, exchangeGas + furtherPoolGas*(stops-2)}, amounts.Err()
}

func v2Paths(_ listing, stops []chain.Address) []path { return []path{{stops: stops}} }

// solidlyPaths returns all combinations of volatile and stable pools on the path.
func solidlyPaths(_ listing, stops []chain.Address) []path {
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

// routes returns the pools on the path, as Solidly's routers take them: from, to, whether stable, and the factory.
func (p path) routes(at listing) words.List {
	routes := make(words.List, len(p.stable))
	for i, stable := range p.stable {
		routes[i] = words.Record{p.stops[i], p.stops[i+1], stable, at.Factory}
	}
	return routes
}
