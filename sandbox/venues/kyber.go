package venues

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// kyber is the KyberSwap Aggregator API v1.
var kyber = dialect{
	endpoints: endpoints{
		"GET /{chain}/api/v1/routes":       kyberRoutes,
		"POST /{chain}/api/v1/route/build": kyberBuild,
	},
	refusals: []refusal{
		{errNoChain, http.StatusNotFound, nil, ""},
		{errTooLarge, http.StatusBadRequest, 4009, "amountIn is greater than max allowed"},
		{errUnlisted, http.StatusBadRequest, 4011, "token not found"},
		{errNoRoute, http.StatusBadRequest, 4008, "route not found"},
		{nil, http.StatusInternalServerError, http.StatusInternalServerError, "internal server error"},
	},
	problem: kyberProblem,
	limited: object{"status": http.StatusTooManyRequests, "message": "too many requests"},
	call:    kyberCall,
	routers: everywhere(kyberRouter),
}

const (
	kyberRouter      = "0x6131B5fae19EA4f9D964eAc0408E4408b66337b5"
	kyberSlippageCap = 2000 // bps; above it a request must confirm its slippage
)

// kyberChains are chain IDs by the API's names.
var kyberChains = map[string]uint64{"ethereum": 1, "polygon": 137, "base": 8453, "sonic": 146}

// Error codes of the API, in addition to those of its refusals.
const (
	kyberBadRequest = 4000
	kyberBadBody    = 4002
	kyberFeeAboveIn = 4005
	kyberMoved      = 4222
)

// kyberFee is the extra fee. The sandbox's router can take only shares of the input, in basis points.
type kyberFee struct {
	FeeAmount   string `json:"feeAmount"`
	ChargeFeeBy string `json:"chargeFeeBy"`
	IsInBps     bool   `json:"isInBps"`
	FeeReceiver string `json:"feeReceiver"`
}

func kyberRoutes(r *request) (any, error) {
	fee := kyberFee{FeeAmount: "0"}
	if r.get("feeAmount") != "" {
		isInBps, _ := strconv.ParseBool(r.get("isInBps"))
		fee = kyberFee{r.get("feeAmount"), r.get("chargeFeeBy"), isInBps, r.get("feeReceiver")}
	}
	shares, wrong := fee.shares()
	_, amountValid := parseAmount(r.get("amountIn"))
	s, err := r.swap(ask{
		chain: kyberChains[r.get("chain")], in: r.get("tokenIn"), out: r.get("tokenOut"), amount: r.get("amountIn"),
	})
	switch {
	case errors.Is(err, errNoChain):
		return nil, err
	case !amountValid:
		return nil, kyberInvalid("amountIn")
	case !isAddress(r.get("tokenIn")):
		return nil, kyberInvalid("tokenIn")
	case !isAddress(r.get("tokenOut")):
		return nil, kyberInvalid("tokenOut")
	case wrong != "":
		return nil, kyberInvalid(wrong)
	case lessShares(big.NewInt(allBps), shares).Sign() <= 0:
		return nil, kyberError(kyberFeeAboveIn, "feeAmount is greater than amountIn")
	case err != nil:
		return nil, err
	}
	s.shares = shares
	q, err := r.price(s)
	if err != nil {
		return nil, err
	}
	summary := kyberSummary(q, fee, r.now())
	return kyberAnswer(r, object{"routeSummary": summary, "routerAddress": kyberRouter}), nil
}

// shares parses amounts and receivers, both of which may be comma-separated lists. It returns the name of a member that
// it cannot serve.
func (f kyberFee) shares() (shares []Share, wrong string) {
	if f == (kyberFee{FeeAmount: "0"}) {
		return nil, ""
	}
	amounts, receivers := strings.Split(f.FeeAmount, ","), strings.Split(f.FeeReceiver, ",")
	for i, text := range amounts {
		bps, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, "feeAmount"
		}
		if len(receivers) != len(amounts) || !isAddress(receivers[i]) {
			return nil, "feeReceiver"
		}
		shares = append(shares, Share{common.HexToAddress(receivers[i]), uint16(bps)})
	}
	switch {
	case f.ChargeFeeBy != "currency_in":
		return nil, "chargeFeeBy"
	case !f.IsInBps:
		return nil, "isInBps"
	}
	return shares, ""
}

// kyberSummary returns the summary that goes to the client and comes back with the order to build.
func kyberSummary(q quote, fee kyberFee, now time.Time) object {
	paths := [][]object{}
	for _, step := range q.hops {
		if len(paths) == 0 {
			paths = append(paths, nil)
		}
		paths[0] = append(paths[0], object{
			"pool": lowerHex(step.pool.address), "tokenIn": lowerHex(step.in), "tokenOut": lowerHex(step.out),
			"swapAmount": step.amountIn.String(), "amountOut": step.amountOut.String(),
			"exchange": "sandbox-v2", "poolType": "uniswap-v2", "poolExtra": nil, "extra": nil,
		})
	}
	in, out := lowerHex(q.in.address), lowerHex(q.out.address)
	amountIn, amountOut := q.amount.String(), q.amountOut.String()
	id := sha256.Sum256([]byte(in + out + amountIn + amountOut))
	summary := object{
		"tokenIn": in, "amountIn": amountIn, "amountInUsd": q.in.usdText(q.amount),
		"tokenOut": out, "amountOut": amountOut, "amountOutUsd": q.out.usdText(q.amountOut),
		"gas": q.gasText(), "gasPrice": gasPriceText, "gasUsd": q.gasUSD(), "l1FeeUsd": "0",
		"extraFee": fee, "route": paths, "routeID": hex.EncodeToString(id[:8]), "timestamp": now.Unix(),
	}
	summary["checksum"] = kyberChecksum(summary)
	return summary
}

