package venues

import (
	"cmp"
	"math/big"
	"net/http"
	"strings"
)

// zeroEx is the 0x Swap API v2 for the allowance holder.
var zeroEx = dialect{
	endpoints: endpoints{
		"GET /swap/allowance-holder/price": zeroExPrice,
		"GET /swap/allowance-holder/quote": zeroExQuote,
	},
	refusals: []refusal{
		{errNoRoute, http.StatusOK, nil, ""},
		{errUnauthorized, http.StatusUnauthorized, nil, "Unauthorized"},
		{errInvalid, http.StatusBadRequest, "INPUT_INVALID", ""},
		{nil, http.StatusInternalServerError, "INTERNAL_SERVER_ERROR", "An internal error occurred"},
	},
	problem: zeroExProblem,
	limited: object{"name": "TOO_MANY_REQUESTS", "message": "Rate limit exceeded"},
	call:    zeroExCall,
	routers: everywhere(zeroExRouter),
	key:     zeroExKey,
	keptBps: 15,
}

const (
	zeroExRouter      = "0x0000000000001fF3684f28c67538d4D072C22734"
	zeroExKey         = "sandbox"
	zeroExSlippageBps = 100
	zeroExMostFeeBps  = 1000
)

func zeroExPrice(r *request) (any, error) {
	q, body, err := zeroExPriced(r)
	if err != nil {
		return nil, err
	}
	body["gas"], body["gasPrice"] = q.gasText(), gasPriceText
	return body, nil
}

func zeroExQuote(r *request) (any, error) {
	q, body, err := zeroExPriced(r)
	if err != nil {
		return nil, err
	}
	if !isAddress(r.get("taker")) {
		return nil, invalid("taker is not an address")
	}
	body["transaction"] = object{
		"to": strings.ToLower(zeroExRouter), "data": q.calldata(cmp.Or(r.get("recipient"), r.get("taker"))),
		"value": q.value().String(), "gas": q.gasText(), "gasPrice": gasPriceText,
	}
	return body, nil
}

// zeroExPriced is the common part of price and quote.
func zeroExPriced(r *request) (quote, object, error) {
	if r.Header.Get("0x-Api-Key") != zeroExKey || r.Header.Get("0x-Version") != "v2" {
		return quote{}, nil, errUnauthorized
	}
	var mistake error
	if r.get("swapFeeBps") != "" && r.get("swapFeeToken") != r.get("sellToken") {
		mistake = errFee
	}
	q, err := r.quote(ask{
		chain: r.chainID("chainId"), in: r.get("sellToken"), out: r.get("buyToken"), amount: r.get("sellAmount"),
		fees: r.get("swapFeeBps"), feesTo: r.get("swapFeeRecipient"), bps: 1, mostBps: zeroExMostFeeBps,
		slippageBps: r.number("slippageBps", zeroExSlippageBps), mistake: mistake,
	})
	if err != nil {
		return quote{}, nil, err
	}
	body := object{
		"liquidityAvailable": true, "allowanceTarget": strings.ToLower(zeroExRouter),
		"sellToken": lowerHex(q.in.address), "sellAmount": q.amount.String(), "buyToken": lowerHex(q.out.address),
		"buyAmount": q.amountOut.String(), "minBuyAmount": q.least.String(),
		"fees": object{"zeroExFee": object{
			"amount": new(big.Int).Sub(q.gross, q.amountOut).String(),
			"token":  lowerHex(q.out.address), "type": "volume",
		}},
		"totalNetworkFee": q.gasCost().String(), "zid": "0x" + r.requestID()[:24],
	}
	if q.in.address == coin {
		body["allowanceTarget"] = nil
	}
	return q, body, nil
}

func zeroExProblem(_ *request, f refusal) any {
	switch f.cause {
	case errNoRoute:
		return object{"liquidityAvailable": false}
	case errUnauthorized:
		return object{"message": f.message}
	case errInvalid:
		return object{
			"name": f.code, "message": "The input is invalid", "data": object{"details": []string{f.message}},
		}
	}
	return object{"name": f.code, "message": f.message}
}
