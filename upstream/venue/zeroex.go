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

// zeroEx prices with /price, which needs no wallet, and builds with /quote, which prices again.
var zeroEx = service{
	// Five requests per second in the free plan.
	Service: Service{Name: "0x", URL: "https://api.0x.org", Keyed: true, RequestsPerSecond: 4, Burst: 5},
	profile: quote.Profile{
		ImageURL: "https://0x.org/favicon.ico", MaxAffiliatePercent: decimal.NewFromInt(10), PaysTwo: true,
	},
	// The AllowanceHolder is called and approved; never the Settler behind it. Mantle, without a newer
	// opcode, has another one (0xProject/0x-settler, chain_config.json).
	contracts: []deployment{
		{
			chains:  []uint64{1, 10, 56, 137, 143, 999, 8453, 9745, 42161, 43114, 59144, 80094},
			routers: []string{"0x0000000000001fF3684f28c67538d4D072C22734"},
		},
		{chains: []uint64{5000}, routers: []string{"0x0000000000005E88410CcDFaDe4a5EfaE4b49562"}},
	},
}

func init() {
	register(zeroEx.Service, zeroEx.pricesAgain(zeroExRequest, readZeroEx), excludedSources)
}

func zeroExRequest(o Options, s quote.Swap, builds bool) (upstream.Request, error) {
	query := url.Values{
		"chainId":     {chainText(s)},
		"sellToken":   {tokenText(s.In.Address)},
		"buyToken":    {tokenText(s.Out.Address)},
		"sellAmount":  {s.In.Amount.String()},
		"slippageBps": {strconv.Itoa(bps(s.SlippagePercent))},
	}
	set(query, "gasPrice", gasPriceText(s))
	set(query, "excludedSources", o.Settings[excludedSources])
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
		Header: http.Header{"0x-Api-Key": {o.Key}, "0x-Version": {"v2"}},
	}, nil
}

// readZeroEx reads an answer. A pair without a route has the HTTP status 200.
func readZeroEx(resp upstream.Response, p quote.Profile, s quote.Swap) (proposal, error) {
	var answer struct {
		LiquidityAvailable *bool       `json:"liquidityAvailable"`
		SellAmount         digits      `json:"sellAmount"`
		BuyAmount          digits      `json:"buyAmount"` // after every fee
		MinBuyAmount       digits      `json:"minBuyAmount"`
		Gas                digits      `json:"gas"`
		AllowanceTarget    string      `json:"allowanceTarget"` // null for the coin
		Transaction        transaction `json:"transaction"`
	}
	err := decodeOr(zeroExFailure, zeroEx.Name, resp, &answer)
	switch {
	case err != nil:
	case answer.LiquidityAvailable == nil:
		err = errors.New("answer does not say whether there is liquidity")
	case !*answer.LiquidityAvailable:
		err = noSwapRoute("no liquidity")
	case answer.AllowanceTarget != "":
		err = checkRouter(answer.AllowanceTarget, p, s)
	}
	answer.Transaction.Value = cmp.Or(answer.Transaction.Value, "0")
	return proposal{
		in: &answer.SellAmount, out: answer.BuyAmount, minimum: &answer.MinBuyAmount, gas: answer.Gas, tx: answer.Transaction,
	}, err
}

func zeroExFailure(f failure) (message string, isRoute bool) {
	if f.text("name") == "SWAP_VALIDATION_FAILED" {
		return f.text("message"), true
	}
	return f.text("name", "message"), false
}
