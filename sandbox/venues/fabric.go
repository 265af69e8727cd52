package venues

import (
	"net/http"

	"github.com/ethereum/go-ethereum/common"
)

// fabric is Fabric's API, which returns price and transaction together. Its native coin is the zero address. The
// calldata is the sandbox's own.
var fabric = dialect{
	endpoints: endpoints{"GET /v1/quote": fabricQuote},
	refusals: []refusal{
		{errInvalid, http.StatusBadRequest, nil, ""},
		{errNoRoute, http.StatusNotFound, nil, "No route found"},
		{nil, http.StatusInternalServerError, nil, "Internal error"},
	},
	problem: func(_ *request, f refusal) any { return object{"message": f.message} },
	limited: object{"message": "Too many requests"},
	call:    RouterOrder.Calldata,
	routers: fabricRouters,
}

const (
	fabricBaseRouter     = "0x7c137a37742437d2212b7bd873ed135b5c4c61da"
	fabricArbitrumRouter = "0x3a7f029e3ad003ab5aa78ccf101b1b543eaed6f9"
)

func fabricRouters(chain uint64) []string {
	switch chain {
	case 8453:
		return []string{fabricBaseRouter}
	case 42161:
		return []string{fabricArbitrumRouter}
	}
	return nil
}

func fabricQuote(r *request) (any, error) {
	receiver := r.get("receiver")
	if r.Header.Get("X-App-Id") == "" || !isAddress(receiver) || common.HexToAddress(receiver) == coin {
		return nil, invalid("request is not valid")
	}
	q, err := r.quote(ask{
		chain: r.chainID("chainId"), in: r.get("sellToken"), out: r.get("buyToken"), amount: r.get("sellAmount"),
		slippageBps: r.number("slippageBps", -1),
	})
	if err != nil {
		return nil, err
	}
	router := fabricRouters(q.chain.id)[0]
	var approval any
	if q.value().Sign() == 0 {
		approval = object{"token": r.get("sellToken"), "amount": q.amount.String(), "spender": router}
	}
	return object{
		"blockNumber": 1, "amountIn": q.amount.String(), "amountOut": q.amountOut.String(), "minimumAmountOut": q.least.String(),
		"tokens": []object{}, "route": object{"swaps": [][]object{}}, "approval": approval, "fees": []object{}, "id": r.requestID(),
		"transaction": object{"to": router, "data": q.calldata(receiver), "value": q.value().String()},
	}, nil
}
