package venues

import (
	"cmp"
	"errors"
	"math/big"
	"net/http"
	"strconv"
)

const (
	ensoRouter  = "0xF75584eF6673aD213a685a1B58Cc0330B8eA22Cf"
	ensoKey     = "sandbox"
	ensoFeeBps  = 7   // what it keeps of the outcome
	ensoMostFee = 100 // bps
)

// enso is Enso's API for one route.
type enso struct{ floor *floor }

func newEnso(f *floor) http.Handler {
	e := &enso{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/shortcuts/route", e.route)
	return mux
}

type ensoFailure struct {
	Message    string `json:"message"`
	Error      string `json:"error"`
	StatusCode int    `json:"statusCode"`
	RequestID  string `json:"requestId,omitempty"`
}

type ensoAnswer struct {
	AmountOut    string    `json:"amountOut"`
	MinAmountOut string    `json:"minAmountOut"`
	Gas          string    `json:"gas"`
	PriceImpact  *int      `json:"priceImpact"`
	FeeAmount    []string  `json:"feeAmount"`
	CreatedAt    int64     `json:"createdAt"`
	Tx           ensoTx    `json:"tx"`
	Route        []ensoHop `json:"route"`
}

type ensoTx struct {
	To    string `json:"to"`
	From  string `json:"from"`
	Data  string `json:"data"`
	Value string `json:"value"`
}

type ensoHop struct {
	Action   string   `json:"action"`
	Protocol string   `json:"protocol"`
	TokenIn  []string `json:"tokenIn"`
	TokenOut []string `json:"tokenOut"`
}

func (e *enso) route(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	q, found, err := e.priced(r)
	if err != nil {
		ensoFail(w, r, err)
		return
	}
	slippage, err := strconv.ParseFloat(query.Get("slippage"), 64)
	if err != nil || slippage < 0 || slippage > allBps {
		ensoFail(w, r, refusal{http.StatusBadRequest, "slippage must be a number of basis points"})
		return
	}
	receiver := cmp.Or(query.Get("receiver"), query.Get("fromAddress"))
	amountOut := less(found.amountOut, ensoFeeBps)
	minimum := new(big.Int).Sub(amountOut, slippageOf(amountOut, slippage))
	c := e.floor.call(q, found, minimum, receiver, ensoFeeBps)
	data, err := c.encode()
	if err != nil {
		ensoFail(w, r, err)
		return
	}
	body := ensoAnswer{
		AmountOut: amountOut.String(), MinAmountOut: minimum.String(), Gas: strconv.FormatInt(found.gas(), 10),
		FeeAmount: []string{new(big.Int).Sub(q.amount, lessShares(q.amount, q.shares)).String()}, CreatedAt: e.floor.now().Unix(),
		Tx:    ensoTx{To: ensoRouter, From: query.Get("fromAddress"), Data: data, Value: c.value()},
		Route: []ensoHop{},
	}
	for _, step := range found.hops {
		body.Route = append(body.Route, ensoHop{"swap", "sandbox-v2", []string{spell(step.in)}, []string{spell(step.out)}})
	}
	answer(w, http.StatusOK, body)
}

func (e *enso) priced(r *http.Request) (q question, found trade, err error) {
	query := r.URL.Query()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+ensoKey:
		return q, found, refusal{http.StatusUnauthorized, "Invalid API key"}
	case query.Get("routingStrategy") != "router":
		return q, found, refusal{http.StatusBadRequest, "routingStrategy is not served"}
	case !isAddress(query.Get("fromAddress")):
		return q, found, refusal{http.StatusBadRequest, "fromAddress must be an Ethereum address"}
	}
	chain, _ := strconv.ParseUint(query.Get("chainId"), 10, 64)
	if q, err = e.floor.question(chain, query.Get("tokenIn"), query.Get("tokenOut"), query.Get("amountIn")); err != nil {
		return q, found, err
	}
	if q, err = q.withFee(query.Get("fee"), 1, query.Get("feeReceiver"), ensoMostFee); err != nil {
		return q, found, err
	}
	found, err = e.floor.answer(r.Context(), q)
	return q, found, err
}

func ensoFail(w http.ResponseWriter, r *http.Request, err error) {
	status, message := http.StatusInternalServerError, "internal error"
	var declined refusal
	switch {
	case errors.Is(err, errNoPath), errors.Is(err, errUnlisted):
		status, message = http.StatusBadRequest, "Could not find a route for the given tokens"
	case errors.Is(err, errNoChain), errors.Is(err, errAmount), errors.Is(err, errFee):
		status, message = http.StatusBadRequest, err.Error()
	case errors.As(err, &declined):
		status, message = declined.status, declined.words
	}
	answer(w, status, ensoFailure{message, http.StatusText(status), status, requestID(r)})
}
