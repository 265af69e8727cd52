package venue

// SushiSwap aggregator API v7: https://www.sushi.com/docs/api

import (
	"cmp"
	"fmt"
	"net/url"

	"github.com/shopspring/decimal"

	"crossgate/quote"
	"crossgate/upstream"
)

// sushi prices with /quote and builds with /swap, which prices again.
var sushi = service{
	// The limit is not published.
	Service: Service{
		Name: "sushiswap", URL: "https://api.sushi.com", RequestsPerSecond: 3, Burst: 5,
		Source: "github sushi-labs/sushi, red-snwapper.ts",
	},
	profile: quote.Profile{ImageURL: "https://www.sushi.com/favicon.ico", MaxAffiliatePercent: decimal.NewFromInt(50)},
	contracts: []deployment{{
		chains:  []uint64{1, 10, 25, 56, 100, 137, 143, 146, 999, 4326, 5000, 8453, 9745, 42161, 43114, 59144, 80094},
		routers: []string{"0xAC4c6e212A361c968F1725b4d055b47E63F80b75"}, // RedSnwapper, also the spender
	}, {
		chains:  []uint64{4663},
		routers: []string{"0x8e6fd69a77e88ee20ba4b4fbd59dfcda3ec0e98a"},
	}},
	// tokenIn, amountIn, recipient, tokenOut, amountOutMin, executor, executorData
	functions: readsCalls(function{
		signature: "snwap(address,uint256,address,address,uint256,address,bytes)",
		tokenIn:   position{0}, amountIn: position{1}, payee: position{2}, tokenOut: position{3}, minOut: position{4},
	}),
}

func init() {
	register(sushi.Service, sushi.pricesAgain(sushiRequest, readSushi), excludedSources, sushiReferrer)
}

// sushiReferrer identifies integrators, as the venue's documents ask.
const sushiReferrer = "referrer"

// sushiRequest leaves out the API's own simulation: a wallet may approve, or be filled, later.
func sushiRequest(o Options, s quote.Swap, builds bool) (upstream.Request, error) {
	query := url.Values{
		"tokenIn":     {tokenText(s.In.Address)},
		"tokenOut":    {tokenText(s.Out.Address)},
		"amount":      {s.In.Amount.String()},
		"maxSlippage": {fraction(s.SlippagePercent)},
	}
	set(query, "excludeDEX", o.Settings[excludedSources])
	set(query, "apiKey", o.Key)
	set(query, "referrer", o.Settings[sushiReferrer])
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("fee", fraction(share))
		query.Set("feeBy", "input")
		query.Set("feeReceiver", s.Affiliate.Recipient.String())
	}
	resource := "quote"
	if builds {
		resource = "swap"
		query.Set("sender", s.Sender.String())
		query.Set("recipient", s.Recipient.String())
		query.Set("simulate", "false")
	}
	return upstream.Request{Path: resource + "/v7/" + chainText(s), Query: query, Keys: []string{o.Key}}, nil
}

// readSushi reads an answer. A pair without a route has the HTTP status 200; a part of a swap is none.
func readSushi(resp upstream.Response, _ quote.Profile, _ quote.Swap) (proposal, error) {
	var answer struct {
		Status           string      `json:"status"`
		AmountIn         digits      `json:"amountIn"`
		AssumedAmountOut digits      `json:"assumedAmountOut"`
		GasSpent         digits      `json:"gasSpent"`
		Tx               transaction `json:"tx"` // its value is absent when nothing of the coin is sent
	}
	if err := decodeOr(sushiFailure, sushi.Name, resp, &answer); err != nil {
		return proposal{}, err
	}
	switch answer.Status {
	case "Success":
	case "NoWay", "Partial":
		return proposal{}, noSwapRoute("status " + answer.Status)
	default:
		return proposal{}, fmt.Errorf("answer of status %q", clean(answer.Status))
	}
	answer.Tx.Value = cmp.Or(answer.Tx.Value, "0")
	return proposal{in: &answer.AmountIn, out: answer.AssumedAmountOut, gas: answer.GasSpent, tx: answer.Tx}, nil
}

func sushiFailure(f failure) (message string, isRoute bool) {
	return cmp.Or(f.text("detail"), f.text("details"), f.text("title")), false
}
