package venue

// SUN.io smart router on TRON: https://github.com/sun-protocol/smart-exchange-router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
)

// sunio returns a route, for which we write calldata. Multicall3 pays shares, only of the coin, and calls the router.
var sunio = register(service{
	// The limit is not published. The odd host is SUN.io's own (docs.sun.io/developers/swap/smart-router).
	Service: Service{
		Name: "sunio", URL: "https://rot.endjgfsv.link", Keyless: true,
		Source: "github sun-protocol/smart-exchange-router, README",
	},
	profile: quote.Profile{
		ImageURL: "https://sun.io/favicon.ico", Writes: true, Read: readSunioCall, PaysTwo: true, SharesOfCoin: true,
	},
	asks: requestTemplate{ // the kinds of pool that the router supports: SunSwap V4 needs another call
		path: "swap/router", query: "fromToken=$zeroIn toToken=$zeroOut amountIn=$rest " +
			"typeList=PSM,CURVE,CURVE_COMBINATION,WTRX,SUNSWAP_V1,SUNSWAP_V2,SUNSWAP_V3",
	},
	refuses: refusals{state: "code", fine: "0", words: "code message", empty: "data"},
	finish:  readSunio,
	prepare: func(v *aggregator) (quote.Venue, error) {
		if tron, known := v.Registry.Chain(chain.Tron); known {
			v.profile.Routers[chain.Tron] = sunioRouter
			if multicall := tron.Contracts.Multicall; !multicall.IsAbsent() {
				v.profile.MoreRouters[chain.Tron] = []chain.Address{multicall}
				v.profile.MaxAffiliatePercent = decimal.NewFromInt(sunioMostShare)
			}
		}
		return &sunioVenue{v}, nil
	},
})

const (
	// Energy of a swap over one pool, and of each further one.
	sunioEnergy     = 90_000
	sunioHopEnergy  = 60_000
	sunioMostTokens = 8
	// Energy of Multicall3's call and its payments to existing accounts, and the largest share of a swap, in percent.
	sunioShareEnergy = 60_000
	sunioMostShare   = 10
)

// sunioRouter is the SmartExchangeRouter, also the spender: TCFNp179Lg46D16zKoumd4Poa2WFFdtqYj.
var sunioRouter = contract("0x18ff186cb1973d4b29700f2aac6b1eec9e55ffbd")

// Calls of the router, and of Multicall3 (github.com/mds1/multicall3).
var (
	sunioSwap = newMethod(function{
		signature: "swapExactInput(address[] in/out,string[],uint256[],uint24[],(uint256 amount,uint256 least,address payee,uint256))",
	})
	sunioCalls      = readerOf(sunioSwap)
	sunioValueCall  = newMethod(function{signature: "aggregate3Value((address target,bool mayFail,uint256 value,bytes data)[] calls)"})
	sunioValueCalls = readerOf(sunioValueCall)
)

// valueCall is a member of the argument of sunioValueCall.
type valueCall struct {
	target  chain.Address
	mayFail bool
	value   chain.Amount
	data    []byte
}

func newValueCall(v value) valueCall {
	part := func(i int) value { p, _ := v.at(i); return p }
	return valueCall{part(0).address(), part(1).isTrue(), part(2).amount(), part(3).bytes()}
}

// sunioRoute is a path as the router's call takes it: a pool's kind and fee have the index of the token that goes in.
type sunioRoute struct {
	path     []chain.Address
	versions words.List // texts
	fees     words.List // ints, hundredths of a basis point, zero if the kind has none
}

type sunioVenue struct{ *aggregator }

// Build implements quote.Venue. It makes no request: the calldata holds the minimum.
func (v *sunioVenue) Build(_ context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	own, err := v.own(q)
	if err != nil {
		return quote.Tx{}, err
	}
	route := own.route.(sunioRoute)
	lengths := slices.Repeat(words.List{1}, len(route.versions)) // of the path's parts: each adds a token, the first has two
	lengths[0] = 2
	data := sunioSwap.Call(route.path, route.versions, lengths, route.fees, words.Record{
		sunioSwapped(s), leastOf(q.AmountOut, s), s.Recipient, uint64(v.deadline(s.Chain.ID).Unix()),
	})
	tx := quote.Tx{To: v.profile.Routers[s.Chain.ID], Data: data, Value: coinValue(s)}
	if sunioSwapped(s) == s.In.Amount {
		return tx, nil
	}
	var calls words.List // target, whether it may fail, value, calldata
	for _, share := range []quote.Affiliate{s.Affiliate, s.Second} {
		if share.Percent.IsPositive() {
			calls = append(calls, words.Tuple{share.Recipient, false, sunioShare(s, share), ""})
		}
	}
	calls = append(calls, words.Tuple{tx.To, false, sunioSwapped(s), data})
	tx.To, tx.Data = s.Chain.Contracts.Multicall, sunioValueCall.Call(calls)
	return tx, nil
}

// sunioShare returns a share of a swap's input, sunioSwapped the rest.
func sunioShare(s quote.Swap, share quote.Affiliate) chain.Amount {
	return quote.Share(s.In.Amount, share.Percent.Truncate(2))
}

