package venue

// Relay API, POST /quote/v2: https://docs.relay.link/references/api/get-quote-v2

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"crossgate/quote"
)

// relay is routed only: its router pays what the swap inside left, of no stated amount. It pays out its app fees later,
// and not from the input: no affiliate share.
var relay = register(service{
	// 50 requests per minute without a key.
	Service: Service{
		Name: "relay", URL: "https://api.relay.link",
		Source:  "docs.relay.link, contract addresses and changelog; Robinhood: github shapeshift/web#12497, where the API was asked",
		Accepts: []string{excludedSources},
	},
	profile: quote.Profile{ImageURL: "https://relay.link/favicon.ico"},
	header:  "X-Api-Key=$key",
	asks: requestTemplate{ // a swap on one chain, made by the user's own transaction
		path: "quote/v2",
		body: "user=$sender recipient=$recipient refundTo=$sender originChainId:=$chain destinationChainId:=$chain originCurrency=$zeroIn " +
			"destinationCurrency=$zeroOut amount=$amount tradeType=EXACT_INPUT slippageTolerance=$bps " +
			"excludedSwapSources:=$excludedList forceSolverExecution:=false",
	},
	answers: answerTemplate{
		in: "details.currencyIn.amount", out: "details.currencyOut.amount", least: "details.currencyOut.minimumAmount",
	},
	refuses: refusals{
		words: "errorCode message",
		unrouted: regexp.MustCompile(`^(NO_SWAP_ROUTES_FOUND|NO_INTERNAL_SWAP_ROUTES_FOUND|NO_QUOTES|AMOUNT_TOO_LOW|` +
			`SWAP_IMPACT_TOO_HIGH|UNSUPPORTED_ROUTE)\b`),
	},
	finish: readRelaySteps,
	// The proxy, approved and called for tokens, and the router, for the coin, of versions 3.2 and 3.
	contracts: []deployment{
		{
			chains: []uint64{1, 10, 56, 100, 137, 143, 146, 999, 4326, 4663, 8453, 9745, 42161, 43114, 80094},
			routers: []string{
				"0x5567954cd026cebfe486062cb75848e0f1c12e58", "0x0729e2a4716d9f7dd17858d5d504426d228697f7",
				"0xccc88a9d1b4ed6b0eaba998850414b24f1c315be", "0xb92fe925dc43a0ecde6c8b1a2709c170ec4fff4f",
			},
		},
		{
			chains: []uint64{25, 5000, 59144}, // with an older EVM
			routers: []string{
				"0xe4dfbd5e6784db1058124e2c87554c0591f0fb7b", "0x6328ea02d28131e58b28e55c6258258a30d90e05",
				"0x8754bc615047de01228a7527b712806a71a8dc9a", "0x9ef6d3c2f60d7b9008d74cab1fc0f899c957c819",
			},
		},
	},
})

// readRelaySteps finds the one transaction that swaps. An approval step must approve the contract that this calls.
func readRelaySteps(a reply, p quote.Profile, s quote.Swap, o proposal) (proposal, error) {
	if o.out.IsZero() {
		return o, nil // there may be nothing to call
	}
	approval, isApproved, swaps := "", false, 0
	for _, step := range a.list("steps") {
		if step.text("id") == "approve" {
			approval, isApproved = strings.ToLower(step.text("items.data.data")), true
			continue
		}
		made, err := answerTemplate{
			gas: "items.data.gas", to: "items.data.to", value: "items.data.value", data: "items.data.data",
		}.read(step, p, s)
		if err != nil {
			return o, err
		}
		o.gas, o.to, o.value, o.data, swaps = made.gas, made.to, made.value, made.data, swaps+1
	}
	if swaps != 1 {
		return o, fmt.Errorf("%d transactions that swap", swaps)
	}
	router, err := parseRouter(o.to, p, s)
	if err == nil && isApproved && !strings.Contains(approval, router.String()[2:]) {
		err = errors.New("answer asks to approve another contract than the router")
	}
	return o, err
}
