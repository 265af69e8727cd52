package venue

// Fabric, GET /v1/quote, as its owner's client asks: https://github.com/withfabricxyz/spandex, aggregators/fabric.ts

import (
	"net/http"

	"crossgate/quote"
	"crossgate/upstream"
)

// fabric is routed only: its contract's source is not published. Its fee may be of either side: no affiliate share.
var fabric = service{
	// The limit is not published.
	Service: Service{
		Name: "fabric", URL: "https://route.withfabric.xyz", RequestsPerSecond: 1, Burst: 3,
		Source: "Base: github withfabricxyz/spandex @02733d0, recorded answers; Arbitrum: npm @gfxlabs/oku-chains 1.12.36, which names the same on Base",
	},
	profile: quote.Profile{ImageURL: "https://spandex.sh/images/fabric.svg"},
	asks: requestTemplate{
		path: "v1/quote", header: "X-App-Id=crossgate X-Api-Key=$key", // a name is required, and not issued
		query: "chainId=$chain sellToken=$zeroIn buyToken=$zeroOut sellAmount=$amount slippageBps=$bps receiver=$recipient",
	},
	// The routers are also the spenders.
	contracts: []deployment{
		{chains: []uint64{8453}, routers: []string{"0x7c137a37742437d2212b7bd873ed135b5c4c61da"}},
		{chains: []uint64{42161}, routers: []string{"0x3a7f029e3ad003ab5aa78ccf101b1b543eaed6f9"}},
	},
}

func init() {
	register(fabric.Service, fabric.oneCall(reader(readFabric).priceAndTx))
}

// readFabric reads an answer. It says nothing of gas.
func readFabric(resp upstream.Response, p quote.Profile, s quote.Swap) (proposal, error) {
	var answer struct {
		AmountIn  digits `json:"amountIn"`
		AmountOut digits `json:"amountOut"`
		Minimum   digits `json:"minimumAmountOut"`
		Approval  *struct {
			Spender string `json:"spender"`
		} `json:"approval"` // null where the coin is sent
		Transaction transaction `json:"transaction"`
	}
	if err := decodeOr(fabricFailure, fabric.Name, resp, &answer); err != nil {
		return proposal{}, err
	}
	found := proposal{in: &answer.AmountIn, out: answer.AmountOut, minimum: &answer.Minimum, tx: answer.Transaction}
	if answer.Approval == nil {
		return found, checkRouter(answer.Transaction.To, p, s)
	}
	return found, checkSpender(answer.Approval.Spender, answer.Transaction.To, p, s)
}

// fabricFailure explains an error. A bad request is mostly a missing route.
func fabricFailure(f failure) (message string, isRoute bool) {
	message = f.text("message")
	if message == "" {
		message = f.text("error")
	}
	return message, f.status == http.StatusBadRequest || f.status == http.StatusNotFound
}
