package venues

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// velora is the Velora Market API v6.2.
var velora = dialect{
	endpoints: endpoints{
		"GET /prices":                  veloraPrices,
		"GET /swap":                    veloraSwap,
		"POST /transactions/{network}": veloraTransactions,
	},
	refusals: []refusal{
		{errNoRoute, http.StatusBadRequest, nil, veloraNoRoutes},
		{errTooLarge, http.StatusBadRequest, nil, veloraNoRoutes},
		{errNoChain, http.StatusBadRequest, nil, "unsupported network"},
		{errAmount, http.StatusBadRequest, nil, "invalid amount"},
		{errInvalid, http.StatusBadRequest, nil, ""},
		{nil, http.StatusInternalServerError, nil, "Internal server error"},
	},
	problem: func(_ *request, f refusal) any { return object{"error": f.message} },
	limited: object{"error": "Rate limited"},
	routers: everywhere(veloraRouter),
	keptBps: 1,
}

const (
	veloraRouter    = "0x6A000F20005980200259B80c5102003040001068"
	veloraVersion   = "6.2"
	veloraMaxImpact = 0.15 // share of the input's USD value; no price is given above it
)

// Error messages of the API for pairs and amounts without a price.
const (
	veloraNoRoutes = "No routes found with enough liquidity"
	veloraImpact   = "ESTIMATED_LOSS_GREATER_THAN_MAX_IMPACT"
)

func veloraPrices(r *request) (any, error) {
	price, err := veloraPrice(r)
	return object{"priceRoute": price}, err
}

// veloraSwap prices and builds in one call, for a known user.
func veloraSwap(r *request) (any, error) {
	price, err := veloraPrice(r)
	if err != nil {
		return nil, err
	}
	slippage, err := strconv.Atoi(r.get("slippage"))
	if err != nil {
		return nil, invalid("slippage is required")
	}
	order := veloraOrder{
		SrcAmount: price["srcAmount"].(string), Slippage: &slippage,
		UserAddress: r.get("userAddress"), Receiver: r.get("receiver"),
	}
	order.PriceRoute, _ = json.Marshal(price) // always valid JSON
	order.Deadline, _ = strconv.ParseInt(r.get("deadline"), 10, 64)
	tx, err := order.transaction(r)
	return object{"priceRoute": price, "txParams": tx}, err
}

// veloraPrice returns a price route, which goes to the client and comes back with the order to build.
func veloraPrice(r *request) (object, error) {
	s, err := r.swap(ask{
		chain: r.chainID("network"), in: r.get("srcToken"), out: r.get("destToken"), amount: r.get("amount"),
	})
	switch {
	case r.get("version") != veloraVersion:
		return nil, invalid("version " + veloraVersion + " is required")
	case errors.Is(err, errNoChain), errors.Is(err, errAmount):
		return nil, err
	case cmp.Or(r.get("side"), "SELL") != "SELL":
		return nil, invalid("unsupported side")
	case !isAddress(r.get("srcToken")) || !isAddress(r.get("destToken")):
		return nil, invalid("invalid tokens")
	case err != nil:
		return nil, err
	case r.get("srcDecimals") != strconv.Itoa(s.in.Decimals) || r.get("destDecimals") != strconv.Itoa(s.out.Decimals):
		return nil, invalid("invalid decimals")
	}
	q, err := r.price(s)
	if err != nil {
		return nil, err
	}
	if q.out.usd(q.gross) < q.in.usd(q.amount)*(1-veloraMaxImpact) {
		return nil, invalid(veloraImpact)
	}
	router := strings.ToLower(veloraRouter)
	price := object{
		"network": q.chain.id, "side": "SELL", "version": veloraVersion,
		"srcToken": lowerHex(q.in.address), "srcDecimals": q.in.Decimals, "srcAmount": q.amount.String(),
		"destToken": lowerHex(q.out.address), "destDecimals": q.out.Decimals,
		"destAmount": q.gross.String(), // before the venue's fee
		"bestRoute":  []object{{"percent": 100, "swaps": veloraSwaps(q)}},
		"gasCost":    q.gasText(), "gasCostUSD": q.gasUSD(),
		"contractMethod": "swapExactAmountIn", "contractAddress": router, "tokenTransferProxy": router,
		"partnerFee": float64(q.keptBps) / 100, "partner": cmp.Or(r.get("partner"), "anon"), "maxImpactReached": false,
		"srcUSD": q.in.usdText(q.amount), "destUSD": q.out.usdText(q.gross),
	}
	price["hmac"] = veloraSeal(price)
	return price, nil
}

