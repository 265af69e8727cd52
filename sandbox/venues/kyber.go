package venues

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// kyberChains are the chains by the API's names for them.
var kyberChains = map[string]uint64{"ethereum": 1, "polygon": 137, "base": 8453, "sonic": 146}

// Error codes of the API.
const (
	kyberBadRequest   = 4000
	kyberBadBody      = 4002
	kyberFeeAboveIn   = 4005
	kyberNoRoute      = 4008
	kyberTooLarge     = 4009
	kyberUnknownToken = 4011
	kyberMoved        = 4222
)

const (
	kyberRouter = "0x6131B5fae19EA4f9D964eAc0408E4408b66337b5"
	kyberFeeBps = 0 // what it keeps of the outcome

	// kyberSlippageCap is the largest slippage in bps that is believed without a word.
	kyberSlippageCap = 2000
	kyberLife        = 20 * 60 // seconds, of a transaction whose request names no deadline
)

// kyber is the KyberSwap Aggregator API v1.
type kyber struct{ floor *floor }

func newKyber(f *floor) http.Handler {
	k := &kyber{f}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{chain}/api/v1/routes", k.routes)
	mux.HandleFunc("POST /{chain}/api/v1/route/build", k.build)
	return mux
}

// kyberAnswer is the envelope of every answer; code zero is success.
type kyberAnswer struct {
	Code      int    `json:"code"`
	Message   string `json:"message"`
	Data      any    `json:"data,omitempty"`
	Details   any    `json:"details,omitempty"`
	RequestID string `json:"requestId"`
}

type kyberRoute struct {
	RouteSummary  kyberSummary `json:"routeSummary"`
	RouterAddress string       `json:"routerAddress"`
}

// kyberSummary goes to the client and comes back with the order to build.
type kyberSummary struct {
	TokenIn      string      `json:"tokenIn"`
	AmountIn     string      `json:"amountIn"`
	AmountInUSD  string      `json:"amountInUsd"`
	TokenOut     string      `json:"tokenOut"`
	AmountOut    string      `json:"amountOut"`
	AmountOutUSD string      `json:"amountOutUsd"`
	Gas          string      `json:"gas"`
	GasPrice     string      `json:"gasPrice"`
	GasUSD       string      `json:"gasUsd"`
	L1FeeUSD     string      `json:"l1FeeUsd"`
	ExtraFee     kyberFee    `json:"extraFee"`
	Route        [][]kyberAt `json:"route"`
	RouteID      string      `json:"routeID"`
	Checksum     string      `json:"checksum"`
	Timestamp    int64       `json:"timestamp"`
}

type kyberFee struct {
	FeeAmount   string `json:"feeAmount"`
	ChargeFeeBy string `json:"chargeFeeBy"`
	IsInBps     bool   `json:"isInBps"`
	FeeReceiver string `json:"feeReceiver"`
}

// kyberAt is one pool of a route.
type kyberAt struct {
	Pool       string `json:"pool"`
	TokenIn    string `json:"tokenIn"`
	TokenOut   string `json:"tokenOut"`
	SwapAmount string `json:"swapAmount"`
	AmountOut  string `json:"amountOut"`
	Exchange   string `json:"exchange"`
	PoolType   string `json:"poolType"`
	PoolExtra  any    `json:"poolExtra"`
	Extra      any    `json:"extra"`
}

func (k *kyber) routes(w http.ResponseWriter, r *http.Request) {
	l, served := k.floor.chains[kyberChains[r.PathValue("chain")]]
	if !served {
		k.unknownChain(w, r)
		return
	}
	query := r.URL.Query()
	amount, valid := parseAmount(query.Get("amountIn"))
	if !valid {
		kyberInvalid(w, "amountIn")
		return
	}
	for _, field := range []string{"tokenIn", "tokenOut"} {
		if !isAddress(query.Get(field)) {
			kyberInvalid(w, field)
			return
		}
	}
	fee, shares, field := readKyberFee(query.Get)
	switch {
	case field != "":
		kyberInvalid(w, field)
		return
	case lessShares(big.NewInt(allBps), shares).Sign() <= 0:
		kyberFail(w, kyberFeeAboveIn, "feeAmount is greater than amountIn")
		return
	case amount.Cmp(maxAmount) > 0:
		kyberFail(w, kyberTooLarge, "amountIn is greater than max allowed")
		return
	}
	in, _, inListed := l.find(query.Get("tokenIn"))
	out, _, outListed := l.find(query.Get("tokenOut"))
	if !inListed || !outListed {
		kyberFail(w, kyberUnknownToken, "token not found")
		return
	}
	found, err := k.floor.best(r.Context(), l, in, out, lessShares(amount, shares))
	switch {
	case errors.Is(err, errNoPath):
		kyberFail(w, kyberNoRoute, "route not found")
	case err != nil:
		answer(w, http.StatusInternalServerError, kyberAnswer{Code: http.StatusInternalServerError, Message: "internal server error"})
	default:
		answer(w, http.StatusOK, kyberAnswer{
			Message: "successfully", Data: kyberRoute{k.summary(found, amount, fee), kyberRouter}, RequestID: requestID(r),
		})
	}
}

