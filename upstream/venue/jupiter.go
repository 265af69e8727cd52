package venue

// Jupiter Swap API v1 on Solana: https://dev.jup.ag/docs/swap-api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	jupiterName    = "jupiter"
	jupiterProgram = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"
	jupiterImage   = "https://jup.ag/favicon.ico"
)

// Error codes of the API that mean: not this pair, not this amount.
var jupiterNoRoute = map[string]bool{
	"NO_ROUTES_FOUND": true, "COULD_NOT_FIND_ANY_ROUTE": true, "TOKEN_NOT_TRADABLE": true,
	"ROUTE_PLAN_DOES_NOT_CONSUME_ALL_THE_AMOUNT": true, "CIRCULAR_ARBITRAGE_IS_DISABLED": true,
}

func init() {
	// 30 requests a minute without a key, 60 with a free one.
	register(Service{Name: jupiterName, URL: "https://api.jup.ag", RequestsPerSecond: 0.5, Burst: 5}, openJupiter, excludedSources)
}

// jupiter asks for a route and has the transaction built from it when it wins. It pays the sender alone: another
// recipient's token account would have to exist already. It takes no affiliate share: whoever is paid needs an
// account for the token, which only the chain knows of.
type jupiter struct{ Options }

func openJupiter(o Options) (quote.Venue, error) {
	v := jupiter{o}
	return &twoCalls[json.RawMessage]{
		pricing: pricing[json.RawMessage]{Options: o, request: v.quoteRequest, read: readJupiterQuote, profile: quote.Profile{
			Name: jupiterName, ImageURL: jupiterImage, Routers: o.program(jupiterProgram), OmitsSender: true,
		}},
		buildRequest: v.swapRequest, readBuild: readJupiterSwap,
	}, nil
}

func (v jupiter) quoteRequest(s quote.Swap) (upstream.Request, error) {
	if _, err := jupiterWraps(s); err != nil {
		return upstream.Request{}, err
	}
	query := swapQuery(s)
	query.Set("swapMode", "ExactIn")
	set(query, "excludeDexes", v.Settings[excludedSources])
	return upstream.Request{Path: "swap/v1/quote", Query: query, Header: v.header()}, nil
}

// swapRequest sends the quote back untouched.
func (v jupiter) swapRequest(s quote.Swap, route json.RawMessage) (upstream.Request, error) {
	wraps, err := jupiterWraps(s)
	if err != nil {
		return upstream.Request{}, err
	}
	body, err := encode(struct {
		UserPublicKey             string          `json:"userPublicKey"`
		QuoteResponse             json.RawMessage `json:"quoteResponse"`
		WrapAndUnwrapSOL          bool            `json:"wrapAndUnwrapSol"`
		DynamicComputeUnitLimit   bool            `json:"dynamicComputeUnitLimit"`
		PrioritizationFeeLamports jupiterPriority `json:"prioritizationFeeLamports"`
	}{s.Sender.Format(chain.SVM), route, wraps, true, jupiterPriority{jupiterLevel{priorityLevel(s.Priority), mostPriority}}})
	return upstream.Request{Method: http.MethodPost, Path: "swap/v1/swap", Header: v.header(), Body: body}, err
}

// jupiterPriority has the bids of those count who write the same accounts.
type jupiterPriority struct {
	Within jupiterLevel `json:"priorityLevelWithMaxLamports"`
}

type jupiterLevel struct {
	PriorityLevel string `json:"priorityLevel"`
	MaxLamports   uint64 `json:"maxLamports"`
}

// jupiterWraps reports whether the API is to wrap the coin, or why it cannot serve the swap.
func jupiterWraps(s quote.Swap) (bool, error) {
	if s.Sender != s.Recipient {
		return false, fmt.Errorf("%w to another recipient", quote.ErrNoRoute)
	}
	return wrapsCoin(s)
}

func (v jupiter) header() http.Header { return header("X-Api-Key", v.Key) }

// readJupiterQuote reads the answer of GET /quote. Its threshold is rounded up, so it is never looser than asked.
func readJupiterQuote(
	resp upstream.Response, _ quote.Profile, s quote.Swap,
) (found pricedRoute[json.RawMessage], err error) {
	var answer struct {
		mintAmounts
		OtherAmountThreshold digits `json:"otherAmountThreshold"`
	}
	if err := decodeOr(jupiterRefusal, resp, &answer); err != nil {
		return found, err
	}
	found.amountOut, found.minimum, found.route = answer.OutAmount.amount(), answer.OtherAmountThreshold.amount(), resp.Body
	if err := answer.check(s); err != nil {
		return found, err
	}
	return found, checkMinimum(answer.OtherAmountThreshold, s, found.amountOut)
}

// readJupiterSwap reads the answer of POST /swap.
func readJupiterSwap(resp upstream.Response, _ quote.Profile, _ quote.Swap, _ quote.Quote) (quote.Tx, error) {
	var answer struct {
		SwapTransaction string `json:"swapTransaction"`
	}
	if err := decodeOr(jupiterRefusal, resp, &answer); err != nil {
		return quote.Tx{}, err
	}
	return readMessage(answer.SwapTransaction)
}

func jupiterRefusal(resp upstream.Response) error {
	return refusal(jupiterName, resp, func(f failure) (string, bool) {
		if jupiterNoRoute[f.text("errorCode")] || jupiterNoRoute[f.text("error")] {
			return f.text("error"), true
		}
		return f.text("errorCode") + " " + f.text("error"), false
	})
}
