package venue

// DFlow Swap API on Solana, GET /order: https://pond.dflow.net

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	dflowName    = "dflow"
	dflowProgram = "DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH" // swap orchestrator
	dflowImage   = "https://dflow.net/favicon.ico"
)

func init() {
	// The keyless host is for development and promises no rate.
	register(Service{
		Name: dflowName, URL: "https://dev-quote-api.dflow.net", KeyedURL: "https://quote-api.dflow.net",
		RequestsPerSecond: 1, Burst: 3,
	}, openDFlow, excludedSources)
}

// dflow answers with price and transaction at once, and pays any wallet. It takes no affiliate share: whoever is
// paid needs an account for the token, which only the chain knows of.
type dflow struct{ Options }

func openDFlow(o Options) (quote.Venue, error) {
	return &oneCall{pricing[quote.Tx]{Options: o, request: dflow{o}.request, read: readDFlow, profile: quote.Profile{
		Name: dflowName, ImageURL: dflowImage, Routers: o.program(dflowProgram),
	}}}, nil
}

// request wants one transaction that does all: what the API calls asynchronous takes several.
func (v dflow) request(s quote.Swap) (upstream.Request, error) {
	wraps, err := wrapsCoin(s)
	if err != nil {
		return upstream.Request{}, err
	}
	query := url.Values{
		"inputMint":                    {mintText(s, s.In.Address)},
		"outputMint":                   {mintText(s, s.Out.Address)},
		"amount":                       {s.In.Amount.String()},
		"slippageBps":                  {strconv.Itoa(bps(s.SlippagePercent))},
		"userPublicKey":                {s.Sender.Format(chain.SVM)},
		"wrapAndUnwrapSol":             {strconv.FormatBool(wraps)},
		"allowAsyncExec":               {"false"},
		"dynamicComputeUnitLimit":      {"true"},
		"prioritizationFeeLamports":    {priorityLevel(s.Priority)},
		"prioritizationFeeMaxLamports": {strconv.Itoa(mostPriority)},
	}
	if s.Recipient != s.Sender {
		query.Set("destinationWallet", s.Recipient.Format(chain.SVM))
	}
	set(query, "excludeDexes", v.Settings[excludedSources])
	return upstream.Request{Path: "order", Query: query, Header: header("X-Api-Key", v.Key)}, nil
}

func readDFlow(resp upstream.Response, _ quote.Profile, s quote.Swap) (found pricedRoute[quote.Tx], err error) {
	var answer struct {
		InputMint     string `json:"inputMint"`
		OutputMint    string `json:"outputMint"`
		InAmount      digits `json:"inAmount"`
		OutAmount     digits `json:"outAmount"` // after every fee
		MinOutAmount  digits `json:"minOutAmount"`
		ExecutionMode string `json:"executionMode"`
		Transaction   string `json:"transaction"`
	}
	if err := decodeOr(dflowRefusal, resp, &answer); err != nil {
		return found, err
	}
	if err := errors.Join(checkMints(answer.InputMint, answer.OutputMint, s), checkIn(answer.InAmount, s)); err != nil {
		return found, err
	}
	if answer.ExecutionMode != "" && answer.ExecutionMode != "sync" {
		return found, fmt.Errorf("execution is %s", clean(answer.ExecutionMode))
	}
	found.amountOut, found.minimum = answer.OutAmount.amount(), answer.MinOutAmount.amount()
	if err := checkMinimum(answer.MinOutAmount, s, found.amountOut); err != nil {
		return found, err
	}
	found.route, err = readMessage(answer.Transaction)
	return found, err
}

// dflowRefusal reads an error. A missing route is told in words as well as by its code.
func dflowRefusal(resp upstream.Response) error {
	return refusal(dflowName, resp, func(f failure) (string, bool) {
		words := strings.TrimSpace(f.text("code") + " " + f.text("msg"))
		if strings.Contains(strings.ToLower(words), "route") {
			return f.text("msg"), true
		}
		return words, false
	})
}
