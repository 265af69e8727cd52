package venue

// SUN.io smart router on TRON: https://github.com/sun-protocol/smart-exchange-router

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/url"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	sunioName   = "sunio"
	sunioRouter = "TCFNp179Lg46D16zKoumd4Poa2WFFdtqYj" // SmartExchangeRouter, also the spender

	// sunioPools are the kinds of pool that the router takes. SunSwap V4 has another call.
	sunioPools = "PSM,CURVE,CURVE_COMBINATION,WTRX,SUNSWAP_V1,SUNSWAP_V2,SUNSWAP_V3"

	// Energy of a swap over one pool, and of every further one.
	sunioEnergy     = 90_000
	sunioHopEnergy  = 60_000
	sunioMostTokens = 8
	// Energy of the call by Multicall3 and of payments to those who have an account, and the most of a swap in percent.
	sunioShareEnergy = 60_000
	sunioMostShare   = 10
)

var sunioABI = parseABI(`[{"type":"function","name":"swapExactInput","inputs":[{"name":"path","type":"address[]"},
	{"name":"poolVersion","type":"string[]"},{"name":"versionLen","type":"uint256[]"},{"name":"fees","type":"uint24[]"},
	{"name":"data","type":"tuple","components":[{"name":"amountIn","type":"uint256"},{"name":"amountOutMin","type":"uint256"},
		{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}]}],"outputs":[]}]`)

// sunioCalls has the same function with what the router holds it to: the ends of the path, and the data.
var sunioCalls = readsCalls(function{
	signature: "swapExactInput(address[],string[],uint256[],uint24[],(uint256,uint256,address,uint256))",
	tokenIn:   position{0, 0}, tokenOut: position{0, -1},
	amountIn: position{4, 0}, minOut: position{4, 1}, payee: position{4, 2},
})

func init() {
	// The limit is not published. The odd host is SUN.io's own (docs.sun.io/developers/swap/smart-router).
	register(Service{
		Name: sunioName, URL: "https://rot.endjgfsv.link", Keyless: true, RequestsPerSecond: 3, Burst: 5,
		Source: "github sun-protocol/smart-exchange-router, README",
	}, openSunio)
}

// sunio asks the API for a route and writes the calldata itself: the API makes none. The router's call has no place for
// shares: where there are some, of the coin, Multicall3 pays them and calls the router with the rest.
type sunio struct{ pricing[sunioRoute] }

var _ quote.Venue = (*sunio)(nil)

func openSunio(o Options) (quote.Venue, error) {
	p := quote.Profile{
		Name: sunioName, ImageURL: "https://sun.io/favicon.ico", Routers: map[chain.ID]chain.Address{},
		MoreRouters: map[chain.ID][]chain.Address{}, Writes: true, Read: readSunioCall, PaysTwo: true, SharesOfCoin: true,
	}
	router, err := chain.ParseAddress(sunioRouter, chain.TVM)
	if err != nil {
		return nil, err
	}
	if tron, known := o.Registry.Chain(chain.Tron); known {
		p.Routers[chain.Tron] = router
		if multicall := tron.Contracts.Multicall; !multicall.IsAbsent() {
			p.MoreRouters[chain.Tron], p.MaxAffiliatePercent = []chain.Address{multicall}, decimal.NewFromInt(sunioMostShare)
		}
	}
	return &sunio{pricing[sunioRoute]{Options: o, profile: p, request: sunioRequest, read: readSunio}}, nil
}

func sunioRequest(_ Options, s quote.Swap) (upstream.Request, error) {
	return upstream.Request{Path: "swap/router", Query: url.Values{
		"fromToken": {s.In.Address.Format(chain.TVM)}, // the coin is the zero address
		"toToken":   {s.Out.Address.Format(chain.TVM)},
		"amountIn":  {sunioSwapped(s).String()},
		"typeList":  {sunioPools},
	}}, nil
}

// sunioRoute is a path as the router's call takes it: a pool's kind and fee stand at the token that goes in.
type sunioRoute struct {
	path     []common.Address
	versions []string
	fees     []*big.Int // hundredths of a basis point, zero where the kind has none
}