// readKyberFee reads the extra fee: shares of the input in basis points, which is what the sandbox's router
// can take. It returns the name of a parameter that cannot be served.
func readKyberFee(get func(string) string) (fee kyberFee, shares []Share, invalid string) {
	if get("feeAmount") == "" {
		return kyberFee{FeeAmount: "0"}, nil, ""
	}
	fee = kyberFee{FeeAmount: get("feeAmount"), ChargeFeeBy: "currency_in", IsInBps: true, FeeReceiver: get("feeReceiver")}
	shares, invalid = fee.shares()
	switch {
	case invalid != "":
		return fee, nil, invalid
	case get("chargeFeeBy") != fee.ChargeFeeBy:
		return fee, nil, "chargeFeeBy"
	case get("isInBps") != "true" && get("isInBps") != "1":
		return fee, nil, "isInBps"
	}
	return fee, shares, ""
}

// shares reads amounts and receivers, both of which may be lists with commas.
func (f kyberFee) shares() (shares []Share, invalid string) {
	if f.FeeReceiver == "" && f.FeeAmount == "0" {
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
	return shares, ""
}

func (k *kyber) summary(t trade, amountIn *big.Int, fee kyberFee) kyberSummary {
	in, out := t.listing.tokens[t.in], t.listing.tokens[t.out]
	gasCost := big.NewInt(t.gas() * gasPrice)
	s := kyberSummary{
		TokenIn: spell(t.in), AmountIn: amountIn.String(), AmountInUSD: usd(in.worth(amountIn)),
		TokenOut: spell(t.out), AmountOut: less(t.amountOut, kyberFeeBps).String(), AmountOutUSD: usd(out.worth(t.amountOut)),
		Gas: strconv.FormatInt(t.gas(), 10), GasPrice: strconv.Itoa(gasPrice),
		GasUSD: usd(t.listing.tokens[coin].worth(gasCost)), L1FeeUSD: "0",
		ExtraFee: fee, Route: [][]kyberAt{}, Timestamp: k.floor.now().Unix(),
	}
	path := make([]kyberAt, 0, len(t.hops))
	for _, step := range t.hops {
		path = append(path, kyberAt{
			Pool: spell(step.pool.address), TokenIn: spell(step.in), TokenOut: spell(step.out),
			SwapAmount: step.amountIn.String(), AmountOut: step.amountOut.String(),
			Exchange: "sandbox-v2", PoolType: "uniswap-v2",
		})
	}
	if len(path) > 0 {
		s.Route = append(s.Route, path)
	}
	s.RouteID = s.id()
	s.Checksum = s.checksum()
	return s
}

// checksum is over everything else in the summary, so that a changed one is found out.
func (s kyberSummary) checksum() string {
	s.Checksum = ""
	text, _ := json.Marshal(s) // texts and numbers alone
	sum := sha256.Sum256(text)
	return strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 10)
}

func (s kyberSummary) id() string {
	sum := sha256.Sum256([]byte(s.TokenIn + s.TokenOut + s.AmountIn + s.AmountOut))
	return hex.EncodeToString(sum[:8])
}

// kyberOrder is the body of a build request.
type kyberOrder struct {
	RouteSummary         kyberSummary `json:"routeSummary"`
	Sender               string       `json:"sender"`
	Recipient            string       `json:"recipient"`
	SlippageTolerance    float64      `json:"slippageTolerance"` // bps; nothing by default
	IgnoreCappedSlippage bool         `json:"ignoreCappedSlippage"`
	Deadline             int64        `json:"deadline"`
	Source               string       `json:"source"`
}

// invalid names a field that cannot be what it is.
func (o kyberOrder) invalid() string {
	most := float64(kyberSlippageCap)
	if o.IgnoreCappedSlippage {
		most = allBps
	}
	switch {
	case !isAmount(o.RouteSummary.AmountIn) || !isAmount(o.RouteSummary.AmountOut):
		return "routeSummary"
	case o.RouteSummary.Checksum != o.RouteSummary.checksum():
		return "routeSummary.checksum"
	case !isAddress(o.Sender):
		return "sender"
	case !isAddress(o.Recipient):
		return "recipient"
	case o.SlippageTolerance < 0 || o.SlippageTolerance > most:
		return "slippageTolerance"
	}
	return ""
}

