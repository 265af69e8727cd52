package venues

import (
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
)

const (
	lifiRouter   = "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE"
	lifiFeeBps   = 25 // what it keeps
	lifiSlippage = 0.005
)

// Error codes of the API.
const (
	lifiNoQuote    = 1002
	lifiRateLimit  = 1005
	lifiValidation = 1011
)

// lifi is LI.FI's quote API. Its native coin is the zero address.
type lifi struct{ floor *floor }

func newLifi(f *floor) http.Handler {
	l := &lifi{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/quote", l.quote)
	return mux
}

type lifiFailure struct {
	Message string     `json:"message"`
	Code    int        `json:"code"`
	Errors  []lifiTool `json:"errors,omitempty"`
}

// lifiTool is what one of the exchanges behind the API said.
type lifiTool struct {
	ErrorType string `json:"errorType"`
	Code      string `json:"code"`
	Tool      string `json:"tool"`
	Message   string `json:"message"`
}

type lifiAnswer struct {
	Type               string       `json:"type"`
	ID                 string       `json:"id"`
	Tool               string       `json:"tool"`
	Action             lifiAction   `json:"action"`
	Estimate           lifiEstimate `json:"estimate"`
	TransactionRequest lifiTx       `json:"transactionRequest"`
}

type lifiAction struct {
	FromToken   lifiToken `json:"fromToken"`
	FromAmount  string    `json:"fromAmount"`
	ToToken     lifiToken `json:"toToken"`
	FromChainID uint64    `json:"fromChainId"`
	ToChainID   uint64    `json:"toChainId"`
	Slippage    float64   `json:"slippage"`
	FromAddress string    `json:"fromAddress"`
	ToAddress   string    `json:"toAddress"`
}

type lifiToken struct {
	Address  string `json:"address"`
	ChainID  uint64 `json:"chainId"`
	Symbol   string `json:"symbol"`
	Decimals int    `json:"decimals"`
	Name     string `json:"name"`
	PriceUSD string `json:"priceUSD"`
}

type lifiEstimate struct {
	Tool              string  `json:"tool"`
	ApprovalAddress   string  `json:"approvalAddress"`
	ToAmountMin       string  `json:"toAmountMin"`
	ToAmount          string  `json:"toAmount"`
	FromAmount        string  `json:"fromAmount"`
	ExecutionDuration float64 `json:"executionDuration"`
	FromAmountUSD     string  `json:"fromAmountUSD"`
	ToAmountUSD       string  `json:"toAmountUSD"`
}

// lifiTx has its numbers in hex.
type lifiTx struct {
	Value    string `json:"value"`
	To       string `json:"to"`
	Data     string `json:"data"`
	ChainID  uint64 `json:"chainId"`
	GasPrice string `json:"gasPrice"`
	GasLimit string `json:"gasLimit"`
	From     string `json:"from"`
}

var errLifiRequest = errors.New("request is not valid")

func (l *lifi) quote(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	chain, _ := strconv.ParseUint(query.Get("fromChain"), 10, 64)
	q, err := l.floor.question(chain, query.Get("fromToken"), query.Get("toToken"), query.Get("fromAmount"))
	from, to := query.Get("fromAddress"), query.Get("toAddress")
	if to == "" {
		to = from
	}
	if query.Get("toChain") != query.Get("fromChain") || !isAddress(from) || !isAddress(to) || common.HexToAddress(from) == coin {
		err = errLifiRequest
	}
	var found trade
	if err == nil {
		found, err = l.floor.answer(r.Context(), q)
	}
	if err != nil {
		lifiFail(w, err)
		return
	}
	slippage, err := strconv.ParseFloat(query.Get("slippage"), 64)
	if err != nil {
		slippage = lifiSlippage
	}
	amountOut := less(found.amountOut, lifiFeeBps)
	minimum := new(big.Int).Sub(amountOut, slippageOf(amountOut, slippage*allBps))
	c := l.floor.call(q, found, minimum, to, lifiFeeBps)
	data, err := c.encode()
	if err != nil {
		lifiFail(w, err)
		return
	}
	value, _ := new(big.Int).SetString(c.value(), 10)
	in, out := q.listing.tokens[q.in], q.listing.tokens[q.out]
	answer(w, http.StatusOK, lifiAnswer{
		Type: "lifi", ID: requestID(r), Tool: "sandbox",
		Action: lifiAction{
			FromToken: newLifiToken(q, q.in), FromAmount: q.amount.String(), ToToken: newLifiToken(q, q.out),
			FromChainID: chain, ToChainID: chain, Slippage: slippage, FromAddress: from, ToAddress: to,
		},
		Estimate: lifiEstimate{
			Tool: "sandbox", ApprovalAddress: lifiRouter, ToAmountMin: minimum.String(), ToAmount: amountOut.String(), FromAmount: q.amount.String(),
			FromAmountUSD: usd(in.worth(q.amount)), ToAmountUSD: usd(out.worth(amountOut)),
		},
		TransactionRequest: lifiTx{
			Value: fmt.Sprintf("0x%x", value), To: lifiRouter, Data: data, ChainID: chain, From: from,
			GasPrice: fmt.Sprintf("0x%x", gasPrice), GasLimit: fmt.Sprintf("0x%x", found.gas()),
		},
	})
}

func newLifiToken(q question, address common.Address) lifiToken {
	t := q.listing.tokens[address]
	return lifiToken{
		Address: address.Hex(), ChainID: q.listing.chain, Symbol: t.Symbol, Decimals: t.Decimals, Name: t.Name,
		PriceUSD: strconv.FormatFloat(t.USD, 'f', -1, 64),
	}
}

func lifiFail(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errNoPath), errors.Is(err, errUnlisted):
		answer(w, http.StatusNotFound, lifiFailure{
			Message: "No available quotes for the requested transfer", Code: lifiNoQuote,
			Errors: []lifiTool{{"NO_QUOTE", "NO_POSSIBLE_ROUTE", "sandbox", "No route was found for this action."}},
		})
	case errors.Is(err, errNoChain), errors.Is(err, errAmount), errors.Is(err, errLifiRequest):
		answer(w, http.StatusBadRequest, lifiFailure{Message: err.Error(), Code: lifiValidation})
	default:
		answer(w, http.StatusInternalServerError, lifiFailure{Message: "Internal error"})
	}
}
