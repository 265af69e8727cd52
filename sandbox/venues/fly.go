package venues

import (
	"net/http"

	"github.com/ethereum/go-ethereum/common"
)

// fly is Fly's API, which returns price and transaction together. Its native coin is the zero address. Real calldata
// packs most arguments in an unpublished form; the sandbox has its own.
var fly = dialect{
	endpoints: endpoints{"GET /aggregator/quote/transaction": flyQuote},
	refusals: []refusal{
		{errInvalid, http.StatusBadRequest, nil, ""},
		{errNoRoute, http.StatusNotFound, nil, "No route found"},
		{nil, http.StatusInternalServerError, nil, "Internal error"},
	},
	problem: func(_ *request, f refusal) any { return object{"message": f.message, "code": f.status} },
	limited: object{"message": "Too many requests", "code": http.StatusTooManyRequests},
	call:    RouterOrder.Calldata,
	routers: everywhere(flyRouter),
}

const flyRouter = "0x20f6ee51340adeed01a59b0e65cb3703f3dc860c"

// flyNetworks are chain IDs by the API's names.
var flyNetworks = map[string]uint64{
	"ethereum": 1, "optimism": 10, "bsc": 56, "polygon": 137, "monad": 143, "sonic": 146, "hyperevm": 999, "base": 8453,
	"arbitrum": 42161, "avalanche": 43114, "berachain": 80094,
}

func flyQuote(r *request) (any, error) {
	from, to, slippage := r.get("fromAddress"), r.get("toAddress"), r.number("slippage", -1)
	if !isAddress(from) || !isAddress(to) || common.HexToAddress(from) == coin || r.get("gasless") != "false" {
		return nil, invalid("request is not valid")
	}
	q, err := r.quote(ask{
		chain: flyNetworks[r.get("network")], in: r.get("fromTokenAddress"), out: r.get("toTokenAddress"),
		amount: r.get("sellAmount"), slippageBps: allBps * slippage,
	})
	if err != nil {
		return nil, err
	}
	return object{
		"quote": object{
			"id": r.requestID(), "amountOut": q.amountOut.String(), "targetAddress": flyRouter, "fees": []object{},
			"resourceEstimate": object{"gasLimit": q.gasText()},
			"typedData":        object{"message": object{"amountOutMin": q.least.String()}},
		},
		"transaction": object{
			"from": from, "to": flyRouter, "data": q.calldata(to), "value": q.value().String(), "chainId": q.chain.id,
			"type": 2, "gasLimit": q.gasText(),
		},
	}, nil
}