func veloraSwaps(q quote) []object {
	swaps := []object{}
	for _, step := range q.hops {
		swaps = append(swaps, object{
			"srcToken": lowerHex(step.in), "srcDecimals": q.chain.tokens[step.in].Decimals,
			"destToken": lowerHex(step.out), "destDecimals": q.chain.tokens[step.out].Decimals,
			"swapExchanges": []object{{
				"exchange": "SandboxV2", "percent": 100, "poolAddresses": []string{lowerHex(step.pool.address)},
				"srcAmount": step.amountIn.String(), "destAmount": step.amountOut.String(),
			}},
		})
	}
	return swaps
}

// veloraSeal signs a price route, only to detect changes: the key is public.
func veloraSeal(price any) string {
	sealed := hmac.New(sha256.New, []byte("crossgate sandbox"))
	sealed.Write(without("hmac", price))
	return hex.EncodeToString(sealed.Sum(nil)[:20])
}

// veloraOrder is the body of a transaction request: the minimum output is an amount or a slippage.
type veloraOrder struct {
	PriceRoute  json.RawMessage `json:"priceRoute"`
	SrcToken    string          `json:"srcToken"`
	DestToken   string          `json:"destToken"`
	SrcAmount   string          `json:"srcAmount"`
	DestAmount  string          `json:"destAmount"`
	Slippage    *int            `json:"slippage"` // bps
	UserAddress string          `json:"userAddress"`
	Receiver    string          `json:"receiver"` // the user by default
	Deadline    int64           `json:"deadline"`
}

// veloraRoute is the part of a price route that a transaction is built from.
type veloraRoute struct {
	Network                                          uint64
	SrcToken, SrcAmount, DestToken, DestAmount, HMAC string

	BestRoute []struct {
		Swaps []struct {
			SwapExchanges []struct{ PoolAddresses []string }
		}
	}
}

func veloraTransactions(r *request) (any, error) {
	var order veloraOrder
	var priced veloraRoute
	if r.decode(&order) != nil || json.Unmarshal(order.PriceRoute, &priced) != nil {
		return nil, invalid("invalid body")
	}
	if r.get("network") != strconv.FormatUint(priced.Network, 10) {
		return nil, invalid("network mismatch")
	}
	if !strings.EqualFold(order.SrcToken, priced.SrcToken) || !strings.EqualFold(order.DestToken, priced.DestToken) {
		return nil, invalid("source or destination token mismatch")
	}
	return order.transaction(r)
}

// transaction omits the gas estimate, as the API does without its checks.
func (o veloraOrder) transaction(r *request) (object, error) {
	var priced veloraRoute
	_ = json.Unmarshal(o.PriceRoute, &priced) // a malformed one is not signed
	if priced.HMAC != veloraSeal(o.PriceRoute) {
		return nil, invalid("invalid price route")
	}
	least, err := o.least(priced.DestAmount)
	switch {
	case err != nil:
		return nil, err
	case o.SrcAmount != priced.SrcAmount:
		return nil, invalid("source amount mismatch")
	case !isAddress(o.UserAddress):
		return nil, invalid("invalid userAddress")
	case o.Receiver != "" && !isAddress(o.Receiver):
		return nil, invalid("invalid receiver")
	}
	s, err := r.swap(ask{chain: priced.Network, in: priced.SrcToken, out: priced.DestToken, amount: priced.SrcAmount})
	if err != nil {
		return nil, err
	}
	q := r.quoteOf(s, route{amountOut: new(big.Int)})
	for _, step := range priced.BestRoute[0].Swaps {
		at := common.HexToAddress(step.SwapExchanges[0].PoolAddresses[0])
		q.hops = append(q.hops, hop{pool: pool{address: at}})
	}
	q.least = less(least, float64(q.keptBps)) // the request's minimum is before the fee, the order's after it
	if o.Deadline != 0 {
		q.deadline = time.Unix(o.Deadline, 0)
	}
	return object{
		"from": strings.ToLower(o.UserAddress), "to": strings.ToLower(veloraRouter), "value": q.value().String(),
		"data":     hexutil.Encode(veloraCall(q.order(cmp.Or(o.Receiver, o.UserAddress)), least)),
		"gasPrice": gasPriceText, "chainId": priced.Network,
	}, nil
}

// least returns the minimum output, before the venue's fee.
func (o veloraOrder) least(destAmount string) (*big.Int, error) {
	quoted, _ := parseAmount(destAmount)
	switch {
	case o.Slippage != nil && o.DestAmount != "":
		return nil, invalid("cannot specify both slippage and destAmount")
	case o.Slippage != nil && (*o.Slippage < 0 || *o.Slippage > allBps):
		return nil, invalid("invalid slippage")
	case o.Slippage != nil:
		return less(quoted, float64(*o.Slippage)), nil
	}
	least, valid := parseAmount(o.DestAmount)
	if !valid {
		return nil, invalid("slippage or destAmount is required")
	}
	return least, nil
}