func sunioSwapped(s quote.Swap) chain.Amount {
	return s.In.Amount.Sub(sunioShare(s, s.Affiliate)).Sub(sunioShare(s, s.Second))
}

// readSunioCall is sunio's Profile.Read: it decodes a call of the router, or payments of shares before such a call.
func readSunioCall(c chain.Chain, tx quote.Tx) (quote.Call, error) {
	if tx.To != c.Contracts.Multicall {
		return sunioCalls.read(c, tx)
	}
	d, err := sunioValueCalls.decode(tx)
	if err != nil {
		return quote.Call{}, err
	}
	var made []valueCall
	for _, each := range d.argument("calls").list() {
		made = append(made, newValueCall(each))
	}
	last := len(made) - 1
	if last < 0 || made[last].mayFail || made[last].target != sunioRouter {
		return quote.Call{}, errors.New("it does not end with a call to the router")
	}
	swapped := made[last].value
	call, err := sunioCalls.read(c, quote.Tx{Data: made[last].data, Value: swapped})
	if err != nil || !call.TokenIn.IsNative() || call.AmountIn != swapped || tx.Value.IsZero() {
		return quote.Call{}, errors.Join(err, errors.New("it calls the router with another value than it swaps"))
	}
	shares := []*quote.Affiliate{&call.Affiliate, &call.Second}
	for i, paid := range made[:last] {
		if i == len(shares) || len(paid.data) > 0 || paid.mayFail {
			return quote.Call{}, errors.New("it makes calls other than payments of shares")
		}
		percent := decimal.NewFromBigInt(paid.value.Big(), 2).DivRound(decimal.NewFromBigInt(tx.Value.Big(), 0), 18).Truncate(9)
		*shares[i] = quote.Affiliate{Percent: percent, Recipient: paid.target}
		call.AmountIn = call.AmountIn.Add(paid.value)
	}
	return call, nil
}

// sunioOffer is a route; the best is first. Amounts are in whole tokens; newer versions of the API also have raw ones.
type sunioOffer struct {
	AmountIn     string      `json:"amountIn"`
	AmountOut    string      `json:"amountOut"`
	AmountOutRaw json.Number `json:"amountOutRaw"`
	Tokens       []string    `json:"tokens"`
	PoolFees     []string    `json:"poolFees"`
	PoolVersions []string    `json:"poolVersions"`
}

func readSunio(a reply, _ quote.Profile, s quote.Swap, o proposal) (proposal, error) {
	var read struct {
		Data []sunioOffer `json:"data"`
	}
	if err := notDocumented("answer", json.Unmarshal(a, &read)); err != nil {
		return o, err
	}
	if len(read.Data) == 0 {
		return o, noSwapRoute("no routes")
	}
	best := read.Data[0]
	in, err := smallest(best.AmountIn, s.In.Token.Decimals)
	if err != nil || in != sunioSwapped(s) {
		return o, fmt.Errorf("answer is about an input of %q", clean(best.AmountIn))
	}
	route, err := best.route(s)
	if err != nil {
		return o, err
	}
	o.route, o.gas = route, sunioEnergy+sunioHopEnergy*uint64(len(route.path)-2)
	if sunioSwapped(s) != s.In.Amount {
		o.gas += sunioShareEnergy
	}
	if best.AmountOutRaw != "" {
		o.out, err = chain.ParseAmount(string(best.AmountOutRaw))
	} else {
		o.out, err = smallest(best.AmountOut, s.Out.Token.Decimals)
	}
	return o, err
}

// route decodes the route, which must lead from one token of the swap to the other.
func (o sunioOffer) route(s quote.Swap) (sunioRoute, error) {
	hops := len(o.PoolVersions)
	if hops == 0 || len(o.Tokens) != hops+1 || len(o.Tokens) > sunioMostTokens || len(o.PoolFees) < hops {
		return sunioRoute{}, fmt.Errorf("route of %d tokens, %d pools and %d fees", len(o.Tokens), hops, len(o.PoolFees))
	}
	var route sunioRoute
	for i, text := range o.Tokens {
		token, err := chain.ParseAddress(text, chain.TVM)
		if err != nil {
			return sunioRoute{}, fmt.Errorf("route: %w", err)
		}
		if i == 0 && token != s.In.Address || i == hops && token != s.Out.Address {
			return sunioRoute{}, errors.New("route between other tokens")
		}
		fee := uint64(0)
		if i < hops {
			if fee, err = strconv.ParseUint(o.PoolFees[i], 10, 24); err != nil {
				return sunioRoute{}, fmt.Errorf("fee of %q", clean(o.PoolFees[i]))
			}
			route.versions = append(route.versions, o.PoolVersions[i])
		}
		route.path, route.fees = append(route.path, token), append(route.fees, fee)
	}
	return route, nil
}

// smallest converts an amount in whole tokens to smallest units.
func smallest(text string, decimals uint8) (chain.Amount, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > int(decimals) {
		return chain.Amount{}, errors.New("amount has more decimals than the token")
	}
	return chain.ParseAmount(whole + fraction + strings.Repeat("0", int(decimals)-len(fraction)))
}
