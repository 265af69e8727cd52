package venues

import (
	"errors"
	"math/big"
	"net/http"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
)

const (
	relayProxy  = "0x5567954cd026cebfe486062cb75848e0f1c12e58" // called with tokens, and approved
	relayRouter = "0x0729e2a4716d9f7dd17858d5d504426d228697f7" // called with the coin
	relayFeeBps = 3                                            // what it keeps of the outcome
)

// relay is Relay's quote API, version 2. Its native coin is the zero address.
type relay struct{ floor *floor }

func newRelay(f *floor) http.Handler {
	r := &relay{f}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /quote/v2", r.quote)
	return mux
}

type relayFailure struct {
	Message   string `json:"message"`
	ErrorCode string `json:"errorCode,omitempty"`
	RequestID string `json:"requestId,omitempty"`
}

type relayOrder struct {
	User                string `json:"user"`
	Recipient           string `json:"recipient"`
	OriginChainID       uint64 `json:"originChainId"`
	DestinationChainID  uint64 `json:"destinationChainId"`
	OriginCurrency      string `json:"originCurrency"`
	DestinationCurrency string `json:"destinationCurrency"`
	Amount              string `json:"amount"`
	TradeType           string `json:"tradeType"`
	SlippageTolerance   string `json:"slippageTolerance"` // bps
}

type relayAnswer struct {
	Steps   []relayStep  `json:"steps"`
	Details relayDetails `json:"details"`
}

type relayStep struct {
	ID          string      `json:"id"`
	Action      string      `json:"action"`
	Description string      `json:"description"`
	Kind        string      `json:"kind"`
	Items       []relayItem `json:"items"`
}

type relayItem struct {
	Status string  `json:"status"`
	Data   relayTx `json:"data"`
}

type relayTx struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Data    string `json:"data"`
	Value   string `json:"value"`
	ChainID uint64 `json:"chainId"`
	Gas     int64  `json:"gas,omitempty"`
}

type relayDetails struct {
	Operation    string      `json:"operation"`
	Sender       string      `json:"sender"`
	Recipient    string      `json:"recipient"`
	CurrencyIn   relayAmount `json:"currencyIn"`
	CurrencyOut  relayAmount `json:"currencyOut"`
	TimeEstimate int         `json:"timeEstimate"`
}

type relayAmount struct {
	Currency      relayCurrency `json:"currency"`
	Amount        string        `json:"amount"`
	AmountUSD     string        `json:"amountUsd"`
	MinimumAmount string        `json:"minimumAmount"`
}

type relayCurrency struct {
	ChainID  uint64 `json:"chainId"`
	Address  string `json:"address"`
	Symbol   string `json:"symbol"`
	Name     string `json:"name"`
	Decimals int    `json:"decimals"`
}

var errRelayOrder = errors.New("invalid request")

func (r *relay) quote(w http.ResponseWriter, request *http.Request) {
	var order relayOrder
	if err := readBody(w, request, &order); err != nil {
		relayFail(w, errRelayOrder)
		return
	}
	q, slippage, err := r.question(order)
	if err != nil {
		relayFail(w, err)
		return
	}
	found, err := r.floor.answer(request.Context(), q)
	if err != nil {
		relayFail(w, err)
		return
	}
	amountOut := less(found.amountOut, relayFeeBps)
	minimum := new(big.Int).Sub(amountOut, slippageOf(amountOut, slippage))
	c := r.floor.call(q, found, minimum, order.Recipient, relayFeeBps)
	data, err := c.encode()
	if err != nil {
		relayFail(w, err)
		return
	}
	swap := relayTx{From: order.User, To: relayProxy, Data: data, Value: c.value(), ChainID: order.OriginChainID, Gas: found.gas()}
	body := relayAnswer{Details: relayDetails{
		Operation: "swap", Sender: order.User, Recipient: order.Recipient, TimeEstimate: 2,
		CurrencyIn:  newRelayAmount(q, q.in, q.amount, q.amount),
		CurrencyOut: newRelayAmount(q, q.out, amountOut, minimum),
	}}
	if q.in == coin {
		swap.To = relayRouter
	} else {
		body.Steps = append(body.Steps, newRelayStep("approve", relayTx{
			From: order.User, To: order.OriginCurrency, Data: approval(relayProxy, q.amount), Value: "0", ChainID: order.OriginChainID,
		}))
	}
	body.Steps = append(body.Steps, newRelayStep("swap", swap))
	answer(w, http.StatusOK, body)
}

func (r *relay) question(order relayOrder) (q question, slippageBps float64, err error) {
	slippageBps, err = strconv.ParseFloat(order.SlippageTolerance, 64)
	if err != nil || order.TradeType != "EXACT_INPUT" || order.OriginChainID != order.DestinationChainID ||
		!isAddress(order.User) || !isAddress(order.Recipient) {
		return q, 0, errRelayOrder
	}
	q, err = r.floor.question(order.OriginChainID, order.OriginCurrency, order.DestinationCurrency, order.Amount)
	return q, slippageBps, err
}

func newRelayStep(id string, tx relayTx) relayStep {
	return relayStep{
		ID: id, Action: "Confirm transaction in your wallet", Description: id, Kind: "transaction",
		Items: []relayItem{{Status: "incomplete", Data: tx}},
	}
}

func newRelayAmount(q question, address common.Address, amount, minimum *big.Int) relayAmount {
	t := q.listing.tokens[address]
	return relayAmount{
		Currency: relayCurrency{q.listing.chain, address.Hex(), t.Symbol, t.Name, t.Decimals},
		Amount:   amount.String(), AmountUSD: usd(t.worth(amount)), MinimumAmount: minimum.String(),
	}
}

func relayFail(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errNoPath), errors.Is(err, errUnlisted):
		answer(w, http.StatusBadRequest, relayFailure{Message: "no routes found", ErrorCode: "NO_SWAP_ROUTES_FOUND"})
	case errors.Is(err, errNoChain), errors.Is(err, errAmount), errors.Is(err, errRelayOrder):
		answer(w, http.StatusBadRequest, relayFailure{Message: err.Error(), ErrorCode: "INVALID_INPUT"})
	default:
		answer(w, http.StatusInternalServerError, relayFailure{Message: "internal error", ErrorCode: "UNKNOWN_ERROR"})
	}
}
