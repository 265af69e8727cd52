package venue

// Fabric, GET /v1/quote, as in its owner's client: https://github.com/withfabricxyz/spandex, aggregators/fabric.ts

import (
	"net/http"

	"crossgate/quote"
)

// Fabric is routed only: its contract's source is not published. Its fee may be in either token: no affiliate share.
var _ = register(service{
	// The limit is not published.
	Service: Service{
		Name: "fabric", URL: "https://route.withfabric.xyz",
		Source: "Base: github withfabricxyz/spandex @02733d0, recorded answers; Arbitrum: npm @gfxlabs/oku-chains 1.12.36, which names the same on Base",
	},
	profile: quote.Profile{ImageURL: "https://spandex.sh/images/fabric.svg"},
	header:  "X-App-Id=crossgate X-Api-Key=$key", // an app name is required, but not issued
	asks: requestTemplate{
		path:  "v1/quote",
		query: "chainId=$chain sellToken=$zeroIn buyToken=$zeroOut sellAmount=$amount slippageBps=$bps receiver=$recipient",
	},
	// Answers have no gas, and no spender if the coin is sent.
	answers: answerTemplate{
		in: "amountIn", out: "amountOut", least: "minimumAmountOut", spender: "approval.spender",
		to: "transaction.to", value: "transaction.value", data: "transaction.data",
	},
	// A bad request is usually a missing route.
	refuses: refusals{words: "message error", statuses: []int{http.StatusBadRequest, http.StatusNotFound}},
	// The routers are also the spenders.
	contracts: []deployment{
		{chains: []uint64{8453}, routers: []string{"0x7c137a37742437d2212b7bd873ed135b5c4c61da"}},
		{chains: []uint64{42161}, routers: []string{"0x3a7f029e3ad003ab5aa78ccf101b1b543eaed6f9"}},
	},
})