type kyberBuilt struct {
	AmountIn          string      `json:"amountIn"`
	AmountInUSD       string      `json:"amountInUsd"`
	AmountOut         string      `json:"amountOut"`
	AmountOutUSD      string      `json:"amountOutUsd"`
	Gas               string      `json:"gas"`
	GasUSD            string      `json:"gasUsd"`
	AdditionalCostUSD string      `json:"additionalCostUsd"`
	OutputChange      kyberChange `json:"outputChange"`
	Data              string      `json:"data"`
	RouterAddress     string      `json:"routerAddress"`
	TransactionValue  string      `json:"transactionValue"`
}

// kyberChange tells how the outcome has changed since the route was found.
type kyberChange struct {
	Amount  string  `json:"amount"`
	Percent float64 `json:"percent"`
	Level   int     `json:"level"`
}

func (k *kyber) build(w http.ResponseWriter, r *http.Request) {
	l, served := k.floor.chains[kyberChains[r.PathValue("chain")]]
	if !served {
		k.unknownChain(w, r)
		return
	}
	var order kyberOrder
	if err := readBody(w, r, &order); err != nil {
		kyberFail(w, kyberBadBody, "unable to bind request body")
		return
	}
	if field := order.invalid(); field != "" {
		kyberInvalid(w, field)
		return
	}
	if order.Deadline == 0 {
		order.Deadline = k.floor.now().Unix() + kyberLife
	}
	built, err := k.built(r, l, order)
	switch {
	case errors.Is(err, errMoved):
		kyberFail(w, kyberMoved, "quoted amount is smaller than estimated")
	case err != nil:
		answer(w, http.StatusInternalServerError, kyberAnswer{Code: http.StatusInternalServerError, Message: "internal server error"})
	default:
		answer(w, http.StatusOK, kyberAnswer{Message: "successfully", Data: built, RequestID: requestID(r)})
	}
}

// errMoved is a price that has fallen below what the client wants to accept.
var errMoved = errors.New("price moved")

func (k *kyber) built(r *http.Request, l *listing, order kyberOrder) (kyberBuilt, error) {
	summary := order.RouteSummary
	amountIn, _ := parseAmount(summary.AmountIn)
	quoted, _ := parseAmount(summary.AmountOut)
	shares, _ := summary.ExtraFee.shares()
	in, tokenIn, _ := l.find(summary.TokenIn)
	out, tokenOut, _ := l.find(summary.TokenOut)
	var pools []common.Address
	for _, path := range summary.Route {
		for _, at := range path {
			pools = append(pools, common.HexToAddress(at.Pool))
		}
	}
	now, err := k.floor.along(r.Context(), l, in, out, pools, lessShares(amountIn, shares))
	if err != nil {
		return kyberBuilt{}, err
	}
	minimum := new(big.Int).Sub(quoted, slippageOf(quoted, order.SlippageTolerance))
	amountOut := less(now.amountOut, kyberFeeBps)
	if amountOut.Cmp(minimum) < 0 {
		return kyberBuilt{}, errMoved
	}
	c := call{
		TokenIn: in, TokenOut: out, AmountIn: amountIn, MinAmountOut: minimum,
		Recipient: common.HexToAddress(order.Recipient), Pools: pools,
		Shares: shares, OutputFeeBps: kyberFeeBps, Deadline: big.NewInt(order.Deadline),
	}
	data, err := c.encode()
	change := new(big.Int).Sub(amountOut, quoted)
	return kyberBuilt{
		AmountIn: summary.AmountIn, AmountInUSD: usd(tokenIn.worth(amountIn)),
		AmountOut: amountOut.String(), AmountOutUSD: usd(tokenOut.worth(amountOut)),
		Gas: summary.Gas, GasUSD: summary.GasUSD, AdditionalCostUSD: "0",
		OutputChange: kyberChange{Amount: change.String(), Percent: percentOf(change, quoted)},
		Data:         data, RouterAddress: kyberRouter, TransactionValue: c.value(),
	}, err
}

func (k *kyber) unknownChain(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusNotFound, map[string]any{
		"message": "", "path": r.URL.RequestURI(), "request_id": requestID(r), "request_ip": "", "status": http.StatusNotFound,
	})
}

func kyberFail(w http.ResponseWriter, code int, message string) {
	answer(w, http.StatusBadRequest, kyberAnswer{Code: code, Message: message})
}

func kyberInvalid(w http.ResponseWriter, field string) {
	type violation struct {
		Field       string `json:"field"`
		Description string `json:"description"`
	}
	answer(w, http.StatusBadRequest, kyberAnswer{
		Code: kyberBadRequest, Message: "bad request",
		Details: []map[string]any{{"fieldViolations": []violation{{field, "invalid"}}}},
	})
}
