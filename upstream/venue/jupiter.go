package venue

// Jupiter Swap API v1 on Solana: https://dev.jup.ag/docs/swap-api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	jupiterName    = "jupiter"
	jupiterProgram = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"
	jupiterImage   = "https://jup.ag/favicon.ico"

	// jupiterLife is ours: a transaction's block hash holds for about a minute.
	jupiterLife = 30 * time.Second
)

// Error codes of the API that mean: not this pair, not this amount.
var jupiterNoRoute = map[string]bool{
	"NO_ROUTES_FOUND": true, "COULD_NOT_FIND_ANY_ROUTE": true, "TOKEN_NOT_TRADABLE": true,
	"ROUTE_PLAN_DOES_NOT_CONSUME_ALL_THE_AMOUNT": true, "CIRCULAR_ARBITRAGE_IS_DISABLED": true,
}

func init() {
	// 30 requests a minute without a key, 60 with a free one.
	register(Service{Name: jupiterName, URL: "https://api.jup.ag", RequestsPerSecond: 0.5, Burst: 5}, openJupiter)
}

// jupiter asks for a route and has the transaction built from it when it wins. It pays the sender alone: another
// recipient's token account would have to exist already. It takes no affiliate share: whoever is paid needs an
// account for the token, which only the chain knows of.
type jupiter struct {
	pool            *upstream.Pool
	profile         quote.Profile
	key             string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*jupiter)(nil)

// openJupiter knows the setting excludedSources (comma-separated, in the API's names).
func openJupiter(o Options) (quote.Venue, error) {
	if err := o.allow("excludedSources"); err != nil {
		return nil, err
	}
	return &jupiter{
		pool: o.Pool, key: o.Key, excludedSources: o.Settings["excludedSources"], now: o.Now,
		profile: quote.Profile{
			Name: jupiterName, ImageURL: jupiterImage, Routers: o.program(jupiterProgram), OmitsSender: true,
		},
	}, nil
}

// Profile implements quote.Venue.
func (j *jupiter) Profile() quote.Profile { return j.profile }

// Quote implements quote.Venue.
func (j *jupiter) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := suitsSolana(j.profile, s); err != nil {
		return quote.Quote{}, err
	}
	if s.Sender != s.Recipient {
		return quote.Quote{}, fmt.Errorf("jupiter: %w to another recipient", quote.ErrNoRoute)
	}
	if _, err := wrapsCoin(s); err != nil {
		return quote.Quote{}, fmt.Errorf("jupiter: %w", err)
	}
	asked := j.now()
	route, err := ask(ctx, j.pool, j.quoteRequest(s), func(resp upstream.Response) (jupiterRoute, error) {
		return readJupiterQuote(resp, s)
	})
	if err != nil {
		return quote.Quote{}, fmt.Errorf("jupiter quote: %w", err)
	}
	return quote.Quote{
		Venue: jupiterName, AmountOut: route.amountOut, Minimum: route.minimum, Expires: asked.Add(jupiterLife), Route: route,
	}, nil
}

// Build implements quote.Venue.
func (j *jupiter) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	route, ours := q.Route.(jupiterRoute)
	if !ours {
		return quote.Tx{}, errors.New("jupiter build of a quote that is not its own")
	}
	if s.Sender != s.Recipient {
		return quote.Tx{}, fmt.Errorf("jupiter: %w to another recipient", quote.ErrNoRoute)
	}
	request, err := j.swapRequest(s, route)
	if err != nil {
		return quote.Tx{}, err
	}
	tx, err := ask(ctx, j.pool, request, readJupiterSwap)
	if err != nil {
		return quote.Tx{}, fmt.Errorf("jupiter swap: %w", err)
	}
	return tx, nil
}

// jupiterRoute is a quoted route, which the API wants back untouched.
type jupiterRoute struct {
	quote              json.RawMessage
	amountOut, minimum chain.Amount
}

