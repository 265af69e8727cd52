package venue

// Fabric's routing API, GET /v1/quote. Its documentation is not public; this is what its owner's client asks and reads:
// https://github.com/withfabricxyz/spandex, packages/core/lib/aggregators/fabric.ts and its recorded answers.

import (
	"net/http"
	"net/url"
	"strconv"

	"crossgate/quote"
	"crossgate/upstream"
)

// fabric answers with price and transaction at once, for a recipient and any sender. Its contract's source is not
// published, so its transactions go through the public router only, which enforces recipient and minimum. It takes no
// affiliate share: its own comes from either side of a swap.
var fabric = service{
	// The limit is not published.
	Service: Service{
		Name: "fabric", URL: "https://route.withfabric.xyz", RequestsPerSecond: 1, Burst: 3,
		Source: "Base: github withfabricxyz/spandex @02733d0, recorded answers; Arbitrum: npm @gfxlabs/oku-chains 1.12.36, which names the same on Base",
	},
	profile: quote.Profile{ImageURL: "https://spandex.sh/images/fabric.svg"},
	// The routers are also the spenders.
	contracts: []deployment{
		{chains: []uint64{8453}, routers: []string{"0x7c137a37742437d2212b7bd873ed135b5c4c61da"}},
		{chains: []uint64{42161}, routers: []string{"0x3a7f029e3ad003ab5aa78ccf101b1b543eaed6f9"}},
	},
}

// fabricApp is the name that the API requires of its callers and does not issue.
const fabricApp = "crossgate"

func init() {
	register(fabric.Service, fabric.oneCall(fabricRequest, reader(readFabric).priceAndTx))
}

func fabricRequest(o Options, s quote.Swap) (upstream.Request, error) {
	headers := http.Header{"X-App-Id": {fabricApp}}
	if o.Key != "" {
		headers.Set("X-Api-Key", o.Key)
	}
	return upstream.Request{Path: "v1/quote", Query: url.Values{
		"chainId":     {chainText(s)},
		"sellToken":   {s.In.Address.String()}, // the coin is the zero address
		"buyToken":    {s.Out.Address.String()},
		"sellAmount":  {s.In.Amount.String()},
		"slippageBps": {strconv.Itoa(bps(s.SlippagePercent))},
		"receiver":    {s.Recipient.String()},
	}, Header: headers}, nil
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

// fabricFailure explains an error. Their form is not published; a bad request is mostly a pair or an amount without a
// route.
func fabricFailure(f failure) (message string, isRoute bool) {
	message = f.text("message")
	if message == "" {
		message = f.text("error")
	}
	return message, f.status == http.StatusBadRequest || f.status == http.StatusNotFound
}
