package venue

// 0x Swap API v2, allowance holder: https://docs.0x.org/docs/0x-swap-api

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/shopspring/decimal"

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
)

// zeroExChains are the chains, whose EIP-155 ids the API takes.
var zeroExChains = []uint64{
	1, 10, 56, 137, 143, 999, mantleNative, 8453, 9745,
	42161, 43114, 59144, 80094,
}

func init() {
	// Five requests per second in the free plan.
	register(Service{Name: zeroExName, URL: "https://api.0x.org", Keyed: true, RequestsPerSecond: 4, Burst: 5}, openZeroEx, excludedSources)
}

// zeroEx prices with /price, which needs no wallet, and builds with /quote, which prices anew.
type zeroEx struct{ Options }

func openZeroEx(o Options) (quote.Venue, error) {
	v := zeroEx{o}
	routers := o.routers(zeroExRouter, zeroExChains...)
	for id := range routers {
		if c, _ := o.Registry.Chain(id); c.Native == mantleNative {
			routers[id] = contract(zeroExMantleRouter)
		}
	}
	return &twoCalls[anew]{
		pricing: pricing[anew]{Options: o, request: v.priceRequest, read: readZeroExPrice, profile: quote.Profile{
			Name: zeroExName, ImageURL: zeroExImage, Routers: routers,
			MaxAffiliatePercent: decimal.NewFromInt(10), PaysTwo: true,
		}},
		buildRequest: v.quoteRequest, readBuild: readZeroExQuote,
	}, nil
}

func (v zeroEx) priceRequest(s quote.Swap) (upstream.Request, error) {
	return v.request("price", v.priceQuery(s)), nil
}

func (v zeroEx) quoteRequest(s quote.Swap, _ anew) (upstream.Request, error) {
	query := v.priceQuery(s)
	query.Set("taker", s.Sender.String())
	query.Set("recipient", s.Recipient.String())
	return v.request("quote", query), nil
}

func (v zeroEx) priceQuery(s quote.Swap) url.Values {
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
	set(query, "excludedSources", v.Settings[excludedSources])
	if shares, recipients := payees(s); shares != "" {
		query.Set("swapFeeBps", shares)
		query.Set("swapFeeToken", tokenText(s.In.Address)) // the shares are of the input
		query.Set("swapFeeRecipient", recipients)
	}
	return query
}

func (v zeroEx) request(resource string, query url.Values) upstream.Request {
	return upstream.Request{
		Path: "swap/allowance-holder/" + resource, Query: query,
		Header: http.Header{"0x-Api-Key": {v.Key}, "0x-Version": {"v2"}},
	}
}

// zeroExAnswer is what both resources answer; the transaction is absent from a price.
type zeroExAnswer struct {
	LiquidityAvailable *bool       `json:"liquidityAvailable"`
	SellAmount         digits      `json:"sellAmount"`
	BuyAmount          digits      `json:"buyAmount"` // after every fee
	MinBuyAmount       digits      `json:"minBuyAmount"`
	Gas                digits      `json:"gas"`
	AllowanceTarget    string      `json:"allowanceTarget"` // null for the coin
	Transaction        transaction `json:"transaction"`
}

// readZeroEx reads what both answers have. A pair without a route has the HTTP status 200.
func readZeroEx(resp upstream.Response, p quote.Profile, s quote.Swap) (answer zeroExAnswer, err error) {
	if err := decodeOr(zeroExRefusal, resp, &answer); err != nil {
		return answer, err
	}
	switch {
	case answer.LiquidityAvailable == nil:
		return answer, errors.New("answer does not say whether there is liquidity")
	case !*answer.LiquidityAvailable:
		return answer, noRoute("no liquidity")
	}
	if err := checkIn(answer.SellAmount, s); err != nil {
		return answer, err
	}
	if answer.AllowanceTarget != "" {
		return answer, checkRouter(answer.AllowanceTarget, p, s)
	}
	return answer, nil
}

// readZeroExPrice reads the answer of GET /price.
func readZeroExPrice(resp upstream.Response, p quote.Profile, s quote.Swap) (offer[anew], error) {
	answer, err := readZeroEx(resp, p, s)
	return offer[anew]{amountOut: answer.BuyAmount.amount(), gas: answer.Gas.gas()}, err
}

// readZeroExQuote reads the answer of GET /quote.
func readZeroExQuote(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	answer, err := readZeroEx(resp, p, s)
	if err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(answer.BuyAmount.amount(), q); err != nil {
		return quote.Tx{}, err
	}
	if err := checkMinimum(answer.MinBuyAmount, s, q.AmountOut); err != nil {
		return quote.Tx{}, err
	}
	answer.Transaction.Value = cmp.Or(answer.Transaction.Value, "0")
	return answer.Transaction.check(p, s)
}

type zeroExFailure struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

func zeroExRefusal(resp upstream.Response) error {
	return refusal(zeroExName, resp, func(f zeroExFailure) (string, bool) {
		if f.Name == "SWAP_VALIDATION_FAILED" {
			return f.Message, true
		}
		return f.Name + " " + f.Message, false
	})
}
