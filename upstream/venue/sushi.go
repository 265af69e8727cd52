package venue

// SushiSwap aggregator API v7: https://www.sushi.com/docs/api

import (
	"regexp"

	"github.com/shopspring/decimal"

	"crossgate/quote"
)

// sushi prices with /quote and builds with /swap, which prices again.
var sushi = register(service{
	// The limit is not published.
	Service: Service{
		Name: "sushiswap", URL: "https://api.sushi.com",
		Source:  "github sushi-labs/sushi, red-snwapper.ts",
		Accepts: []string{excludedSources, "referrer"}, // referrer identifies integrators
	},
	profile: quote.Profile{ImageURL: "https://www.sushi.com/favicon.ico", MaxAffiliatePercent: decimal.NewFromInt(50)},
	asks: requestTemplate{ // without the API's own simulation: a wallet may approve or receive tokens later
		path:   "${quote|swap}/v7/$chain",
		query:  "tokenIn=$in tokenOut=$out amount=$amount maxSlippage=$fraction excludeDEX=$excludedSources apiKey=$key referrer=$referrer",
		builds: "sender=$sender recipient=$recipient simulate=false",
		shares: "fee=$shareFraction feeBy=input feeReceiver=$payee",
	},
	answers: answerTemplate{
		in: "amountIn", out: "assumedAmountOut", gas: "gasSpent", to: "tx.to", value: "tx.value", data: "tx.data",
	},
	// A pair without a route has the HTTP status 200; a partial swap does not count as one.
	refuses: refusals{state: "status", fine: "Success", words: "detail details title", unrouted: regexp.MustCompile(`^status (NoWay|Partial)\b`)},
	contracts: []deployment{{
		chains:  []uint64{1, 10, 25, 56, 100, 137, 143, 146, 999, 4326, 5000, 8453, 9745, 42161, 43114, 59144, 80094},
		routers: []string{"0xAC4c6e212A361c968F1725b4d055b47E63F80b75"}, // RedSnwapper, also the spender
	}, {
		chains:  []uint64{4663},
		routers: []string{"0x8e6fd69a77e88ee20ba4b4fbd59dfcda3ec0e98a"},
	}},
	functions: readsCalls(function{signature: "snwap(address in,uint256 amount,address payee,address out,uint256 least,address,bytes)"}),
})
