package venues

import (
	"errors"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

// Sunio is SUN.io, which swaps on TRON, and nobody else does.
const Sunio = "sunio"

const (
	tronNative  = 728126428
	sunioRouter = "0x18ff186cb1973d4b29700f2aac6b1eec9e55ffbd" // TCFNp179Lg46D16zKoumd4Poa2WFFdtqYj

	// sunioPairFeeBps is what pools of version 2 keep; those of version 3 have their own.
	sunioPairFeeBps = 30
)

// sunio is SUN.io's API for routes. It makes no transactions.
type sunio struct{ floor *floor }

func newSunio(f *floor) http.Handler {
	s := &sunio{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /swap/router", s.router)
	return mux
}

type sunioAnswer struct {
	Code    int          `json:"code"` // 0 is success
	Message string       `json:"message"`
	Data    []sunioRoute `json:"data"`
}

// sunioRoute has its amounts in whole tokens.
type sunioRoute struct {
	AmountIn       string   `json:"amountIn"`
	AmountOut      string   `json:"amountOut"`
	InUSD          string   `json:"inUsd"`
	OutUSD         string   `json:"outUsd"`
	Impact         string   `json:"impact"`
	Fee            string   `json:"fee"`
	Tokens         []string `json:"tokens"`
	Symbols        []string `json:"symbols"`
	PoolFees       []string `json:"poolFees"` // a last 0 stands for the last token
	PoolVersions   []string `json:"poolVersions"`
	StepAmountsOut []string `json:"stepAmountsOut"`
}

func (s *sunio) router(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	q, err := s.floor.question(tronNative, tronHex(query.Get("fromToken")), tronHex(query.Get("toToken")), query.Get("amountIn"))
	var found trade
	if err == nil && !strings.Contains(query.Get("typeList"), "SUNSWAP_V") {
		err = errNoPath
	}
	if err == nil {
		found, err = s.floor.answer(r.Context(), q)
	}
	switch {
	case errors.Is(err, errNoPath), errors.Is(err, errUnlisted):
		answer(w, http.StatusOK, sunioAnswer{Message: "SUCCESS", Data: []sunioRoute{}})
	case errors.Is(err, errAmount), errors.Is(err, errNoChain):
		answer(w, http.StatusOK, sunioAnswer{Code: 1, Message: err.Error()})
	case err != nil:
		answer(w, http.StatusInternalServerError, sunioAnswer{Code: 1, Message: "internal error"})
	default:
		answer(w, http.StatusOK, sunioAnswer{Message: "SUCCESS", Data: []sunioRoute{newSunioRoute(q, found)}})
	}
}

// newSunioRoute writes a trade with the coin's wrapping as a step of version 2.
func newSunioRoute(q question, t trade) sunioRoute {
	tokenIn, tokenOut := q.listing.tokens[q.in], q.listing.tokens[q.out]
	route := sunioRoute{
		AmountIn: tokenIn.decimal(q.amount), AmountOut: tokenOut.decimal(t.amountOut),
		InUSD: usd(tokenIn.worth(q.amount)), OutUSD: usd(tokenOut.worth(t.amountOut)), Impact: "0", Fee: "0",
	}
	add := func(token common.Address, version, fee string, out *big.Int) {
		listed := q.listing.tokens[token]
		route.Tokens, route.Symbols = append(route.Tokens, tronText(token)), append(route.Symbols, listed.Symbol)
		if version != "" {
			route.PoolVersions, route.PoolFees = append(route.PoolVersions, version), append(route.PoolFees, fee)
			route.StepAmountsOut = append(route.StepAmountsOut, listed.decimal(out))
		}
	}
	add(q.in, "", "", nil)
	if q.in == coin {
		add(q.listing.wrapped, "v2", "0", q.amount)
	}
	for _, step := range t.hops {
		version, fee := "v2", "0"
		if step.pool.feeBps != sunioPairFeeBps {
			version, fee = "v3", strconv.FormatInt(100*step.pool.feeBps, 10) // in hundredths of a basis point
		}
		add(step.out, version, fee, step.amountOut)
	}
	if q.out == coin {
		add(coin, "v2", "0", t.amountOut)
	}
	route.PoolFees = append(route.PoolFees, "0")
	return route
}

// decimal writes an amount in whole tokens, with all decimals.
func (t Token) decimal(amount *big.Int) string {
	digits := amount.String()
	if missing := t.Decimals + 1 - len(digits); missing > 0 {
		digits = string(slices.Repeat([]byte{'0'}, missing)) + digits
	}
	point := len(digits) - t.Decimals
	if point == len(digits) {
		return digits
	}
	return digits[:point] + "." + digits[point:]
}

// tronHex is an address of TRON in 0x hex; what is none stays as it is.
func tronHex(text string) string {
	address, err := chain.ParseAddress(text, chain.TVM)
	if err != nil {
		return text
	}
	return common.BytesToAddress(address.Bytes()).Hex()
}

func tronText(a common.Address) string { return chain.NewAddress(a.Bytes()).Format(chain.TVM) }