// Build implements quote.Venue. It makes no call: the calldata holds the minimum.
func (v *sunio) Build(_ context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	own, err := v.own(q)
	if err != nil {
		return quote.Tx{}, err
	}
	route := own.route
	least, err := lessPercent(q.AmountOut, s.SlippagePercent)
	if err != nil {
		return quote.Tx{}, fmt.Errorf("sunio minimum: %w", err)
	}
	lengths := make([]*big.Int, len(route.versions)) // of the path's parts: each adds a token, the first has two
	for i := range lengths {
		lengths[i] = big.NewInt(1)
	}
	lengths[0] = big.NewInt(2)
	data := pack(sunioABI, "swapExactInput", route.path, route.versions, lengths, route.fees, struct {
		AmountIn, AmountOutMin *big.Int
		To                     common.Address
		Deadline               *big.Int
	}{
		sunioSwapped(s).Big(), least.Big(), common.BytesToAddress(s.Recipient.Bytes()),
		big.NewInt(v.deadline(s.Chain.ID).Unix()),
	})
	tx := quote.Tx{To: v.profile.Routers[s.Chain.ID], Data: data, Value: coinValue(s)}
	if sunioSwapped(s) == s.In.Amount {
		return tx, nil
	}
	var calls []valueCall
	for _, share := range []quote.Affiliate{s.Affiliate, s.Second} {
		if share.Percent.IsPositive() {
			calls = append(calls, valueCall{Target: common.BytesToAddress(share.Recipient.Bytes()), Value: sunioShare(s, share).Big()})
		}
	}
	calls = append(calls, valueCall{Target: common.BytesToAddress(tx.To.Bytes()), Value: sunioSwapped(s).Big(), CallData: data})
	tx.To, tx.Data = s.Chain.Contracts.Multicall, pack(valueCallsABI, "aggregate3Value", calls)
	return tx, nil
}

// sunioShare is a share of a swap's input, sunioSwapped the rest.
func sunioShare(s quote.Swap, share quote.Affiliate) chain.Amount {
	return s.In.Amount.MulDiv(uint64(bps(share.Percent)), wholeBps)
}

func sunioSwapped(s quote.Swap) chain.Amount {
	return s.In.Amount.Sub(sunioShare(s, s.Affiliate)).Sub(sunioShare(s, s.Second))
}

// valueCall is a call of Multicall3's aggregate3Value (github.com/mds1/multicall3).
type valueCall struct {
	Target       common.Address
	AllowFailure bool
	Value        *big.Int
	CallData     []byte
}

var (
	valueCallsABI = parseABI(`[{"type":"function","name":"aggregate3Value","inputs":[{"name":"calls","type":"tuple[]","components":[
		{"name":"target","type":"address"},{"name":"allowFailure","type":"bool"},{"name":"value","type":"uint256"},{"name":"callData","type":"bytes"}]}],"outputs":[]}]`)
	sunioValueCalls = readsCalls(function{signature: "aggregate3Value((address,bool,uint256,bytes)[])"})
)

// readSunioCall is sunio's Profile.Read: a call of the router, or payments of shares and then such a call.
func readSunioCall(c chain.Chain, tx quote.Tx) (quote.Call, error) {
	if tx.To != c.Contracts.Multicall {
		return sunioCalls.read(c, tx)
	}
	_, arguments, err := sunioValueCalls.unpack(tx.Data)
	if err != nil {
		return quote.Call{}, err
	}
	r := argumentReader{arguments: arguments}
	last, _ := r.at(position{0, -1, 3}).([]byte)
	router, _ := chain.ParseAddress(sunioRouter, chain.TVM)
	if mayFail, is := r.at(position{0, -1, 1}).(bool); !is || mayFail || chain.NewAddress(r.address(position{0, -1, 0}).Bytes()) != router {
		return quote.Call{}, errors.New("it does not end with a call of the router")
	}
	swapped := r.amount(position{0, -1, 2})
	call, err := sunioCalls.read(c, quote.Tx{Data: last, Value: swapped})
	if err != nil || !call.TokenIn.IsNative() || call.AmountIn != swapped || tx.Value.IsZero() {
		return quote.Call{}, errors.Join(err, errors.New("it calls the router with another value than it swaps"))
	}
	shares := []*quote.Affiliate{&call.Affiliate, &call.Second}
	for i := 0; r.at(position{0, i + 1}) != nil; i++ {
		data, _ := r.at(position{0, i, 3}).([]byte)
		if mayFail, is := r.at(position{0, i, 1}).(bool); i == len(shares) || len(data) > 0 || !is || mayFail {
			return quote.Call{}, errors.New("it makes another call than payments of shares")
		}
		value := r.amount(position{0, i, 2})
		percent := decimal.NewFromBigInt(value.Big(), 2).DivRound(decimal.NewFromBigInt(tx.Value.Big(), 0), 18).Truncate(9)
		*shares[i] = quote.Affiliate{Percent: percent, Recipient: chain.NewAddress(r.address(position{0, i, 0}).Bytes())}
		call.AmountIn = call.AmountIn.Add(value)
	}
	return call, r.err
}

