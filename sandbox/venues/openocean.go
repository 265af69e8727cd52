package venues

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
)

// openOcean is the OpenOcean API v4.
var openOcean = dialect{
	endpoints: endpoints{
		"GET /v4/{chain}/quote": openOceanQuote,
		"GET /v4/{chain}/swap":  openOceanSwap,
	},
	// Most refusals have HTTP status 200 and another code in the body. Code 200 with null data means a pair without a
	// route.
	refusals: []refusal{
		{errInvalid, http.StatusOK, http.StatusBadRequest, ""},
		{errUnlisted, http.StatusOK, http.StatusBadRequest, ""},
		{errNoRoute, http.StatusOK, http.StatusOK, ""},
		{nil, http.StatusInternalServerError, http.StatusInternalServerError, "internal error"},
	},
	problem: openOceanProblem,
	limited: object{"code": http.StatusTooManyRequests, "data": nil, "error": "too many requests"},
	call:    openOceanCall,
	routers: everywhere(openOceanRouter),
	keptBps: 5,
}

const (
	openOceanRouter = "0x6352a56caadC4F1E25CD6c75970Fa768A3304e64"

	// In percent.
	openOceanSlippage      = 1.0
	openOceanLeastSlippage = 0.05
	openOceanMostSlippage  = 50.0
)

// openOceanChains are chain IDs by the API's names; the API accepts the IDs too.
var openOceanChains = map[string]uint64{"ethereum": 1, "polygon": 137, "base": 8453, "sonic": 146}

func openOceanQuote(r *request) (any, error) {
	_, body, err := openOceanPrice(r)
	return openOceanAnswer(body), err
}

// openOceanSwap includes calldata only if the request has an account.
func openOceanSwap(r *request) (any, error) {
	q, body, err := openOceanPrice(r)
	if err != nil {
		return nil, err
	}
	body["minOutAmount"], body["gasPrice"], body["chainId"] = q.least.String(), r.get("gasPriceDecimals"), q.chain.id
	if account := r.get("account"); account != "" {
		sender := cmp.Or(r.get("sender"), account)
		if !isAddress(account) || !isAddress(sender) {
			return nil, invalid("account or sender is not an address")
		}
		body["from"], body["to"] = sender, openOceanRouter
		body["data"], body["value"] = q.calldata(account), q.value().String()
	}
	return openOceanAnswer(body), nil
}

// openOceanPrice is the common part of quote and swap.
func openOceanPrice(r *request) (quote, object, error) {
	if _, valid := parseAmount(r.get("gasPriceDecimals")); !valid {
		return quote{}, nil, invalid("gasPriceDecimals is required")
	}
	chain, named := openOceanChains[strings.ToLower(r.get("chain"))]
	if !named {
		chain = r.chainID("chain")
	}
	slippage := r.number("slippage", -1)
	if r.get("slippage") == "" {
		slippage = openOceanSlippage
	}
	if slippage < openOceanLeastSlippage || slippage > openOceanMostSlippage {
		return quote{}, nil, errSlippage
	}
	q, err := r.quote(ask{
		chain: chain, in: r.get("inTokenAddress"), out: r.get("outTokenAddress"), amount: r.get("amountDecimals"),
		slippageBps: 100 * slippage,
	})
	if err != nil {
		return quote{}, nil, err
	}
	paid := q.in.usd(q.amount)
	return q, object{
		"inToken": openOceanToken(q.in, paid), "outToken": openOceanToken(q.out, q.out.usd(q.amountOut)),
		"inAmount": q.amount.String(), "outAmount": q.amountOut.String(), "estimatedGas": q.gas(),
		"price_impact": strconv.FormatFloat(100*(paid-q.out.usd(q.amountOut))/paid, 'f', 2, 64) + "%",
	}, nil
}

func openOceanToken(t token, volume float64) object {
	return object{
		"address": lowerHex(t.address), "decimals": t.Decimals, "symbol": t.Symbol, "name": t.Name,
		"usd": t.price(), "volume": volume,
	}
}

func openOceanAnswer(data object) object { return object{"code": http.StatusOK, "data": data} }

func openOceanProblem(_ *request, f refusal) any {
	if f.cause == errNoRoute {
		return openOceanAnswer(nil)
	}
	return object{"code": f.code, "data": nil, "error": f.message}
}
