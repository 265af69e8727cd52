package venues

import (
	"math/big"
	"net/http"
	"strconv"
)

// relay is Relay's quote API, version 2. Its native coin is the zero address.
var relay = dialect{
	endpoints: endpoints{"POST /quote/v2": relayQuote},
	refusals: []refusal{
		{errNoRoute, http.StatusBadRequest, "NO_SWAP_ROUTES_FOUND", "no routes found"},
		{errInvalid, http.StatusBadRequest, "INVALID_INPUT", ""},
		{nil, http.StatusInternalServerError, "UNKNOWN_ERROR", "internal error"},
	},
	problem: func(_ *request, f refusal) any { return object{"message": f.message, "errorCode": f.code} },
	limited: object{"message": "Too many requests"},
	call:    relayCall,
	routers: everywhere(relayProxy, relayRouter),
}

const (
	relayProxy  = "0x5567954cd026cebfe486062cb75848e0f1c12e58" // called and approved for token inputs
	relayRouter = "0x0729e2a4716d9f7dd17858d5d504426d228697f7" // called for coin inputs
)

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

func relayQuote(r *request) (any, error) {
	var order relayOrder
	unread := r.decode(&order)
	slippage, err := strconv.ParseFloat(order.SlippageTolerance, 64)
	if unread != nil || err != nil || order.TradeType != "EXACT_INPUT" ||
		order.OriginChainID != order.DestinationChainID || !isAddress(order.User) || !isAddress(order.Recipient) {
		return nil, invalid("invalid request")
	}
	q, err := r.quote(ask{
		chain: order.OriginChainID, in: order.OriginCurrency, out: order.DestinationCurrency, amount: order.Amount,
		slippageBps: slippage,
	})
	if err != nil {
		return nil, err
	}
	steps, called := []object{}, relayRouter
	if q.in.address != coin {
		called = relayProxy
		steps = append(steps, relayStep("approve", object{
			"from": order.User, "to": order.OriginCurrency, "data": approval(relayProxy, q.amount), "value": "0",
			"chainId": order.OriginChainID,
		}))
	}
	steps = append(steps, relayStep("swap", object{
		"from": order.User, "to": called, "data": q.calldata(order.Recipient), "value": q.value().String(),
		"chainId": order.OriginChainID, "gas": q.gas(),
	}))
	return object{"steps": steps, "details": object{
		"operation": "swap", "sender": order.User, "recipient": order.Recipient, "timeEstimate": 2,
		"currencyIn":  relayAmount(q.in, q.amount, q.amount),
		"currencyOut": relayAmount(q.out, q.amountOut, q.least),
	}}, nil
}

func relayStep(id string, tx object) object {
	return object{
		"id": id, "action": "Confirm transaction in your wallet", "description": id, "kind": "transaction",
		"items": []object{{"status": "incomplete", "data": tx}},
	}
}

func relayAmount(t token, amount, minimum *big.Int) object {
	return object{
		"currency": object{
			"chainId": t.Chain, "address": t.address.Hex(), "symbol": t.Symbol, "name": t.Name, "decimals": t.Decimals,
		},
		"amount": amount.String(), "amountUsd": t.usdText(amount), "minimumAmount": minimum.String(),
	}
}
