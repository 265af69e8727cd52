package venue

// Fly (once Magpie) API, GET /aggregator/quote/transaction: https://docs.fly.trade/developers

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"crossgate/quote"
	"crossgate/upstream"
)

// fly is routed only: recipient and minimum stand in a packed part of unpublished layout. Its fee may be of either
// side: no affiliate share.
var fly = service{
	// The limit is not published.
	Service: Service{
		Name: "fly", URL: "https://api.fly.trade", RequestsPerSecond: 1, Burst: 3,
		Source: "github symbiosis-finance/js-sdk, which asks it on these chains; the router: public lists of routers, the same on all",
	},
	profile: quote.Profile{ImageURL: "https://fly.trade/favicon.ico"},
	asks: requestTemplate{
		path: "aggregator/quote/transaction", header: "Apikey=$key", chains: flyNetworks,
		query: "network=$chain fromTokenAddress=$zeroIn toTokenAddress=$zeroOut sellAmount=$amount slippage=$fraction " +
			"fromAddress=$sender toAddress=$recipient gasless=false",
	},
	contracts: []deployment{{
		chains:  slices.Collect(maps.Keys(flyNetworks)),
		routers: []string{"0x20f6ee51340adeed01a59b0e65cb3703f3dc860c"}, // MagpieRouterV3, also the spender
	}},
}

// flyNetworks are the API's names of chains by EIP-155 id.
var flyNetworks = map[uint64]string{
	1: "ethereum", 10: "optimism", 56: "bsc", 137: "polygon", 143: "monad", 146: "sonic", 999: "hyperevm",
	8453: "base", 42161: "arbitrum", 43114: "avalanche", 80094: "berachain",
}

func init() {
	register(fly.Service, fly.oneCall(reader(readFly).priceAndTx))
}

// readFly reads an answer, which repeats the input nowhere. What the contract is signed to enforce stands in typedData.
func readFly(resp upstream.Response, p quote.Profile, s quote.Swap) (proposal, error) {
	var answer struct {
		Quote struct {
			AmountOut        digits `json:"amountOut"`
			TargetAddress    string `json:"targetAddress"` // that is approved
			ResourceEstimate struct {
				GasLimit digits `json:"gasLimit"`
			} `json:"resourceEstimate"`
			TypedData struct {
				Message struct {
					AmountOutMin digits `json:"amountOutMin"`
				} `json:"message"`
			} `json:"typedData"`
		} `json:"quote"`
		Transaction transaction `json:"transaction"`
	}
	if err := decodeOr(flyFailure, fly.Name, resp, &answer); err != nil {
		return proposal{}, err
	}
	q, tx := answer.Quote, answer.Transaction
	tx.Value = cmp.Or(tx.Value, "0") // absent when nothing of the coin is sent
	return proposal{
		out: q.AmountOut, minimum: &q.TypedData.Message.AmountOutMin, gas: q.ResourceEstimate.GasLimit, tx: tx,
	}, checkSpender(q.TargetAddress, tx.To, p, s)
}

// flyFailure explains an error. A bad request is mostly a missing route.
func flyFailure(f failure) (message string, isRoute bool) {
	return f.text("message"), f.status == http.StatusBadRequest || f.status == http.StatusNotFound
}
