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
	zeroExRouter   = "0x0000000000001fF3684f28c67538d4D072C22734"
	zeroExKey      = "sandbox"
	zeroExFeeBps   = 15 // what it keeps of the outcome
	zeroExSlippage = 100
	zeroExMostFee  = 1000 // bps
)

// zeroEx is the 0x Swap API v2 for the allowance holder.
type zeroEx struct{ floor *floor }

func newZeroEx(f *floor) http.Handler {
	z := &zeroEx{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /swap/allowance-holder/price", z.price)
	mux.HandleFunc("GET /swap/allowance-holder/quote", z.quote)
	return mux
}

type zeroExFailure struct {
	Name    string         `json:"name"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data,omitempty"`
}

// zeroExNothing is the whole answer about a pair without liquidity.
type zeroExNothing struct {
	LiquidityAvailable bool `json:"liquidityAvailable"`
}

type zeroExAnswer struct {
	LiquidityAvailable bool       `json:"liquidityAvailable"`
	AllowanceTarget    *string    `json:"allowanceTarget"`
	SellToken          string     `json:"sellToken"`
	BuyToken           string     `json:"buyToken"`
	SellAmount         string     `json:"sellAmount"`
	BuyAmount          string     `json:"buyAmount"`
	MinBuyAmount       string     `json:"minBuyAmount"`
	Fees               zeroExFees `json:"fees"`
	Gas                string     `json:"gas,omitempty"`
	GasPrice           string     `json:"gasPrice,omitempty"`
	TotalNetworkFee    string     `json:"totalNetworkFee"`
	Transaction        *zeroExTx  `json:"transaction,omitempty"`
	ZID                string     `json:"zid"`
}

type zeroExFees struct {
	ZeroExFee zeroExFee `json:"zeroExFee"`
}

type zeroExFee struct {
	Amount string `json:"amount"`
	Token  string `json:"token"`
	Type   string `json:"type"`
}

type zeroExTx struct {
	To       string `json:"to"`
	Data     string `json:"data"`
	Gas      string `json:"gas"`
	GasPrice string `json:"gasPrice"`
	Value    string `json:"value"`
}

func (z *zeroEx) price(w http.ResponseWriter, r *http.Request) {
	q, found, err := z.priced(r)
	if err != nil {
		zeroExFail(w, err)
		return
	}
	body := z.answer(r, q, found)
	body.Gas, body.GasPrice = strconv.FormatInt(found.gas(), 10), strconv.Itoa(gasPrice)
	answer(w, http.StatusOK, body)
}

func (z *zeroEx) quote(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	q, found, err := z.priced(r)
	if err == nil && !isAddress(query.Get("taker")) {
		err = errTaker
	}
	if err != nil {
		zeroExFail(w, err)
		return
	}
	recipient := cmp.Or(query.Get("recipient"), query.Get("taker"))
	body := z.answer(r, q, found)
	minimum, _ := parseAmount(body.MinBuyAmount)
	c := z.floor.call(q, found, minimum, recipient, zeroExFeeBps)
	data, err := c.encode()
	if err != nil {
		zeroExFail(w, err)
		return
	}
	body.Transaction = &zeroExTx{
		To: strings.ToLower(zeroExRouter), Data: data, Value: c.value(),
		Gas: strconv.FormatInt(found.gas(), 10), GasPrice: strconv.Itoa(gasPrice),
	}
	answer(w, http.StatusOK, body)
}

var (
	errTaker     = errors.New("taker is not an address")
	errZeroExKey = errors.New("no API key")
)

func (z *zeroEx) priced(r *http.Request) (q question, found trade, err error) {
	if r.Header.Get("0x-Api-Key") != zeroExKey || r.Header.Get("0x-Version") != "v2" {
		return q, found, errZeroExKey
	}
	query := r.URL.Query()
	chain, _ := strconv.ParseUint(query.Get("chainId"), 10, 64)
	if q, err = z.floor.question(chain, query.Get("sellToken"), query.Get("buyToken"), query.Get("sellAmount")); err != nil {
		return q, found, err
	}
	if query.Get("swapFeeBps") != "" && query.Get("swapFeeToken") != query.Get("sellToken") {
		return q, found, errFee
	}
	if q, err = q.withFees(query.Get("swapFeeBps"), query.Get("swapFeeRecipient"), zeroExMostFee); err != nil {
		return q, found, err
	}
	found, err = z.floor.answer(r.Context(), q)
	return q, found, err
}

func (z *zeroEx) answer(r *http.Request, q question, t trade) zeroExAnswer {
	slippage, err := strconv.ParseFloat(r.URL.Query().Get("slippageBps"), 64)
	if err != nil {
		slippage = zeroExSlippage
	}
	amountOut := less(t.amountOut, zeroExFeeBps)
	body := zeroExAnswer{
		LiquidityAvailable: true, SellToken: spell(q.in), BuyToken: spell(q.out), SellAmount: q.amount.String(),
		BuyAmount: amountOut.String(), MinBuyAmount: new(big.Int).Sub(amountOut, slippageOf(amountOut, slippage)).String(),
		Fees:            zeroExFees{zeroExFee{new(big.Int).Sub(t.amountOut, amountOut).String(), spell(q.out), "volume"}},
		TotalNetworkFee: strconv.FormatInt(t.gas()*gasPrice, 10), ZID: "0x" + requestID(r)[:24],
	}
	if q.in != coin {
		target := strings.ToLower(zeroExRouter)
		body.AllowanceTarget = &target
	}
	return body
}

func zeroExFail(w http.ResponseWriter, err error) {
	invalid := zeroExFailure{Name: "INPUT_INVALID", Message: "The input is invalid", Data: map[string]any{"details": []string{err.Error()}}}
	switch {
	case errors.Is(err, errNoPath), errors.Is(err, errUnlisted):
		answer(w, http.StatusOK, zeroExNothing{})
	case errors.Is(err, errZeroExKey):
		answer(w, http.StatusUnauthorized, map[string]string{"message": "Unauthorized"})
	case errors.Is(err, errNoChain), errors.Is(err, errAmount), errors.Is(err, errFee), errors.Is(err, errTaker):
		answer(w, http.StatusBadRequest, invalid)
	default:
		answer(w, http.StatusInternalServerError, zeroExFailure{Name: "INTERNAL_SERVER_ERROR", Message: "An internal error occurred"})
	}
}
