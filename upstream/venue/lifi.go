package venue

// LI.FI API, GET /v1/quote: https://docs.li.fi/api-reference

import (
	"errors"
	"net/http"

	"crossgate/quote"
	"crossgate/upstream"
)

// lifi asks other aggregators and keeps 0.25 % of the input: a fallback. Who is paid is agreed beforehand: no affiliate
// share.
var lifi = service{
	// 75 quotes in two hours without a key, 100 a minute with one.
	Service: Service{
		Name: "lifi", URL: "https://li.quest", RequestsPerSecond: 0.01, Burst: 5,
		Source: "github lifinance/contracts @ef00558 (2026-08-21), deployments/*.json",
	},
	profile: quote.Profile{ImageURL: "https://li.fi/favicon.ico", Fallback: true},
	asks: requestTemplate{
		path: "v1/quote", header: "X-Lifi-Api-Key=$key",
		query: "fromChain=$chain toChain=$chain fromToken=$zeroIn toToken=$zeroOut fromAmount=$amount fromAddress=$sender " +
			"toAddress=$recipient slippage=$fraction skipSimulation=true integrator=$integrator denyExchanges=$excludedSources",
	},
	// The Diamond, also the spender.
	contracts: []deployment{
		{
			chains:  []uint64{1, 10, 25, 56, 100, 137, 146, 1329, 5000, 8453, 42161, 43114},
			routers: []string{"0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE"},
		},
		{chains: []uint64{143, 747, 4326, 9745}, routers: []string{"0x026F252016A7C47CDEf1F05a3Fc9E20C92a49C37"}},
		{chains: []uint64{999}, routers: []string{"0x0a0758d937d1059c356D4714e57F5df0239bce1A"}},
		{chains: []uint64{1776}, routers: []string{"0xeCeC3970Ca674278DA8D9B1c484ACaF6B20181F5"}},
		{chains: []uint64{2741}, routers: []string{"0x4f8C9056bb8A3616693a76922FA35d53C056E5b3"}},
		{chains: []uint64{4663}, routers: []string{"0xB477751B76CF82d00a686A1232f5fCD772414Af3"}},
		{chains: []uint64{5042}, routers: []string{"0xA4072583658Fae592A3506A42431cb6316a8d40b"}},
		{chains: []uint64{59144}, routers: []string{"0xDE1E598b81620773454588B85D6b5D4eEC32573e"}},
		{chains: []uint64{60808}, routers: []string{"0x452Cf1B8597E6319Cd21abd847312bF17E26d8d1"}},
		{chains: []uint64{80094}, routers: []string{"0xf909c4Ae16622898b885B89d7F839E0244851c66"}},
	},
	functions: readsCalls(
		lifiFunction(lifiToken, lifiToken, false), lifiFunction(lifiToken, lifiToken, true),
		lifiFunction(lifiToken, lifiCoin, false), lifiFunction(lifiToken, lifiCoin, true),
		lifiFunction(lifiCoin, lifiToken, false), lifiFunction(lifiCoin, lifiToken, true),
	),
}

// lifiSwap is SwapData: callTo, approveTo, sendingAssetId, receivingAssetId, fromAmount, callData, requiresDeposit.
const lifiSwap = "(address,address,address,address,uint256,bytes,bool)"

// What functions of GenericSwapFacetV3 are named for.
const (
	lifiToken = "ERC20"
	lifiCoin  = "Native"
)

// lifiFunction is of GenericSwapFacetV3: transactionId, integrator, referrer, receiver, minAmountOut, one or several
// swaps. The last one's outcome is held to the minimum. For the coin, the contract takes the call's value and pays its
// balance.
func lifiFunction(from, to string, several bool) function {
	const before = "(bytes32,string,string,address,uint256,"
	f := function{
		signature: "swapTokensSingleV3" + from + "To" + to + before + lifiSwap + ")",
		payee:     position{3}, minOut: position{4},
		tokenIn: position{5, 2}, tokenOut: position{5, 3}, amountIn: position{5, 4},
	}
	if several {
		f.signature = "swapTokensMultipleV3" + from + "To" + to + before + lifiSwap + "[])"
		f.tokenIn, f.tokenOut, f.amountIn = position{5, 0, 2}, position{5, -1, 3}, position{5, 0, 4}
		f.refine = lifiDeposits
	}
	if from == lifiCoin {
		f.tokenIn, f.amountIn = coinItself, callValue
	}
	if to == lifiCoin {
		f.tokenOut = coinItself
	}
	return f
}

// lifiDeposits refuses to have a later swap take something from the sender as well.
func lifiDeposits(arguments []any, _ *quote.Call) error {
	r := argumentReader{arguments: arguments}
	for i := 1; ; i++ {
		switch takes, is := r.at(position{5, i, 6}).(bool); {
		case !is:
			return nil
		case takes:
			return errors.New("it takes more than the input")
		}
	}
}

// lifiIntegrator is the setting for a name registered with the venue.
const lifiIntegrator = "integrator"

func init() {
	register(lifi.Service, lifi.oneCall(reader(readLifi).priceAndTx), lifiIntegrator, excludedSources)
}

// readLifi reads the answer, whose transaction has its numbers in hex.
func readLifi(resp upstream.Response, p quote.Profile, s quote.Swap) (proposal, error) {
	var answer struct {
		Estimate struct {
			FromAmount      digits `json:"fromAmount"`
			ToAmount        digits `json:"toAmount"`
			ToAmountMin     digits `json:"toAmountMin"`
			ApprovalAddress string `json:"approvalAddress"`
		} `json:"estimate"`
		TransactionRequest struct {
			To       string    `json:"to"`
			Value    hexDigits `json:"value"`
			Data     string    `json:"data"`
			GasLimit hexDigits `json:"gasLimit"`
		} `json:"transactionRequest"`
	}
	if err := decodeOr(lifiFailure, lifi.Name, resp, &answer); err != nil {
		return proposal{}, err
	}
	estimate, request := answer.Estimate, answer.TransactionRequest
	return proposal{
		in: &estimate.FromAmount, out: estimate.ToAmount, minimum: &estimate.ToAmountMin, gas: digits(request.GasLimit),
		tx: transaction{To: request.To, Value: digits(request.Value), Data: request.Data},
	}, checkSpender(estimate.ApprovalAddress, request.To, p, s)
}

// lifiFailure explains an error. Failures of the exchanges behind the API are listed with a missing route.
func lifiFailure(f failure) (message string, isRoute bool) {
	const codeNoQuote = "1002"
	if f.status == http.StatusNotFound && len(f.members["errors"]) > 0 || f.text("code") == codeNoQuote {
		return f.text("message"), true
	}
	return f.text("code", "message"), false
}
