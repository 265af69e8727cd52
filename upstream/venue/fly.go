package venue

// Fly (once Magpie) API, GET /aggregator/quote/transaction: https://docs.fly.trade/developers

import (
	"maps"
	"net/http"
	"slices"

	"crossgate/quote"
)

// Fly is routed only: recipient and minimum are in a packed part of unpublished layout. Its fee may be in either token:
// no affiliate share.
var _ = register(service{
	// The limit is not published.
	Service: Service{
		Name: "fly", URL: "https://api.fly.trade",
		Source: "github symbiosis-finance/js-sdk, which asks it on these chains; the router: public lists of routers, the same on all",
	},
	profile: quote.Profile{ImageURL: "https://fly.trade/favicon.ico"},
	header:  "Apikey=$key",
	asks: requestTemplate{
		path: "aggregator/quote/transaction", chains: flyNetworks,
		query: "network=$chain fromTokenAddress=$zeroIn toTokenAddress=$zeroOut sellAmount=$amount slippage=$fraction " +
			"fromAddress=$sender toAddress=$recipient gasless=false",
	},
	// Answers do not repeat the input. typedData holds the signed terms that the contract enforces.
	answers: answerTemplate{
		out: "quote.amountOut", least: "quote.typedData.message.amountOutMin", gas: "quote.resourceEstimate.gasLimit",
		spender: "quote.targetAddress", to: "transaction.to", value: "transaction.value", data: "transaction.data",
	},
	// A bad request is usually a missing route.
	refuses: refusals{words: "message", statuses: []int{http.StatusBadRequest, http.StatusNotFound}},
	contracts: []deployment{{
		chains:  slices.Collect(maps.Keys(flyNetworks)),
		routers: []string{"0x20f6ee51340adeed01a59b0e65cb3703f3dc860c"}, // MagpieRouterV3, also the spender
	}},
})

// flyNetworks are the API's names of chains by EIP-155 ID.
var flyNetworks = map[uint64]string{
	1: "ethereum", 10: "optimism", 56: "bsc", 137: "polygon", 143: "monad", 146: "sonic", 999: "hyperevm",
	8453: "base", 42161: "arbitrum", 43114: "avalanche", 80094: "berachain",
}
