package venue

// DFlow Swap API on Solana, GET /order: https://pond.dflow.net

import (
	"fmt"
	"strings"

	"crossgate/quote"
	"crossgate/upstream"
)

// dflow answers with price and transaction at once, and pays any wallet. Affiliates are paid beside it.
var dflow = service{
	// A key is needed: the host without one, dev-quote-api.dflow.net, is for development alone (pond.dflow.net).
	Service: Service{
		Name: "dflow", URL: "https://quote-api.dflow.net", Keyed: true, RequestsPerSecond: 1, Burst: 3, Source: "pond.dflow.net",
	},
	profile: quote.Profile{ImageURL: "https://dflow.net/favicon.ico"},
	asks: requestTemplate{ // one transaction that does all: what the API calls asynchronous takes several
		path: "order", header: "X-Api-Key=$key", fits: wrapsOrNot,
		query: mintQuery + "userPublicKey=$sender allowAsyncExec=false dynamicComputeUnitLimit=true prioritizationFeeLamports=$priority " +
			"prioritizationFeeMaxLamports=$mostPriority destinationWallet=$other",
	},
	program: "DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH", // swap orchestrator
}

func init() {
	register(dflow.Service, dflow.oneCall(readDFlow), excludedSources)
}

func readDFlow(resp upstream.Response, _ quote.Profile, s quote.Swap) (found pricedRoute[quote.Tx], err error) {
	var answer struct {
		mintAmounts
		MinOutAmount  digits `json:"minOutAmount"`
		ExecutionMode string `json:"executionMode"`
		Transaction   string `json:"transaction"`
	}
	if err := decodeOr(dflowFailure, dflow.Name, resp, &answer); err != nil {
		return found, err
	}
	if err := answer.check(s); err != nil {
		return found, err
	}
	if answer.ExecutionMode != "" && answer.ExecutionMode != "sync" {
		return found, fmt.Errorf("execution is %s", clean(answer.ExecutionMode))
	}
	found.amountOut = answer.OutAmount.amount()
	if err := checkMinimum(answer.MinOutAmount, s, found.amountOut); err != nil {
		return found, err
	}
	found.route, err = readMessage(answer.Transaction)
	return found, err
}

// dflowFailure explains an error. A missing route may stand in the message alone.
func dflowFailure(f failure) (message string, isRoute bool) {
	text := f.text("code", "msg")
	if strings.Contains(strings.ToLower(text), "route") {
		return f.text("msg"), true
	}
	return text, false
}
