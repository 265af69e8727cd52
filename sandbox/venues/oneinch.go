package venues

import (
	"cmp"
	"errors"
	"math/big"
	"net/http"
	"strconv"
	"strings"
)

const (
	oneInchRouter  = "0x111111125421cA6dc452d289314280a0f8842A65"
	oneInchKey     = "sandbox"
	oneInchFeeBps  = 4   // what it keeps of the outcome
	oneInchMostFee = 300 // bps
)

// oneInch is the 1inch Classic Swap API v6.1.
type oneInch struct{ floor *floor }

func newOneInch(f *floor) http.Handler {
	o := &oneInch{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /swap/v6.1/{chain}/quote", o.quote)
	mux.HandleFunc("GET /swap/v6.1/{chain}/swap", o.swap)
	return mux
}

type oneInchFailure struct {
	StatusCode  int    `json:"statusCode"`
	Error       string `json:"error"`
	Description string `json:"description"`
	RequestID   string `json:"requestId"`
}

type oneInchAnswer struct {
	DstAmount string     `json:"dstAmount"`
	Gas       int64      `json:"gas,omitempty"` // only when asked for
	Tx        *oneInchTx `json:"tx,omitempty"`
}

type oneInchTx struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Data     string `json:"data"`
	Value    string `json:"value"`
	Gas      int64  `json:"gas"` // zero without the API's own estimate
	GasPrice string `json:"gasPrice"`
}

func (o *oneInch) quote(w http.ResponseWriter, r *http.Request) {
	_, found, err := o.priced(r)
	if err != nil {
		oneInchFail(w, r, err)
		return
	}
	answer(w, http.StatusOK, o.answer(r, found))
}

func (o *oneInch) swap(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	q, found, err := o.priced(r)
	slippage, unread := strconv.ParseFloat(query.Get("slippage"), 64)
	switch {
	case err != nil:
	case unread != nil || slippage < 0 || slippage > 50:
		err = refusal{http.StatusBadRequest, "slippage must be a number from 0 to 50"}
	case !isAddress(query.Get("from")) || !isAddress(query.Get("origin")):
		err = refusal{http.StatusBadRequest, "from and origin must be addresses"}
	case query.Get("disableEstimate") != "true":
		err = refusal{http.StatusBadRequest, "Not enough allowance. Amount: " + q.amount.String() + ". Allowance: 0. Spender: " + oneInchRouter}
	}
	if err != nil {
		oneInchFail(w, r, err)
		return
	}
	receiver := cmp.Or(query.Get("receiver"), query.Get("from"))
	amountOut := less(found.amountOut, oneInchFeeBps)
	c := o.floor.call(q, found, new(big.Int).Sub(amountOut, slippageOf(amountOut, slippage*100)), receiver, oneInchFeeBps)
	data, err := c.encode()
	if err != nil {
		oneInchFail(w, r, err)
		return
	}
	body := o.answer(r, found)
	body.Tx = &oneInchTx{From: query.Get("from"), To: strings.ToLower(oneInchRouter), Data: data, Value: c.value(), GasPrice: strconv.Itoa(gasPrice)}
	answer(w, http.StatusOK, body)
}

// priced reads what quote and swap have in common. The fee is a percentage of the input; a quote needs
// nobody to pay it to.
func (o *oneInch) priced(r *http.Request) (q question, found trade, err error) {
	if r.Header.Get("Authorization") != "Bearer "+oneInchKey {
		return q, found, refusal{http.StatusUnauthorized, "Invalid API key"}
	}
	query := r.URL.Query()
	chain, _ := strconv.ParseUint(r.PathValue("chain"), 10, 64)
	if q, err = o.floor.question(chain, query.Get("src"), query.Get("dst"), query.Get("amount")); err != nil {
		return q, found, err
	}
	referrer := query.Get("referrer")
	if strings.HasSuffix(r.URL.Path, "/quote") {
		referrer = oneInchRouter
	}
	if q, err = q.withFee(query.Get("fee"), 0.01, referrer, oneInchMostFee); err != nil {
		return q, found, err
	}
	found, err = o.floor.answer(r.Context(), q)
	return q, found, err
}

func (o *oneInch) answer(r *http.Request, t trade) oneInchAnswer {
	body := oneInchAnswer{DstAmount: less(t.amountOut, oneInchFeeBps).String()}
	if r.URL.Query().Get("includeGas") == "true" {
		body.Gas = t.gas()
	}
	return body
}

func oneInchFail(w http.ResponseWriter, r *http.Request, err error) {
	status, description := http.StatusInternalServerError, ""
	var declined refusal
	switch {
	case errors.Is(err, errNoPath), errors.Is(err, errUnlisted):
		status, description = http.StatusBadRequest, "insufficient liquidity"
	case errors.Is(err, errNoChain), errors.Is(err, errAmount), errors.Is(err, errFee):
		status, description = http.StatusBadRequest, err.Error()
	case errors.As(err, &declined):
		status, description = declined.status, declined.words
	}
	answer(w, status, oneInchFailure{status, http.StatusText(status), description, requestID(r)})
}
