package venues

import (
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

// Sunio is SUN.io, the only venue on TRON.
const Sunio = "sunio"

// sunio is SUN.io's API for routes. It builds no transactions.
var sunio = dialect{
	endpoints: endpoints{"GET /swap/router": sunioRouter},
	refusals: []refusal{
		{errNoRoute, http.StatusOK, 0, "SUCCESS"},
		{errInvalid, http.StatusOK, 1, ""},
		{nil, http.StatusInternalServerError, 1, "internal error"},
	},
	problem: sunioProblem,
	limited: sunioAnswer(http.StatusTooManyRequests, "too many requests", nil),
	// TCFNp179Lg46D16zKoumd4Poa2WFFdtqYj
	routers: only(tronID, "0x18ff186cb1973d4b29700f2aac6b1eec9e55ffbd"),
}

// sunioPairFeeBps is the fee of version 2 pools; version 3 pools have their own.
const sunioPairFeeBps = 30

func sunioRouter(r *request) (any, error) {
	var mistake error
	if !strings.Contains(r.get("typeList"), "SUNSWAP_V") {
		mistake = errNoRoute
	}
	q, err := r.quote(ask{
		chain: tronID, in: tronHex(r.get("fromToken")), out: tronHex(r.get("toToken")), amount: r.get("amountIn"),
		mistake: mistake,
	})
	if err != nil {
		return nil, err
	}
	return sunioAnswer(0, "SUCCESS", []object{sunioRoute(q)}), nil
}

// sunioAnswer returns the envelope of every answer; code zero means success.
func sunioAnswer(code any, message string, routes []object) object {
	return object{"code": code, "message": message, "data": routes}
}

// sunioRoute formats a route with amounts in whole tokens, and the coin's wrapping as a step of version 2.
func sunioRoute(q quote) object {
	var tokens, symbols, versions, fees, amounts []string
	add := func(at common.Address) token {
		listed := q.chain.tokens[at]
		tokens, symbols = append(tokens, tronText(at)), append(symbols, listed.Symbol)
		return listed
	}
	step := func(to common.Address, version, fee string, out *big.Int) {
		versions, fees, amounts = append(versions, version), append(fees, fee), append(amounts, add(to).whole(out))
	}
	add(q.in.address)
	if q.in.address == coin {
		step(q.chain.wrapped, "v2", "0", q.amount)
	}
	for _, hop := range q.hops {
		version, fee := "v2", "0"
		if hop.pool.feeBps != sunioPairFeeBps {
			version, fee = "v3", strconv.FormatInt(100*hop.pool.feeBps, 10) // hundredths of a basis point
		}
		step(hop.out, version, fee, hop.amountOut)
	}
	if q.out.address == coin {
		step(coin, "v2", "0", q.amountOut)
	}
	return object{
		"amountIn": q.in.whole(q.amount), "amountOut": q.out.whole(q.amountOut),
		"inUsd": q.in.usdText(q.amount), "outUsd": q.out.usdText(q.amountOut), "impact": "0", "fee": "0",
		"tokens": tokens, "symbols": symbols, "poolVersions": versions, "stepAmountsOut": amounts,
		"poolFees": append(fees, "0"), // the last 0 belongs to the last token
	}
}

// whole formats an amount in whole tokens, with all decimals.
func (t Token) whole(amount *big.Int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Decimals)), nil)
	return new(big.Rat).SetFrac(amount, scale).FloatString(t.Decimals)
}

func sunioProblem(_ *request, f refusal) any {
	if f.cause == errNoRoute {
		return sunioAnswer(f.code, f.message, []object{})
	}
	return sunioAnswer(f.code, f.message, nil)
}

// tronHex converts a TRON address to 0x hex and returns other texts unchanged.
func tronHex(text string) string {
	address, err := chain.ParseAddress(text, chain.TVM)
	if err != nil {
		return text
	}
	return common.BytesToAddress(address.Bytes()).Hex()
}

func tronText(a common.Address) string { return chain.NewAddress(a.Bytes()).Format(chain.TVM) }