// sunioOffer is one route of an answer, best first. Amounts are in whole tokens, raw ones come from newer
// versions of the API alone.
type sunioOffer struct {
	AmountIn     string   `json:"amountIn"`
	AmountOut    string   `json:"amountOut"`
	AmountOutRaw digits   `json:"amountOutRaw"`
	Tokens       []string `json:"tokens"`
	PoolFees     []string `json:"poolFees"`
	PoolVersions []string `json:"poolVersions"`
}

func readSunio(resp upstream.Response, _ quote.Profile, s quote.Swap) (found pricedRoute[sunioRoute], err error) {
	var answer struct {
		Code    *int         `json:"code"`
		Message string       `json:"message"`
		Data    []sunioOffer `json:"data"`
	}
	err = decode(resp, &answer)
	switch {
	case isRejection(resp):
		return found, refused(sunioName, resp.Status, answer.Message)
	case err != nil:
		return found, err
	case answer.Code == nil:
		return found, errors.New("answer without a code")
	case *answer.Code != 0:
		return found, refused(sunioName, resp.Status, fmt.Sprintf("%d %s", *answer.Code, answer.Message))
	case len(answer.Data) == 0:
		return found, noSwapRoute("no routes")
	}
	best := answer.Data[0]
	in, err := smallest(best.AmountIn, s.In.Token.Decimals)
	if err != nil || in != sunioSwapped(s) {
		return found, fmt.Errorf("answer is about an input of %q", clean(best.AmountIn))
	}
	if found.route, err = best.route(s); err != nil {
		return found, err
	}
	found.gas = sunioEnergy + sunioHopEnergy*uint64(len(found.route.path)-2)
	if sunioSwapped(s) != s.In.Amount {
		found.gas += sunioShareEnergy
	}
	if found.amountOut = best.AmountOutRaw.amount(); best.AmountOutRaw == "" {
		if found.amountOut, err = smallest(best.AmountOut, s.Out.Token.Decimals); err != nil {
			return found, fmt.Errorf("amount out: %w", err)
		}
	}
	return found, nil
}

// route reads the way, which must lead from the one token of the swap to the other.
func (o sunioOffer) route(s quote.Swap) (sunioRoute, error) {
	hops := len(o.PoolVersions)
	if hops == 0 || len(o.Tokens) != hops+1 || len(o.Tokens) > sunioMostTokens || len(o.PoolFees) < hops {
		return sunioRoute{}, fmt.Errorf("route of %d tokens, %d pools and %d fees", len(o.Tokens), hops, len(o.PoolFees))
	}
	route := sunioRoute{versions: o.PoolVersions}
	for i, text := range o.Tokens {
		token, err := chain.ParseAddress(text, chain.TVM)
		if err != nil {
			return sunioRoute{}, fmt.Errorf("route: %w", err)
		}
		if i == 0 && token != s.In.Address || i == hops && token != s.Out.Address {
			return sunioRoute{}, errors.New("route between other tokens")
		}
		fee := new(big.Int)
		if i < hops {
			if _, valid := fee.SetString(o.PoolFees[i], 10); !valid || fee.Sign() < 0 || fee.BitLen() > 24 {
				return sunioRoute{}, fmt.Errorf("fee of %q", clean(o.PoolFees[i]))
			}
		}
		route.path, route.fees = append(route.path, common.BytesToAddress(token.Bytes())), append(route.fees, fee)
	}
	return route, nil
}

// smallest reads an amount in whole tokens as one in smallest units.
func smallest(text string, decimals uint8) (chain.Amount, error) {
	const longest = 100
	if len(text) > longest {
		return chain.Amount{}, errors.New("amount of many digits")
	}
	whole, err := decimal.NewFromString(text)
	if err != nil || whole.Exponent() > 0 {
		return chain.Amount{}, errors.New("amount is not a plain number")
	}
	units := whole.Shift(int32(decimals))
	if !units.IsInteger() {
		return chain.Amount{}, errors.New("amount is finer than the token")
	}
	return chain.AmountFromBig(units.BigInt())
}
