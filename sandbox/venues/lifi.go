package venues

import (
	"cmp"
	"math/big"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// lifi is LI.FI's quote API. Its native coin is the zero address.
var lifi = dialect{
	endpoints: endpoints{"GET /v1/quote": lifiQuote},
	refusals: []refusal{
		{errNoRoute, http.StatusNotFound, 1002, "No available quotes for the requested transfer"},
		{errInvalid, http.StatusBadRequest, 1011, ""},
		{nil, http.StatusInternalServerError, 0, "Internal error"},
	},
	problem: lifiProblem,
	limited: object{"message": "Rate limit exceeded", "code": 1005},
	call:    lifiCall,
	routers: everywhere(lifiRouter),
	keptBps: 25,
}

const (
	lifiRouter   = "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE"
	lifiSlippage = 0.005
)

func lifiQuote(r *request) (any, error) {
	from, slippage := r.get("fromAddress"), r.number("slippage", lifiSlippage)
	to := cmp.Or(r.get("toAddress"), from)
	if r.get("toChain") != r.get("fromChain") ||
		!isAddress(from) || !isAddress(to) || common.HexToAddress(from) == coin {
		return nil, invalid("request is not valid")
	}
	q, err := r.quote(ask{
		chain: r.chainID("fromChain"), in: r.get("fromToken"), out: r.get("toToken"), amount: r.get("fromAmount"),
		slippageBps: allBps * slippage,
	})
	if err != nil {
		return nil, err
	}
	return object{
		"type": "lifi", "id": r.requestID(), "tool": "sandbox",
		"action": object{
			"fromToken": lifiToken(q.in), "fromChainId": q.chain.id, "fromAddress": from,
			"toToken": lifiToken(q.out), "toChainId": q.chain.id, "toAddress": to,
			"fromAmount": q.amount.String(), "slippage": slippage,
		},
		"estimate": object{
			"tool": "sandbox", "approvalAddress": lifiRouter, "executionDuration": 0,
			"fromAmount": q.amount.String(), "toAmount": q.amountOut.String(), "toAmountMin": q.least.String(),
			"fromAmountUSD": q.in.usdText(q.amount), "toAmountUSD": q.out.usdText(q.amountOut),
		},
		"transactionRequest": object{ // with numbers in hex
			"from": from, "to": lifiRouter, "chainId": q.chain.id,
			"data": q.calldata(to), "value": hexutil.EncodeBig(q.value()),
			"gasPrice": hexutil.EncodeBig(big.NewInt(gasPrice)), "gasLimit": hexutil.EncodeUint64(uint64(q.gas())),
		},
	}, nil
}

func lifiToken(t token) object {
	return object{
		"address": t.address.Hex(), "chainId": t.Chain, "symbol": t.Symbol, "decimals": t.Decimals, "name": t.Name,
		"priceUSD": t.price(),
	}
}

func lifiProblem(_ *request, f refusal) any {
	body := object{"message": f.message, "code": f.code}
	if f.cause == errNoRoute { // the error of an exchange behind the API
		body["errors"] = []object{{
			"errorType": "NO_QUOTE", "code": "NO_POSSIBLE_ROUTE", "tool": "sandbox",
			"message": "No route was found for this action.",
		}}
	}
	return body
}
