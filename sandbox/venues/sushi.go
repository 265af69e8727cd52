package venues

import (
	"cmp"
	"math/big"
	"net/http"
	"strconv"
)

// sushi is the SushiSwap aggregator API v7.
var sushi = dialect{
	endpoints: endpoints{
		"GET /quote/v7/{chain}": sushiQuote,
		"GET /swap/v7/{chain}":  sushiSwap,
	},
	refusals: []refusal{
		{errNoRoute, http.StatusOK, "NoWay", ""}, // also for an unknown token
		{errNoChain, http.StatusNotFound, "Not Found", "The requested resource was not found"},
		{errInvalid, http.StatusUnprocessableEntity, "Validation Error", ""},
		{nil, http.StatusInternalServerError, "Internal Server Error", "internal error"},
	},
	problem: sushiProblem,
	limited: sushiProblem(nil, refusal{
		nil, http.StatusTooManyRequests, "Rate Limit Exceeded", "API key rate limit exceeded",
	}),
	call:    sushiCall,
	routers: everywhere(sushiRouter),
	keptBps: 2,
}

const (
	sushiRouter   = "0xAC4c6e212A361c968F1725b4d055b47E63F80b75"
	sushiSlippage = 0.005
)

func sushiQuote(r *request) (any, error) {
	_, body, err := sushiPrice(r)
	return body, err
}

func sushiSwap(r *request) (any, error) {
	q, body, err := sushiPrice(r)
	if err != nil {
		return nil, err
	}
	if !isAddress(r.get("sender")) {
		return nil, invalid("sender is not an address")
	}
	tx := object{
		"from": r.get("sender"), "to": sushiRouter, "gasPrice": gasPrice,
		"data": q.calldata(cmp.Or(r.get("recipient"), r.get("sender"))),
	}
	if q.in.address == coin {
		tx["value"] = q.value().String()
	}
	body["tx"] = tx
	return body, nil
}

// sushiPrice is the common part of quote and swap. It identifies the two tokens by their positions in the list.
func sushiPrice(r *request) (quote, object, error) {
	var mistake error
	if r.get("fee") != "" && r.get("feeBy") != "input" {
		mistake = errFee
	}
	q, err := r.quote(ask{
		chain: r.chainID("chain"), in: r.get("tokenIn"), out: r.get("tokenOut"), amount: r.get("amount"),
		fees: r.get("fee"), feesTo: r.get("feeReceiver"), bps: 1.0 / allBps, mostBps: allBps / 2,
		slippageBps: allBps * r.number("maxSlippage", sushiSlippage), mistake: mistake,
	})
	if err != nil {
		return quote{}, nil, err
	}
	price, _ := new(big.Rat).SetFrac(q.amountOut, q.amount).Float64()
	return q, object{
		"status": "Success", "tokens": []object{sushiToken(q.in), sushiToken(q.out)}, "tokenFrom": 0, "tokenTo": 1,
		"swapPrice": price, "priceImpact": 1 - q.out.usd(q.amountOut)/q.in.usd(q.amount),
		"amountIn": q.amount.String(), "assumedAmountOut": q.amountOut.String(), "gasSpent": q.gas(),
	}, nil
}

func sushiToken(t token) object {
	return object{"address": lowerHex(t.address), "symbol": t.Symbol, "name": t.Name, "decimals": t.Decimals}
}

func sushiProblem(_ *request, f refusal) any {
	if f.cause == errNoRoute {
		return object{"status": f.code}
	}
	return object{
		"type": "https://docs.sushi.com/api/errors", "title": f.code, "detail": f.message, "status": f.status,
		"code": strconv.Itoa(f.status) + "-01",
	}
}
