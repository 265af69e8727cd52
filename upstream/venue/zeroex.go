package venue

// 0x Swap API v2, allowance holder: https://docs.0x.org/docs/0x-swap-api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	zeroExName  = "0x"
	zeroExImage = "https://0x.org/favicon.ico"

	// The AllowanceHolder is called and approved; never the Settler behind it. Mantle, without a newer
	// opcode, has another one (0xProject/0x-settler, chain_config.json).
	zeroExRouter       = "0x0000000000001fF3684f28c67538d4D072C22734"
	zeroExMantleRouter = "0x0000000000005E88410CcDFaDe4a5EfaE4b49562"
	mantleNative       = 5000

	// zeroExLife is how long a firm quote holds.
	zeroExLife = 30 * time.Second
)

// zeroExChains are the chains, whose EIP-155 ids the API takes.
var zeroExChains = map[uint64]bool{
	1: true, 10: true, 56: true, 137: true, 143: true, 999: true, mantleNative: true, 8453: true, 9745: true,
	42161: true, 43114: true, 59144: true, 80094: true,
}

func init() {
	// Five requests per second in the free plan.
	register(Service{Name: zeroExName, URL: "https://api.0x.org", Keyed: true, RequestsPerSecond: 4, Burst: 5}, openZeroEx)
}

// zeroEx prices with /price, which needs no wallet, and builds with /quote, which prices anew.
type zeroEx struct {
	pool            *upstream.Pool
	profile         quote.Profile
	key             string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*zeroEx)(nil)

// openZeroEx knows the setting excludedSources (comma-separated, in the API's names).
func openZeroEx(o Options) (quote.Venue, error) {
	if err := o.allow("excludedSources"); err != nil {
		return nil, err
	}
	z := &zeroEx{pool: o.Pool, key: o.Key, excludedSources: o.Settings["excludedSources"], now: o.Now, profile: quote.Profile{
		Name: zeroExName, ImageURL: zeroExImage,
		Routers:             o.routers(zeroExRouter, func(native uint64) bool { return zeroExChains[native] }),
		MaxAffiliatePercent: decimal.NewFromInt(10),
	}}
	for id := range z.profile.Routers {
		if c, _ := o.Registry.Chain(id); c.Native == mantleNative {
			z.profile.Routers[id] = contract(zeroExMantleRouter)
		}
	}
	return z, nil
}

// Profile implements quote.Venue.
func (z *zeroEx) Profile() quote.Profile { return z.profile }

// Quote implements quote.Venue.
func (z *zeroEx) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := suits(z.profile, s); err != nil {
		return quote.Quote{}, err
	}
	asked := z.now()
	price, err := ask(ctx, z.pool, z.request("price", z.priceQuery(s)), func(resp upstream.Response) (zeroExAnswer, error) {
		return readZeroEx(resp, z.profile, s)
	})
	if err != nil {
		return quote.Quote{}, fmt.Errorf("0x price on chain %d: %w", s.Chain.ID, err)
	}
	return quote.Quote{
		Venue: zeroExName, AmountOut: price.amountOut(), Gas: price.Gas.gas(), Expires: asked.Add(zeroExLife),
	}, nil
}

// Build implements quote.Venue.
func (z *zeroEx) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	if q.Venue != zeroExName {
		return quote.Tx{}, errors.New("0x build of a quote that is not its own")
	}
	tx, err := ask(ctx, z.pool, z.request("quote", z.quoteQuery(s)), func(resp upstream.Response) (quote.Tx, error) {
		return readZeroExQuote(resp, z.profile, s, q)
	})
	if err != nil {
		return quote.Tx{}, fmt.Errorf("0x quote on chain %d: %w", s.Chain.ID, err)
	}
	return tx, nil
}