func (j *jupiter) quoteRequest(s quote.Swap) upstream.Request {
	query := url.Values{
		"inputMint":   {mintText(s, s.In.Address)},
		"outputMint":  {mintText(s, s.Out.Address)},
		"amount":      {s.In.Amount.String()},
		"slippageBps": {strconv.Itoa(bps(s.SlippagePercent))},
		"swapMode":    {"ExactIn"},
	}
	if j.excludedSources != "" {
		query.Set("excludeDexes", j.excludedSources)
	}
	return upstream.Request{Path: "swap/v1/quote", Query: query, Header: j.header()}
}

func (j *jupiter) swapRequest(s quote.Swap, route jupiterRoute) (upstream.Request, error) {
	wraps, err := wrapsCoin(s)
	if err != nil {
		return upstream.Request{}, fmt.Errorf("jupiter: %w", err)
	}
	body, err := encode(struct {
		UserPublicKey           string          `json:"userPublicKey"`
		QuoteResponse           json.RawMessage `json:"quoteResponse"`
		WrapAndUnwrapSOL        bool            `json:"wrapAndUnwrapSol"`
		DynamicComputeUnitLimit bool            `json:"dynamicComputeUnitLimit"`
	}{s.Sender.Format(chain.SVM), route.quote, wraps, true})
	return upstream.Request{Method: http.MethodPost, Path: "swap/v1/swap", Header: j.header(), Body: body}, err
}

func (j *jupiter) header() http.Header {
	if j.key == "" {
		return nil
	}
	return http.Header{"X-Api-Key": {j.key}}
}

// readJupiterQuote reads the answer of GET /quote. Its threshold is rounded up, so it is never looser than asked.
func readJupiterQuote(resp upstream.Response, s quote.Swap) (jupiterRoute, error) {
	if isRejection(resp) {
		return jupiterRoute{}, jupiterRefusal(resp)
	}
	var answer struct {
		InputMint            string `json:"inputMint"`
		OutputMint           string `json:"outputMint"`
		InAmount             digits `json:"inAmount"`
		OutAmount            digits `json:"outAmount"`
		OtherAmountThreshold digits `json:"otherAmountThreshold"`
	}
	if err := decode(resp, &answer); err != nil {
		return jupiterRoute{}, err
	}
	if answer.InputMint != mintText(s, s.In.Address) || answer.OutputMint != mintText(s, s.Out.Address) {
		return jupiterRoute{}, errors.New("answer is about other tokens")
	}
	if err := checkIn(answer.InAmount, s); err != nil {
		return jupiterRoute{}, err
	}
	route := jupiterRoute{
		quote: resp.Body, amountOut: answer.OutAmount.amount(), minimum: answer.OtherAmountThreshold.amount(),
	}
	if route.amountOut.IsZero() {
		return jupiterRoute{}, noRoute("nothing comes out")
	}
	return route, checkMinimum(answer.OtherAmountThreshold, s, route.amountOut)
}

// readJupiterSwap reads the answer of POST /swap.
func readJupiterSwap(resp upstream.Response) (quote.Tx, error) {
	if isRejection(resp) {
		return quote.Tx{}, jupiterRefusal(resp)
	}
	var answer struct {
		SwapTransaction string `json:"swapTransaction"`
	}
	if err := decode(resp, &answer); err != nil {
		return quote.Tx{}, err
	}
	return readMessage(answer.SwapTransaction)
}

func jupiterRefusal(resp upstream.Response) error {
	var failure struct {
		Error     string `json:"error"`
		ErrorCode string `json:"errorCode"`
	}
	if err := decode(resp, &failure); err != nil {
		return refused(jupiterName, resp.Status, "")
	}
	if jupiterNoRoute[failure.ErrorCode] || jupiterNoRoute[failure.Error] {
		return noRoute(failure.Error)
	}
	return refused(jupiterName, resp.Status, failure.ErrorCode+" "+failure.Error)
}
