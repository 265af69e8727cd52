package venues

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// okx is the OKX DEX API v6 for exact input.
var okx = dialect{
	endpoints: endpoints{"GET " + okxPath: okxSwap},
	refusals: []refusal{ // most of them with HTTP status 200, as in the API
		{errUnlisted, http.StatusOK, "82104", "This token is not supported"},
		{errNoRoute, http.StatusOK, "82000", "Insufficient liquidity."},
		{errNoChain, http.StatusOK, "82105", "This chain is not supported"},
		{errInvalid, http.StatusOK, "51000", ""},
		{nil, http.StatusInternalServerError, "50000", "System error"},
	},
	problem: okxProblem,
	limited: okxProblem(nil, refusal{code: "50011", message: "Rate limit reached."}),
	call:    okxCall,
	routers: func(chain uint64) []string {
		if at, served := okxContracts[chain]; served {
			return at[:1]
		}
		return nil
	},
	approval: func(chain uint64) string { return okxContracts[chain][1] },
	key:      okxKey + ":" + okxSecret + ":" + okxPassphrase,
	keptBps:  6,
}

// The three parts of the API key.
const (
	okxKey        = "sandbox"
	okxSecret     = "secret"
	okxPassphrase = "passphrase"
)

const (
	okxPath       = "/api/v6/dex/aggregator/swap"
	okxMostFeeBps = 300

	// okxClock is how far the time of a signature may be from the clock.
	okxClock = 30 * time.Second
)

// okxContracts are a chain's router and the contract that users approve for it.
var okxContracts = map[uint64][2]string{
	1:    {"0x8feAB81D36E7576107D5dE0758c1b839Be31B4F6", "0x40aA958dd87FC8305b97f2BA922CDdCa374bcD7f"},
	137:  {"0x3C4829196BFadFF4394726b45159aeaAC6FCd41c", "0x3B86917369B83a6892f553609F3c2F439C184e31"},
	146:  {"0xd72f9Af181A0eB1B8550a00124ECdb71Bb758C89", "0xD321ab5589d3E8FA5Df985ccFEf625022E2DD910"},
	8453: {"0x67d03631FE51B741C0C00c4E16eb662AC84381df", "0x57df6092665eb6058DE53939612413ff4B09114E"},
}

func okxSwap(r *request) (any, error) {
	if err := okxAuthorize(r); err != nil {
		return nil, err
	}
	var mistake error
	if r.get("swapMode") != "exactIn" || !isAddress(r.get("userWalletAddress")) {
		mistake = invalid("Parameter swapMode or userWalletAddress error")
	}
	q, err := r.quote(ask{
		chain: r.chainID("chainIndex"), amount: r.get("amount"),
		in: r.get("fromTokenAddress"), out: r.get("toTokenAddress"),
		fees: r.get("feePercent"), feesTo: r.get("fromTokenReferrerWalletAddress"), bps: 0.01, mostBps: okxMostFeeBps,
		slippageBps: 100 * r.number("slippagePercent", -1), mistake: mistake,
	})
	if errors.Is(err, errSlippage) {
		return nil, invalid("Parameter slippagePercent error")
	}
	if err != nil {
		return nil, err
	}
	return object{"code": "0", "msg": "", "data": []object{{
		"routerResult": object{
			"chainIndex": r.get("chainIndex"), "estimateGasFee": q.gasText(), "tradeFee": q.gasUSD(),
			"fromToken": okxToken(q.in), "fromTokenAmount": q.amount.String(),
			"toToken": okxToken(q.out), "toTokenAmount": q.amountOut.String(),
		},
		"tx": object{
			"data": q.calldata(cmp.Or(r.get("swapReceiverAddress"), r.get("userWalletAddress"))),
			"from": r.get("userWalletAddress"), "to": okxContracts[q.chain.id][0], "value": q.value().String(),
			"gas": q.gasText(), "gasPrice": gasPriceText,
			"minReceiveAmount": q.least.String(), "slippagePercent": r.get("slippagePercent"),
		},
	}}}, nil
}

func okxToken(t token) object {
	return object{
		"decimal": strconv.Itoa(t.Decimals), "isHoneyPot": false, "taxRate": "0",
		"tokenContractAddress": lowerHex(t.address), "tokenSymbol": t.Symbol, "tokenUnitPrice": t.price(),
	}
}

// okxAuthorize verifies the signature over time, method, path and query.
func okxAuthorize(r *request) error {
	stamp := r.Header.Get("OK-ACCESS-TIMESTAMP")
	signed, err := time.Parse(time.RFC3339, stamp)
	if err != nil || signed.Sub(r.now()).Abs() > okxClock {
		return okxUnauthorized("50102", "Timestamp request expired")
	}
	mac := hmac.New(sha256.New, []byte(okxSecret))
	mac.Write([]byte(stamp + r.Method + okxPath + "?" + r.URL.RawQuery))
	signature, _ := base64.StdEncoding.DecodeString(r.Header.Get("OK-ACCESS-SIGN"))
	switch {
	case r.Header.Get("OK-ACCESS-KEY") != okxKey:
		return okxUnauthorized("50111", "Invalid OK-ACCESS-KEY")
	case r.Header.Get("OK-ACCESS-PASSPHRASE") != okxPassphrase:
		return okxUnauthorized("50105", "Request header OK-ACCESS-PASSPHRASE incorrect")
	case !hmac.Equal(signature, mac.Sum(nil)):
		return okxUnauthorized("50113", "Invalid signature")
	}
	return nil
}

func okxUnauthorized(code, message string) error {
	return refusal{nil, http.StatusUnauthorized, code, message}
}

func okxProblem(_ *request, f refusal) any {
	return object{"code": f.code, "data": []object{}, "msg": f.message}
}