func (z *zeroEx) priceQuery(s quote.Swap) url.Values {
	query := url.Values{
		"chainId":     {strconv.FormatUint(s.Chain.Native, 10)},
		"sellToken":   {tokenText(s.In.Address)},
		"buyToken":    {tokenText(s.Out.Address)},
		"sellAmount":  {s.In.Amount.String()},
		"slippageBps": {strconv.Itoa(bps(s.SlippagePercent))},
	}
	if !s.GasPrice.IsZero() {
		query.Set("gasPrice", s.GasPrice.String())
	}
	if z.excludedSources != "" {
		query.Set("excludedSources", z.excludedSources)
	}
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("swapFeeBps", strconv.Itoa(bps(share)))
		query.Set("swapFeeToken", tokenText(s.In.Address)) // the share is of the input
		query.Set("swapFeeRecipient", s.Affiliate.Recipient.String())
	}
	return query
}

func (z *zeroEx) quoteQuery(s quote.Swap) url.Values {
	query := z.priceQuery(s)
	query.Set("taker", s.Sender.String())
	query.Set("recipient", s.Recipient.String())
	return query
}

func (z *zeroEx) request(resource string, query url.Values) upstream.Request {
	return upstream.Request{
		Path: "swap/allowance-holder/" + resource, Query: query,
		Header: http.Header{"0x-Api-Key": {z.key}, "0x-Version": {"v2"}},
	}
}

// zeroExAnswer is what both resources answer; the transaction is absent from a price.
type zeroExAnswer struct {
	LiquidityAvailable *bool  `json:"liquidityAvailable"`
	SellAmount         digits `json:"sellAmount"`
	BuyAmount          digits `json:"buyAmount"` // after every fee
	MinBuyAmount       digits `json:"minBuyAmount"`
	Gas                digits `json:"gas"`
	AllowanceTarget    string `json:"allowanceTarget"` // null for the coin
	Transaction        struct {
		To    string `json:"to"`
		Value digits `json:"value"`
		Data  string `json:"data"`
	} `json:"transaction"`
}

func (a zeroExAnswer) amountOut() chain.Amount { return a.BuyAmount.amount() }

// readZeroEx reads an answer's price. A pair without a route has the HTTP status 200.
func readZeroEx(resp upstream.Response, p quote.Profile, s quote.Swap) (zeroExAnswer, error) {
	if isRejection(resp) {
		return zeroExAnswer{}, zeroExRefusal(resp)
	}
	var answer zeroExAnswer
	if err := decode(resp, &answer); err != nil {
		return zeroExAnswer{}, err
	}
	switch {
	case answer.LiquidityAvailable == nil:
		return zeroExAnswer{}, errors.New("answer does not say whether there is liquidity")
	case !*answer.LiquidityAvailable:
		return zeroExAnswer{}, noRoute("no liquidity")
	case answer.amountOut().IsZero():
		return zeroExAnswer{}, noRoute("nothing comes out")
	}
	if err := checkIn(answer.SellAmount, s); err != nil {
		return zeroExAnswer{}, err
	}
	if answer.AllowanceTarget != "" {
		return answer, checkRouter(answer.AllowanceTarget, p, s)
	}
	return answer, nil
}

// readZeroExQuote reads the answer of GET /quote.
func readZeroExQuote(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	answer, err := readZeroEx(resp, p, s)
	if err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(answer.BuyAmount, q); err != nil {
		return quote.Tx{}, err
	}
	if err := checkMinimum(answer.MinBuyAmount, s, q.AmountOut); err != nil {
		return quote.Tx{}, err
	}
	tx := answer.Transaction
	return transaction{to: tx.To, value: cmp.Or(tx.Value, "0"), data: tx.Data}.check(p, s)
}

func zeroExRefusal(resp upstream.Response) error {
	var failure struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	}
	if err := decode(resp, &failure); err != nil {
		return refused(zeroExName, resp.Status, "")
	}
	if failure.Name == "SWAP_VALIDATION_FAILED" {
		return noRoute(failure.Message)
	}
	return refused(zeroExName, resp.Status, failure.Name+" "+failure.Message)
}
