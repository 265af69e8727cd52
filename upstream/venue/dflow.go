package venue

// DFlow Swap API on Solana, GET /order: https://pond.dflow.net

import (
	"fmt"
	"regexp"

	"crossgate/quote"
)

// dflow returns price and transaction in one answer, and pays any wallet. Affiliates are paid separately.
var dflow = register(service{
	// A key is needed: the host without one, dev-quote-api.dflow.net, is only for development (pond.dflow.net).
	Service: Service{
		Name: "dflow", URL: "https://quote-api.dflow.net", Keyed: true, Source: "pond.dflow.net",
		Accepts: []string{excludedSources},
	},
	profile: quote.Profile{ImageURL: "https://dflow.net/favicon.ico"},
	program: "DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH", // swap orchestrator
	header:  "X-Api-Key=$key",
	asks: requestTemplate{ // in one transaction: the API's asynchronous swaps take several
		path: "order", fits: wrapsOrNot,
		query: mintQuery + "userPublicKey=$sender allowAsyncExec=false dynamicComputeUnitLimit=true prioritizationFeeLamports=$priority " +
			"prioritizationFeeMaxLamports=$mostPriority destinationWallet=$other",
	},
	answers: answerTemplate{in: "inAmount", out: "outAmount", least: "minOutAmount", message: "transaction"},
	refuses: refusals{words: "code msg", unrouted: regexp.MustCompile(`(?i)route`)},
	finish: func(a reply, _ quote.Profile, s quote.Swap, o proposal) (proposal, error) {
		if mode := a.text("executionMode"); mode != "" && mode != "sync" {
			return o, fmt.Errorf("execution is %s", clean(mode))
		}
		return o, checkMints(a, s)
	},
})
