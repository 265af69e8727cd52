package venue

// LI.FI API, GET /v1/quote: https://docs.li.fi/api-reference

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"crossgate/quote"
)

// lifi asks other aggregators and keeps 0.25 % of the input: a fallback. Other payees need a prior agreement.
var lifi = register(service{
	// 75 quotes in two hours without a key, 100 a minute with one.
	Service: Service{
		Name: "lifi", URL: "https://li.quest",
		Source:  "github lifinance/contracts @ef00558 (2026-08-21), deployments/*.json",
		Accepts: []string{"integrator", excludedSources}, // integrator is a name registered with the venue
	},
	profile: quote.Profile{ImageURL: "https://li.fi/favicon.ico", Fallback: true},
	header:  "X-Lifi-Api-Key=$key",
	asks: requestTemplate{
		path: "v1/quote",
		query: "fromChain=$chain toChain=$chain fromToken=$zeroIn toToken=$zeroOut fromAmount=$amount fromAddress=$sender " +
			"toAddress=$recipient slippage=$fraction skipSimulation=true integrator=$integrator denyExchanges=$excludedSources",
	},
	answers: answerTemplate{
		in: "estimate.fromAmount", out: "estimate.toAmount", least: "estimate.toAmountMin", gas: "transactionRequest.gasLimit",
		spender: "estimate.approvalAddress",
		to:      "transactionRequest.to", value: "transactionRequest.value", data: "transactionRequest.data",
	},
	refuses: refusals{words: "code message", unrouted: regexp.MustCompile(`^1002\b|^Unable to find a quote`)},
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
	functions: readsCalls(slices.Concat(lifiFunctions("ERC20ToERC20"), lifiFunctions("ERC20ToNative"), lifiFunctions("NativeToERC20"))...),
})

// lifiFunctions returns two functions of GenericSwapFacetV3, for one swap and for several; the output of the last one
// is held to the minimum. For the coin, the contract takes the call's value and pays its balance.
func lifiFunctions(pair string) []function {
	swap := "(bytes32,string,string,address payee,uint256 least,(address,address,address in,address out,uint256 amount,bytes,bool)"
	if strings.HasPrefix(pair, "Native") {
		swap = strings.NewReplacer(" in", "", " amount", "").Replace(swap)
	}
	if strings.HasSuffix(pair, "Native") {
		swap = strings.ReplaceAll(swap, " out", "")
	}
	return []function{
		{signature: "swapTokensSingleV3" + pair + swap + ")"},
		{signature: "swapTokensMultipleV3" + pair + swap + "[])", refine: lifiDeposits},
	}
}

// lifiDeposits refuses a call in which a later swap also takes something from the sender.
func lifiDeposits(d *decoded, _ *quote.Call) error {
	for i := 1; ; i++ {
		switch takes, is := d.arguments.at(5, i, 6); {
		case !is:
			return nil
		case takes.isTrue():
			return errors.New("it takes more than the input")
		}
	}
}
