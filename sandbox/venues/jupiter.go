package venues

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strconv"

	"crossgate/sandbox/solana"
)

// jupiter is Jupiter's Swap API, version 1. It answers without a key; the sandbox knows none.
var jupiter = dialect{
	endpoints: endpoints{
		"GET /swap/v1/quote": jupiterQuote,
		"POST /swap/v1/swap": jupiterSwap,
	},
	refusals: []refusal{
		{errUnauthorized, http.StatusUnauthorized, nil, "Unauthorized"},
		{errUnlisted, http.StatusBadRequest, "TOKEN_NOT_TRADABLE", ""},
		{errNoRoute, http.StatusBadRequest, "COULD_NOT_FIND_ANY_ROUTE", "Could not find any route"},
		{errCircular, http.StatusBadRequest, "CIRCULAR_ARBITRAGE_IS_DISABLED", ""},
		{nil, http.StatusBadRequest, nil, ""},
	},
	problem: jupiterProblem,
	limited: object{"error": "Too many requests"},
	routers: only(solanaID, solana.Jupiter().String()),
}

// errJupiterOrder means that no transaction can be made of an order.
const errJupiterOrder = invalid("order cannot be built")

func jupiterQuote(r *request) (any, error) {
	switch {
	case r.Header.Get("X-Api-Key") != "":
		return nil, errUnauthorized
	case r.get("swapMode") == "ExactOut":
		return nil, invalid("swapMode ExactOut is not served in the sandbox")
	}
	q, err := r.solanaQuote(cmp.Or(r.get("slippageBps"), "50"), func(solana.Pool) bool { return true })
	if err != nil {
		return nil, err
	}
	found := q.exchange.Route
	var steps []object
	for _, h := range found.Hops {
		steps = append(steps, object{"percent": 100, "bps": nil, "swapInfo": object{
			"ammKey": h.Pool.Address, "label": poolLabel, "inputMint": h.In.Mint, "outputMint": h.Out.Mint,
			"inAmount": lamports(h.AmountIn), "outAmount": lamports(h.AmountOut),
			"updateContextSlot": lamports(found.Slot),
		}})
	}
	body := q.answer()
	body["swapMode"], body["routePlan"], body["timeTaken"], body["transactionVersion"] = "ExactIn", steps, 0.001, 0
	body["swapUsdValue"] = r.mints[q.in.Mint].usdText(new(big.Int).SetUint64(found.Hops[0].AmountIn))
	body["mostReliableAmmsQuoteReport"] = object{
		"info": object{found.Hops[0].Pool.Address.String(): lamports(found.AmountOut())},
	}
	body["loadedLongtailToken"] = false
	for _, unused := range []string{
		"longtailMarketQuoteReport", "useIncurredSlippageForQuoting", "useRewards", "otherRoutePlans",
		"instructionVersion",
	} {
		body[unused] = nil
	}
	return body, nil
}

type jupiterOrder struct {
	UserPublicKey       string          `json:"userPublicKey"`
	QuoteResponse       *jupiterRoute   `json:"quoteResponse"`
	WrapAndUnwrapSOL    *bool           `json:"wrapAndUnwrapSol"`
	PrioritizationFee   json.RawMessage `json:"prioritizationFeeLamports"`
	ComputeUnitPrice    *uint64         `json:"computeUnitPriceMicroLamports"`
	FeeAccount          string          `json:"feeAccount"`
	DestinationAccount  string          `json:"destinationTokenAccount"`
	NativeDestination   string          `json:"nativeDestinationAccount"`
	AsLegacyTransaction bool            `json:"asLegacyTransaction"`
}

// jupiterRoute is what of a quote a transaction is built from.
type jupiterRoute struct {
	InputMint           solana.Key
	InAmount, OutAmount string
	SlippageBps         uint16
	RoutePlan           []struct{ SwapInfo struct{ AmmKey solana.Key } }
}

func jupiterSwap(r *request) (any, error) {
	var order jupiterOrder
	if err := r.decode(&order); err != nil {
		return nil, errJupiterOrder
	}
	made, err := order.build(r)
	if err != nil {
		return nil, err
	}
	body := built(made)
	body["swapTransaction"], body["simulationError"] = made.Wire, nil
	if made.Failure != nil { // why it would fail
		body["simulationError"] = object{"errorCode": "TRANSACTION_ERROR", "error": fmt.Sprint(made.Failure)}
	}
	return body, nil
}

// build makes the transaction of the quote that comes with the order, whatever became of the price.
func (o jupiterOrder) build(r *request) (made solana.Unsigned, err error) {
	quoted := o.QuoteResponse
	switch {
	case r.Header.Get("X-Api-Key") != "":
		return made, errUnauthorized
	case r.ledger == nil:
		return made, errNoMarkets
	case quoted == nil, o.FeeAccount+o.DestinationAccount+o.NativeDestination != "", o.AsLegacyTransaction:
		return made, errJupiterOrder
	}
	x := solana.Exchange{Wraps: o.WrapAndUnwrapSOL == nil || *o.WrapAndUnwrapSOL, SlippageBps: quoted.SlippageBps}
	if x.User, err = solana.ParseKey(o.UserPublicKey); err != nil {
		return made, errWallet
	}
	if err := o.prioritize(&x); err != nil {
		return made, err
	}
	in, err := solana.TokenAt(quoted.InputMint)
	if err != nil {
		return made, errUnlisted
	}
	amount, err := strconv.ParseUint(quoted.InAmount, 10, 64)
	if err != nil {
		return made, errAmount
	}
	if x.Quoted, err = strconv.ParseUint(quoted.OutAmount, 10, 64); err != nil {
		return made, errAmount
	}
	var pools []solana.Key
	for _, step := range quoted.RoutePlan {
		pools = append(pools, step.SwapInfo.AmmKey)
	}
	if x.Route, err = r.ledger.Along(in, amount, pools...); err != nil {
		return made, errJupiterOrder
	}
	return r.ledger.JupiterSwap(x)
}

// prioritize reads what the order says about priority, in one of the ways that there are: a price for compute units, or
// a number of lamports, "auto", or a level within a bound.
func (o jupiterOrder) prioritize(x *solana.Exchange) error {
	fee := string(o.PrioritizationFee)
	if fee == "null" {
		fee = ""
	}
	if o.ComputeUnitPrice != nil {
		return prioritize(x, lamports(*o.ComputeUnitPrice), fee, maxPriority)
	}
	var within struct {
		Level struct {
			PriorityLevel string `json:"priorityLevel"`
			MaxLamports   uint64 `json:"maxLamports"`
		} `json:"priorityLevelWithMaxLamports"`
	}
	switch {
	case fee == `"auto"`:
		fee = "auto"
	case json.Unmarshal(o.PrioritizationFee, &within) == nil && fee != "":
		return prioritize(x, "", within.Level.PriorityLevel, within.Level.MaxLamports)
	}
	return prioritize(x, "", fee, defaultPriority)
}

func jupiterProblem(_ *request, f refusal) any {
	body := object{"error": f.message}
	if f.cause == errUnlisted {
		body["error"] = "The token is not tradable: " + f.message
	}
	if f.code != nil {
		body["errorCode"] = f.code
	}
	return body
}
