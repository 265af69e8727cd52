package venue

// SUN.io smart router on TRON: https://github.com/sun-protocol/smart-exchange-router

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	sunioName   = "sunio"
	sunioRouter = "TCFNp179Lg46D16zKoumd4Poa2WFFdtqYj" // SmartExchangeRouter, also the spender
	sunioImage  = "https://sun.io/favicon.ico"

	// sunioLife is ours: the API does not say how long a price holds.
	sunioLife = 30 * time.Second

	// sunioPools are the kinds of pool that the router can be told of. SunSwap V4 has another call.
	sunioPools = "PSM,CURVE,CURVE_COMBINATION,WTRX,SUNSWAP_V1,SUNSWAP_V2,SUNSWAP_V3"

	// Energy of a swap over one pool, and of every further one.
	sunioEnergy     = 90_000
	sunioHopEnergy  = 60_000
	sunioMostTokens = 8
)

var sunioABI = parseABI(`[{"type":"function","name":"swapExactInput","inputs":[{"name":"path","type":"address[]"},
	{"name":"poolVersion","type":"string[]"},{"name":"versionLen","type":"uint256[]"},{"name":"fees","type":"uint24[]"},
	{"name":"data","type":"tuple","components":[{"name":"amountIn","type":"uint256"},{"name":"amountOutMin","type":"uint256"},
		{"name":"to","type":"address"},{"name":"deadline","type":"uint256"}]}],"outputs":[]}]`)

func init() {
	// The limit is not published. The odd host is SUN.io's own (ShapeShift's swapper calls it too).
	register(Service{Name: sunioName, URL: "https://rot.endjgfsv.link", RequestsPerSecond: 3, Burst: 5}, openSunio)
}

// sunio asks the API for a route and writes the calldata itself: the API makes none. The router's call has no
// place for an affiliate share.
type sunio struct {
	pool    *upstream.Pool
	profile quote.Profile
	now     func() time.Time
}

var _ quote.Venue = (*sunio)(nil)

func openSunio(o Options) (quote.Venue, error) {
	if o.Key != "" {
		return nil, errors.New("takes no key")
	}
	if err := o.allow(); err != nil {
		return nil, err
	}
	v := &sunio{pool: o.Pool, now: o.Now, profile: quote.Profile{
		Name: sunioName, ImageURL: sunioImage, Routers: map[chain.ID]chain.Address{},
	}}
	router, err := chain.ParseAddress(sunioRouter, chain.TVM)
	if err != nil {
		return nil, err
	}
	if _, known := o.Registry.Chain(chain.Tron); known {
		v.profile.Routers[chain.Tron] = router
	}
	return v, nil
}

// Profile implements quote.Venue.
func (v *sunio) Profile() quote.Profile { return v.profile }

// Quote implements quote.Venue.
func (v *sunio) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := suits(v.profile, s); err != nil {
		return quote.Quote{}, err
	}
	asked := v.now()
	route, err := ask(ctx, v.pool, v.request(s), func(resp upstream.Response) (sunioRoute, error) {
		return readSunio(resp, s)
	})
	if err != nil {
		return quote.Quote{}, fmt.Errorf("sunio route on chain %d: %w", s.Chain.ID, err)
	}
	return quote.Quote{
		Venue: sunioName, AmountOut: route.amountOut, Expires: asked.Add(sunioLife), Route: route,
		Gas: sunioEnergy + sunioHopEnergy*uint64(len(route.path)-2),
	}, nil
}

func (v *sunio) request(s quote.Swap) upstream.Request {
	return upstream.Request{Path: "swap/router", Query: url.Values{
		"fromToken": {s.In.Address.Format(chain.TVM)}, // the coin is the zero address
		"toToken":   {s.Out.Address.Format(chain.TVM)},
		"amountIn":  {s.In.Amount.String()},
		"typeList":  {sunioPools},
	}}
}

// sunioRoute is a way in the words of the router's call: a pool's kind and fee stand at the token it takes.
type sunioRoute struct {
	path      []common.Address
	versions  []string
	fees      []*big.Int // hundredths of a basis point, zero where the kind has none
	amountOut chain.Amount
}

// Build implements quote.Venue. It asks nobody: the calldata holds the minimum.
func (v *sunio) Build(_ context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	route, ours := q.Route.(sunioRoute)
	if !ours {
		return quote.Tx{}, errors.New("sunio build of a quote that is not its own")
	}
	slippage, err := percentOf(q.AmountOut, s.SlippagePercent)
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
		s.In.Amount.Big(), q.AmountOut.Sub(slippage).Big(), common.BytesToAddress(s.Recipient.Bytes()),
		big.NewInt(v.now().Add(signTime).Unix()),
	})
	tx := quote.Tx{To: v.profile.Routers[s.Chain.ID], Data: data}
	if s.In.Address.IsNative() {
		tx.Value = s.In.Amount
	}
	return tx, nil
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

func readSunio(resp upstream.Response, s quote.Swap) (sunioRoute, error) {
	var answer struct {
		Code    *int         `json:"code"`
		Message string       `json:"message"`
		Data    []sunioOffer `json:"data"`
	}
	err := decode(resp, &answer)
	switch {
	case isRejection(resp):
		return sunioRoute{}, refused(sunioName, resp.Status, answer.Message)
	case err != nil:
		return sunioRoute{}, err
	case answer.Code == nil:
		return sunioRoute{}, errors.New("answer without a code")
	case *answer.Code != 0:
		return sunioRoute{}, refused(sunioName, resp.Status, fmt.Sprintf("%d %s", *answer.Code, answer.Message))
	case len(answer.Data) == 0:
		return sunioRoute{}, noRoute("no routes")
	}
	best := answer.Data[0]
	in, err := smallest(best.AmountIn, s.In.Token.Decimals)
	if err != nil || in != s.In.Amount {
		return sunioRoute{}, fmt.Errorf("answer is about an input of %q", clean(best.AmountIn))
	}
	route, err := best.route(s)
	if err != nil {
		return sunioRoute{}, err
	}
	if route.amountOut = best.AmountOutRaw.amount(); best.AmountOutRaw == "" {
		if route.amountOut, err = smallest(best.AmountOut, s.Out.Token.Decimals); err != nil {
			return sunioRoute{}, fmt.Errorf("amount out: %w", err)
		}
	}
	if route.amountOut.IsZero() {
		return sunioRoute{}, noRoute("nothing comes out")
	}
	return route, nil
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
		return chain.Amount{}, errors.New("amount is no plain number")
	}
	units := whole.Shift(int32(decimals))
	if !units.IsInteger() {
		return chain.Amount{}, errors.New("amount is finer than the token")
	}
	return chain.AmountFromBig(units.BigInt())
}
