package venues

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// oneInch is the 1inch Classic Swap API v6.1.
var oneInch = dialect{
	endpoints: endpoints{
		"GET /swap/v6.1/{chain}/quote": oneInchQuote,
		"GET /swap/v6.1/{chain}/swap":  oneInchSwap,
	},
	refusals: []refusal{
		{errNoRoute, http.StatusBadRequest, nil, "insufficient liquidity"},
		{errUnauthorized, http.StatusUnauthorized, nil, "Invalid API key"},
		{errInvalid, http.StatusBadRequest, nil, ""},
		{nil, http.StatusInternalServerError, nil, "internal error"},
	},
	problem: oneInchProblem,
	limited: object{
		"statusCode": http.StatusTooManyRequests, "error": "Too Many Requests", "description": "", "requestId": "",
	},
	call:    oneInchCall,
	routers: everywhere(oneInchRouter),
	key:     oneInchKey,
	keptBps: 4,
}

const (
	oneInchRouter     = "0x111111125421cA6dc452d289314280a0f8842A65"
	oneInchKey        = "sandbox"
	oneInchMostFeeBps = 300
)

// oneInchQuote ignores the fee's receiver, so it passes any address.
func oneInchQuote(r *request) (any, error) {
	_, body, err := oneInchPrice(r, oneInchRouter, 0)
	return body, err
}

func oneInchSwap(r *request) (any, error) {
	slippage := r.number("slippage", -1)
	q, body, err := oneInchPrice(r, r.get("referrer"), max(slippage, 0))
	switch {
	case err != nil:
		return nil, err
	case slippage < 0 || slippage > 50:
		return nil, invalid("slippage must be a number from 0 to 50")
	case !isAddress(r.get("from")) || !isAddress(r.get("origin")):
		return nil, invalid("from and origin must be addresses")
	case r.get("disableEstimate") != "true":
		const words = "Not enough allowance. Amount: %s. Allowance: 0. Spender: %s"
		return nil, invalid(fmt.Sprintf(words, q.amount, oneInchRouter))
	}
	body["tx"] = object{
		"from": r.get("from"), "to": strings.ToLower(oneInchRouter), "value": q.value().String(),
		"data": q.calldata(cmp.Or(r.get("receiver"), r.get("from"))), "gasPrice": gasPriceText,
		"gas": 0, // the API's own estimate is off
	}
	return body, nil
}

// oneInchPrice is the common part of quote and swap. Fee and slippage are percentages.
func oneInchPrice(r *request, referrer string, slippage float64) (quote, object, error) {
	if r.Header.Get("Authorization") != "Bearer "+oneInchKey {
		return quote{}, nil, errUnauthorized
	}
	q, err := r.quote(ask{
		chain: r.chainID("chain"), in: r.get("src"), out: r.get("dst"), amount: r.get("amount"),
		fees: r.get("fee"), feesTo: referrer, bps: 0.01, mostBps: oneInchMostFeeBps, slippageBps: 100 * slippage,
	})
	if err != nil {
		return quote{}, nil, err
	}
	body := object{"dstAmount": q.amountOut.String()}
	if r.get("includeGas") == "true" {
		body["gas"] = q.gas()
	}
	return q, body, nil
}

func oneInchProblem(r *request, f refusal) any {
	return object{
		"statusCode": f.status, "error": http.StatusText(f.status), "description": f.message, "requestId": r.requestID(),
	}
}
