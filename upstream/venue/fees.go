package venue

// Uniswap V3 and its like, a pool for each pair and fee: QuoterV2, SwapRouter02, https://docs.uniswap.org/contracts/v3

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
)

// Calls of quoter and router. The quoter returns the amount, two lists about the pools, and their gas.
var (
	v3Price     = newMethod(function{signature: "quoteExactInput(bytes,uint256)"})
	v3Multicall = newMethod(function{signature: "multicall(uint256,bytes[] calls)"})
	v3Swap      = newMethod(function{signature: "exactInput((bytes path,address payee,uint256 amount,uint256 least))"})
	v3Unwrap    = newMethod(function{signature: "unwrapWETH9(uint256 amount/least,address payee)"})
	v3Factory   = words.Call("factory()")
	v3Wrapped   = words.Call("WETH9()")
)

// routerItself is the recipient that SwapRouter02 takes to mean itself.
var routerItself = chain.NewAddress([]byte{19: 2})

var v3Dialect = dialect{
	paths: v3Paths,
	ask: func(at listing, p path, amount chain.Amount) chain.ContractCall {
		return chain.ContractCall{To: at.Quoter, Data: v3Price.Call(p.packed(), amount)}
	},
	read: func(answer []byte) (priced, error) {
		read := words.New(answer)
		pools := read.Uint(3, 64) // only the pools' part of the gas
		return priced{read.Amount(0), feesGas + pools}, read.Err()
	},
	call: v3Call, enforced: readV3Call,
	identity: func(at listing, wrapped chain.Address) []identityCheck {
		return []identityCheck{
			{chain.ContractCall{To: at.Router, Data: v3Factory}, at.Factory},
			{chain.ContractCall{To: at.Router, Data: v3Wrapped}, wrapped},
			{chain.ContractCall{To: at.Quoter, Data: v3Factory}, at.Factory},
		}
	},
}

// feesGas is the gas of a swap without its pools.
const feesGas = 60_000

// v3Paths returns paths of every fee between two tokens, and longer ones of the usual fees: a quoter runs each path.
func v3Paths(at listing, stops []chain.Address) []path {
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

// usualFees returns the two middle fees: the lowest is for pairs of stables, the highest for rare tokens.
func (at listing) usualFees() []uint32 {
	if len(at.Fees) < 3 {
		return at.Fees
	}
	return at.Fees[1:3]
}

// packed encodes the path for Uniswap V3: token, fee in three bytes, token, fee, token …
func (p path) packed() []byte {
	packed := p.stops[0].AppendTo(make([]byte, 0, v3Hop*len(p.stops)))
	for i, fee := range p.fees {
		packed = p.stops[i+1].AppendTo(append(packed, byte(fee>>16), byte(fee>>8), byte(fee)))
	}
	return packed
}

// v3Call returns the call that swaps and, for the coin, unwraps what the router received.
func v3Call(_ listing, p path, s swapCall) []byte {
	swap := func(recipient chain.Address) []byte {
		return v3Swap.Call(words.Tuple{p.packed(), recipient, s.amount, s.least})
	}
	calls := words.List{swap(s.recipient)}
	if s.toCoin {
		calls = words.List{swap(routerItself), v3Unwrap.Call(s.least, s.recipient)}
	}
	return v3Multicall.Call(uint64(s.deadline.Unix()), calls)
}

// v3Hop is the length of a token and a fee in a packed path.
const v3Hop = common.AddressLength + 3

// readV3Call decodes what v3Call encodes, and nothing else that the router can do.
func readV3Call(c chain.Chain, tx quote.Tx) (quote.Call, error) {
	several, err := readerOf(v3Multicall).decode(tx)
	if err != nil {
		return quote.Call{}, err
	}
	parts := several.argument("calls").list()
	if len(parts) == 0 || len(parts) > 2 {
		return quote.Call{}, fmt.Errorf("it makes %d calls to the router", len(parts))
	}
	swap, err := readerOf(v3Swap).decode(quote.Tx{Data: parts[0].bytes()})
	if err != nil {
		return quote.Call{}, err
	}
	call, err := swap.call()
	packed := swap.argument("path").bytes()
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
	unwrapped, err := readerOf(v3Unwrap).read(c, quote.Tx{Data: parts[1].bytes()})
	if err != nil || call.TokenOut != c.WrappedCoin || call.Payee != chain.NewAddress(routerItself.Bytes()) {
		return quote.Call{}, errors.Join(err, errors.New("it unwraps coin that the swap did not pay to the router"))
	}
	call.TokenOut, call.MinOut, call.Payee = chain.NativeCoin(chain.EVM), unwrapped.MinOut, unwrapped.Payee
	return call, nil
}
