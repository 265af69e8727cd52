package venues

import (
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
)

const (
	sushiRouter   = "0xAC4c6e212A361c968F1725b4d055b47E63F80b75"
	sushiFeeBps   = 2 // what it keeps of the outcome
	sushiSlippage = 0.005
	sushiMostFee  = allBps / 2
)

// sushi is the SushiSwap aggregator API v7.
type sushi struct{ floor *floor }

func newSushi(f *floor) http.Handler {
	s := &sushi{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /quote/v7/{chain}", s.quote)
	mux.HandleFunc("GET /swap/v7/{chain}", s.swap)
	return mux
}

// sushiProblem is the body of every error.
type sushiProblem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Status int    `json:"status"`
	Code   string `json:"code"`
}

func newSushiProblem(status int, title, detail string) sushiProblem {
	return sushiProblem{
		Type: "https://docs.sushi.com/api/errors", Title: title, Detail: detail, Status: status, Code: strconv.Itoa(status) + "-01",
	}
}

type sushiToken struct {
	Address  string `json:"address"`
	Symbol   string `json:"symbol"`
	Name     string `json:"name"`
	Decimals int    `json:"decimals"`
}

// sushiAnswer names the two tokens by their places in the list.
type sushiAnswer struct {
	Status           string       `json:"status"`
	Tokens           []sushiToken `json:"tokens"`
	TokenFrom        int          `json:"tokenFrom"`
	TokenTo          int          `json:"tokenTo"`
	SwapPrice        float64      `json:"swapPrice"`
	PriceImpact      float64      `json:"priceImpact"`
	AmountIn         string       `json:"amountIn"`
	AssumedAmountOut string       `json:"assumedAmountOut"`
	GasSpent         int64        `json:"gasSpent"`
	Tx               *sushiTx     `json:"tx,omitempty"`
}

type sushiTx struct {
	From     string `json:"from"`
	To       string `json:"to"`
	GasPrice int64  `json:"gasPrice"`
	Data     string `json:"data"`
	Value    string `json:"value,omitempty"`
}

func (s *sushi) quote(w http.ResponseWriter, r *http.Request) {
	q, found, err := s.priced(r)
	if err != nil {
		sushiFail(w, err)
		return
	}
	answer(w, http.StatusOK, s.answer(q, found))
}

func (s *sushi) swap(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	q, found, err := s.priced(r)
	if err == nil && !isAddress(query.Get("sender")) {
		err = errSender
	}
	if err != nil {
		sushiFail(w, err)
		return
	}
	recipient := query.Get("recipient")
	if recipient == "" {
		recipient = query.Get("sender")
	}
	body := s.answer(q, found)
	minimum := new(big.Int).Sub(less(found.amountOut, sushiFeeBps), slippageOf(less(found.amountOut, sushiFeeBps), allBps*sushiSlippageOf(query)))
	c := s.floor.call(q, found, minimum, recipient, sushiFeeBps)
	data, err := c.encode()
	if err != nil {
		sushiFail(w, err)
		return
	}
	body.Tx = &sushiTx{From: query.Get("sender"), To: sushiRouter, GasPrice: gasPrice, Data: data}
	if q.in == coin {
		body.Tx.Value = c.value()
	}
	answer(w, http.StatusOK, body)
}

// errSender is a swap for nobody.
var errSender = errors.New("sender is not an address")

func (s *sushi) priced(r *http.Request) (q question, found trade, err error) {
	query := r.URL.Query()
	chain, _ := strconv.ParseUint(r.PathValue("chain"), 10, 64)
	if q, err = s.floor.question(chain, query.Get("tokenIn"), query.Get("tokenOut"), query.Get("amount")); err != nil {
		return q, found, err
	}
	if query.Get("fee") != "" && query.Get("feeBy") != "input" {
		return q, found, errFee
	}
	if q, err = q.withFee(query.Get("fee"), 1.0/allBps, query.Get("feeReceiver"), sushiMostFee); err != nil {
		return q, found, err
	}
	found, err = s.floor.answer(r.Context(), q)
	return q, found, err
}

func sushiSlippageOf(query url.Values) float64 {
	slippage, err := strconv.ParseFloat(query.Get("maxSlippage"), 64)
	if err != nil {
		return sushiSlippage
	}
	return slippage
}

func (s *sushi) answer(q question, t trade) sushiAnswer {
	amountOut := less(t.amountOut, sushiFeeBps)
	price, _ := new(big.Rat).SetFrac(amountOut, q.amount).Float64()
	in, out := q.listing.tokens[q.in], q.listing.tokens[q.out]
	return sushiAnswer{
		Status: "Success", Tokens: []sushiToken{newSushiToken(q.in, in), newSushiToken(q.out, out)}, TokenTo: 1,
		SwapPrice: price, PriceImpact: 1 - out.worth(amountOut)/in.worth(q.amount),
		AmountIn: q.amount.String(), AssumedAmountOut: amountOut.String(), GasSpent: t.gas(),
	}
}

func newSushiToken(address common.Address, t Token) sushiToken {
	return sushiToken{Address: spell(address), Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals}
}

// sushiFail answers a pair without a route, or an unknown token, with the HTTP status 200.
func sushiFail(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errNoPath), errors.Is(err, errUnlisted):
		answer(w, http.StatusOK, map[string]string{"status": "NoWay"})
	case errors.Is(err, errNoChain):
		answer(w, http.StatusNotFound, newSushiProblem(http.StatusNotFound, "Not Found", "The requested resource was not found"))
	case errors.Is(err, errAmount), errors.Is(err, errFee), errors.Is(err, errSender):
		answer(w, http.StatusUnprocessableEntity, newSushiProblem(http.StatusUnprocessableEntity, "Validation Error", err.Error()))
	default:
		answer(w, http.StatusInternalServerError, newSushiProblem(http.StatusInternalServerError, "Internal Server Error", ""))
	}
}
