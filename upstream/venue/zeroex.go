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

// zeroEx prices with /price, which needs no wallet, and builds with /quote, which prices again.
type zeroEx struct{ Options }

func openZeroEx(o Options) (quote.Venue, error) {
	routers := o.routers(zeroExRouter, zeroExChains...)
	for id := range routers {
		if c, _ := o.Registry.Chain(id); c.Native == mantleNative {
			routers[id] = contract(zeroExMantleRouter)
		}
	}
	return pricesAgain(o, quote.Profile{
		Name: zeroExName, ImageURL: zeroExImage, Routers: routers,
		MaxAffiliatePercent: decimal.NewFromInt(10), PaysTwo: true,
	}, zeroEx{o}.request, readZeroEx), nil
}

func (v zeroEx) request(s quote.Swap, builds bool) (upstream.Request, error) {
	query := url.Values{
		"chainId":     {chainText(s)},
		"sellToken":   {tokenText(s.In.Address)},
		"buyToken":    {tokenText(s.Out.Address)},
		"sellAmount":  {s.In.Amount.String()},
		"slippageBps": {strconv.Itoa(bps(s.SlippagePercent))},
	}
	set(query, "gasPrice", gasPriceText(s))
	set(query, "excludedSources", v.Settings[excludedSources])
	if shares, recipients := payees(s); shares != "" {
		query.Set("swapFeeBps", shares)
		query.Set("swapFeeToken", tokenText(s.In.Address)) // the shares are of the input
		query.Set("swapFeeRecipient", recipients)
	}
	resource := "price"
	if builds {
		resource = "quote"
		query.Set("taker", s.Sender.String())
		query.Set("recipient", s.Recipient.String())
	}
	return upstream.Request{
		Path: "swap/allowance-holder/" + resource, Query: query,
		Header: http.Header{"0x-Api-Key": {v.Key}, "0x-Version": {"v2"}},
	}, nil
}

// readZeroEx reads an answer. A pair without a route has the HTTP status 200.
func readZeroEx(
	resp upstream.Response, p quote.Profile, s quote.Swap, q *quote.Quote,
) (found pricedRoute[quote.Tx], err error) {
	var answer struct {
		LiquidityAvailable *bool       `json:"liquidityAvailable"`
		SellAmount         digits      `json:"sellAmount"`
		BuyAmount          digits      `json:"buyAmount"` // after every fee
		MinBuyAmount       digits      `json:"minBuyAmount"`
		Gas                digits      `json:"gas"`
		AllowanceTarget    string      `json:"allowanceTarget"` // null for the coin
		Transaction        transaction `json:"transaction"`
	}
	if err := decodeOr(zeroExRefusal, resp, &answer); err != nil {
		return found, err
	}
	switch {
	case answer.LiquidityAvailable == nil:
		return found, errors.New("answer does not say whether there is liquidity")
	case !*answer.LiquidityAvailable:
		return found, noSwapRoute("no liquidity")
	}
	found.amountOut, found.gas = answer.BuyAmount.amount(), answer.Gas.gas()
	if err := checkIn(answer.SellAmount, s); err != nil {
		return found, err
	}
	if answer.AllowanceTarget != "" {
		if err := checkRouter(answer.AllowanceTarget, p, s); err != nil {
			return found, err
		}
	}
	if q == nil {
		return found, nil
	}
	if err := checkMoved(found.amountOut, *q); err != nil {
		return found, err
	}
	if err := checkMinimum(answer.MinBuyAmount, s, q.AmountOut); err != nil {
		return found, err
	}
	answer.Transaction.Value = cmp.Or(answer.Transaction.Value, "0")
	found.route, err = answer.Transaction.check(p, s)
	return found, err
}

func zeroExRefusal(resp upstream.Response) error {
	return refusal(zeroExName, resp, func(f failure) (string, bool) {
		if f.text("name") == "SWAP_VALIDATION_FAILED" {
			return f.text("message"), true
		}
		return f.text("name") + " " + f.text("message"), false
	})
}
