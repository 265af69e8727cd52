package venue

// Fly (once Magpie) API, GET /aggregator/quote/transaction: https://docs.fly.trade/developers

import (
	"maps"
	"net/http"
	"slices"

	"crossgate/quote"
)

// Fly is routed only: recipient and minimum stand in a packed part of unpublished layout. Its fee may be of either
// side: no affiliate share.
var _ = register(service{
	// The limit is not published.
	Service: Service{
		Name: "fly", URL: "https://api.fly.trade",
		Source: "github symbiosis-finance/js-sdk, which asks it on these chains; the router: public lists of routers, the same on all",
	},
	profile: quote.Profile{ImageURL: "https://fly.trade/favicon.ico"},
	asks: requestTemplate{
		path: "aggregator/quote/transaction", header: "Apikey=$key", chains: flyNetworks,
		query: "network=$chain fromTokenAddress=$zeroIn toTokenAddress=$zeroOut sellAmount=$amount slippage=$fraction " +
			"fromAddress=$sender toAddress=$recipient gasless=false",
	},
	// It repeats the input nowhere. What the contract is signed to enforce stands in typedData.
	answers: answerTemplate{
		out: "quote.amountOut", least: "quote.typedData.message.amountOutMin", gas: "quote.resourceEstimate.gasLimit",
		spender: "quote.targetAddress", to: "transaction.to", value: "transaction.value", data: "transaction.data",
	},
	// A bad request is mostly a missing route.
	refuses: refusals{words: "message", statuses: []int{http.StatusBadRequest, http.StatusNotFound}},
	contracts: []deployment{{
		chains:  slices.Collect(maps.Keys(flyNetworks)),
		routers: []string{"0x20f6ee51340adeed01a59b0e65cb3703f3dc860c"}, // MagpieRouterV3, also the spender
	}},
})

// flyNetworks are the API's names of chains by EIP-155 id.
var flyNetworks = map[uint64]string{
	1: "ethereum", 10: "optimism", 56: "bsc", 137: "polygon", 143: "monad", 146: "sonic", 999: "hyperevm",
	8453: "base", 42161: "arbitrum", 43114: "avalanche", 80094: "berachain",
}
