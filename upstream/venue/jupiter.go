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

// jupiter asks for a route and has the transaction built from it when it wins. It pays the sender alone: another
// recipient's token account would have to exist already. It takes no affiliate share: whoever is paid needs an
// account for the token, which only the chain knows of.
var jupiter = service{
	// 30 requests a minute without a key, 60 with a free one.
	Service: Service{Name: "jupiter", URL: "https://api.jup.ag", RequestsPerSecond: 0.5, Burst: 5},
	profile: quote.Profile{ImageURL: "https://jup.ag/favicon.ico"},
	program: "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4",
}

func init() {
	register(jupiter.Service, func(o Options) (quote.Venue, error) {
		return &twoCalls[json.RawMessage]{
			pricing[json.RawMessage]{o, jupiter.on(o.Registry), jupiterQuoteRequest, readJupiterQuote},
			jupiterSwapRequest, readJupiterSwap,
		}, nil
	}, excludedSources)
}

// Error codes of the API that mean: not this pair, not this amount.
var jupiterNoRoute = map[string]bool{
	"NO_ROUTES_FOUND": true, "COULD_NOT_FIND_ANY_ROUTE": true, "TOKEN_NOT_TRADABLE": true,
	"ROUTE_PLAN_DOES_NOT_CONSUME_ALL_THE_AMOUNT": true, "CIRCULAR_ARBITRAGE_IS_DISABLED": true,
}

func jupiterQuoteRequest(o Options, s quote.Swap) (upstream.Request, error) {
	if _, err := jupiterWraps(s); err != nil {
		return upstream.Request{}, err
	}
	query := swapQuery(s)
	query.Set("swapMode", "ExactIn")
	set(query, "excludeDexes", o.Settings[excludedSources])
	return upstream.Request{Path: "swap/v1/quote", Query: query, Header: header("X-Api-Key", o.Key)}, nil
}

// jupiterSwapRequest sends the quote back untouched.
func jupiterSwapRequest(o Options, s quote.Swap, route json.RawMessage) (upstream.Request, error) {
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
	return upstream.Request{Method: http.MethodPost, Path: "swap/v1/swap", Header: header("X-Api-Key", o.Key), Body: body}, err
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

// readJupiterQuote reads the answer of GET /quote. Its threshold is rounded up, so it is never looser than asked.
func readJupiterQuote(
	resp upstream.Response, _ quote.Profile, s quote.Swap,
) (found pricedRoute[json.RawMessage], err error) {
	var answer struct {
		mintAmounts
		OtherAmountThreshold digits `json:"otherAmountThreshold"`
	}
	if err := decodeOr(jupiterFailure, jupiter.Name, resp, &answer); err != nil {
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
	if err := decodeOr(jupiterFailure, jupiter.Name, resp, &answer); err != nil {
		return quote.Tx{}, err
	}
	return readMessage(answer.SwapTransaction)
}

func jupiterFailure(f failure) (message string, isRoute bool) {
	if jupiterNoRoute[f.text("errorCode")] || jupiterNoRoute[f.text("error")] {
		return f.text("error"), true
	}
	return f.text("errorCode", "error"), false
}