func kyberChecksum(summary any) string {
	sum := sha256.Sum256(without("checksum", summary))
	return strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 10)
}

// kyberOrder is the body of a build request.
type kyberOrder struct {
	RouteSummary         json.RawMessage `json:"routeSummary"`
	Sender               string          `json:"sender"`
	Recipient            string          `json:"recipient"`
	SlippageTolerance    float64         `json:"slippageTolerance"` // bps; zero by default
	IgnoreCappedSlippage bool            `json:"ignoreCappedSlippage"`
	Deadline             int64           `json:"deadline"`
}

// kyberRoute is the part of a summary that a transaction is built from.
type kyberRoute struct {
	TokenIn, AmountIn, TokenOut, AmountOut, Gas, GasUSD, Checksum string

	ExtraFee kyberFee
	Route    [][]struct{ Pool string }
}

func kyberBuild(r *request) (any, error) {
	c, served := r.chains[kyberChains[r.get("chain")]]
	if !served {
		return nil, errNoChain
	}
	var order kyberOrder
	if err := r.decode(&order); err != nil {
		return nil, kyberError(kyberBadBody, "unable to bind request body")
	}
	var chosen kyberRoute
	if json.Unmarshal(order.RouteSummary, &chosen) != nil {
		return nil, kyberInvalid("routeSummary")
	}
	amountIn, inValid := parseAmount(chosen.AmountIn)
	quoted, outValid := parseAmount(chosen.AmountOut)
	most := float64(kyberSlippageCap)
	if order.IgnoreCappedSlippage {
		most = allBps
	}
	switch {
	case !inValid || !outValid:
		return nil, kyberInvalid("routeSummary")
	case chosen.Checksum != kyberChecksum(order.RouteSummary):
		return nil, kyberInvalid("routeSummary.checksum")
	case !isAddress(order.Sender):
		return nil, kyberInvalid("sender")
	case !isAddress(order.Recipient):
		return nil, kyberInvalid("recipient")
	case order.SlippageTolerance < 0 || order.SlippageTolerance > most:
		return nil, kyberInvalid("slippageTolerance")
	}
	s := swap{chain: c, amount: amountIn}
	s.in, _ = c.find(chosen.TokenIn)
	s.out, _ = c.find(chosen.TokenOut)
	s.shares, _ = chosen.ExtraFee.shares()
	var pools []common.Address
	for _, path := range chosen.Route {
		for _, at := range path {
			pools = append(pools, common.HexToAddress(at.Pool))
		}
	}
	found, err := c.along(r.Context(), s.in.address, s.out.address, pools, lessShares(s.amount, s.shares))
	if err != nil {
		return nil, fmt.Errorf("repeat a route that was handed out: %v", err)
	}
	q := r.quoteOf(s, found)
	q.least = less(quoted, order.SlippageTolerance)
	if order.Deadline != 0 {
		q.deadline = time.Unix(order.Deadline, 0)
	}
	if q.amountOut.Cmp(q.least) < 0 {
		return nil, kyberError(kyberMoved, "quoted amount is smaller than estimated")
	}
	return kyberAnswer(r, kyberBuilt(q, chosen, quoted, order.Recipient)), nil
}

// kyberBuilt returns the calldata, and how the output has changed since the route was quoted.
func kyberBuilt(q quote, chosen kyberRoute, quoted *big.Int, recipient string) object {
	change := new(big.Int).Sub(q.amountOut, quoted)
	percent, _ := new(big.Rat).SetFrac(new(big.Int).Mul(change, big.NewInt(100)), quoted).Float64()
	return object{
		"amountIn": chosen.AmountIn, "amountInUsd": q.in.usdText(q.amount),
		"amountOut": q.amountOut.String(), "amountOutUsd": q.out.usdText(q.amountOut),
		"gas": chosen.Gas, "gasUsd": chosen.GasUSD, "additionalCostUsd": "0",
		"outputChange": object{"amount": change.String(), "percent": percent, "level": 0},
		"data":         q.calldata(recipient), "routerAddress": kyberRouter, "transactionValue": q.value().String(),
	}
}

func kyberAnswer(r *request, data object) object {
	return object{"code": 0, "message": "successfully", "data": data, "requestId": r.requestID()}
}

func kyberError(code int, message string) error {
	return refusal{nil, http.StatusBadRequest, code, message}
}

// kyberInvalid returns the error for an invalid member of the request.
func kyberInvalid(field string) error { return kyberError(kyberBadRequest, field) }

func kyberProblem(r *request, f refusal) any {
	switch {
	case f.cause == errNoChain:
		return object{
			"message": "", "status": f.status,
			"path": r.URL.RequestURI(), "request_id": r.requestID(), "request_ip": "",
		}
	case f.code == kyberBadRequest:
		return object{
			"code": f.code, "message": "bad request", "requestId": "",
			"details": []object{{"fieldViolations": []object{{"field": f.message, "description": "invalid"}}}},
		}
	}
	return object{"code": f.code, "message": f.message, "requestId": ""}
}
