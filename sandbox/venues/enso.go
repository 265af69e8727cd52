package venues

import (
	"cmp"
	"errors"
	"math/big"
	"net/http"
)

// enso is Enso's API for a single route.
var enso = dialect{
	endpoints: endpoints{"GET /api/v1/shortcuts/route": ensoRoute},
	refusals: []refusal{
		{errNoRoute, http.StatusBadRequest, nil, "Could not find a route for the given tokens"},
		{errUnauthorized, http.StatusUnauthorized, nil, "Invalid API key"},
		{errInvalid, http.StatusBadRequest, nil, ""},
		{nil, http.StatusInternalServerError, nil, "internal error"},
	},
	problem: ensoProblem,
	limited: object{
		"message": "ThrottlerException: Too Many Requests", "error": "", "statusCode": http.StatusTooManyRequests,
	},
	call:    ensoCall,
	routers: everywhere(ensoRouter),
	key:     ensoKey,
	keptBps: 7,
}

const (
	ensoRouter     = "0xF75584eF6673aD213a685a1B58Cc0330B8eA22Cf"
	ensoKey        = "sandbox"
	ensoMostFeeBps = 100
)

func ensoRoute(r *request) (any, error) {
	switch {
	case r.Header.Get("Authorization") != "Bearer "+ensoKey:
		return nil, errUnauthorized
	case r.get("routingStrategy") != "router":
		return nil, invalid("routingStrategy is not served")
	case !isAddress(r.get("fromAddress")):
		return nil, invalid("fromAddress must be an Ethereum address")
	}
	q, err := r.quote(ask{
		chain: r.chainID("chainId"), in: r.get("tokenIn"), out: r.get("tokenOut"), amount: r.get("amountIn"),
		fees: r.get("fee"), feesTo: r.get("feeReceiver"), bps: 1, mostBps: ensoMostFeeBps,
		slippageBps: r.number("slippage", -1),
	})
	if errors.Is(err, errSlippage) {
		return nil, invalid("slippage must be a number of basis points")
	}
	if err != nil {
		return nil, err
	}
	hops := []object{}
	for _, step := range q.hops {
		hops = append(hops, object{
			"action": "swap", "protocol": "sandbox-v2",
			"tokenIn": []string{lowerHex(step.in)}, "tokenOut": []string{lowerHex(step.out)},
		})
	}
	fee := new(big.Int).Sub(q.amount, lessShares(q.amount, q.shares))
	return object{
		"amountOut": q.amountOut.String(), "minAmountOut": q.least.String(), "gas": q.gasText(),
		"priceImpact": nil, "feeAmount": []string{fee.String()}, "createdAt": r.now().Unix(), "route": hops,
		"tx": object{
			"to": ensoRouter, "from": r.get("fromAddress"), "value": q.value().String(),
			"data": q.calldata(cmp.Or(r.get("receiver"), r.get("fromAddress"))),
		},
	}, nil
}

func ensoProblem(r *request, f refusal) any {
	return object{
		"message": f.message, "error": http.StatusText(f.status), "statusCode": f.status, "requestId": r.requestID(),
	}
}
