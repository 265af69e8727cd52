package venue

// KyberSwap Aggregator API v1: https://docs.kyberswap.com/developer-guide/aggregator-api

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
)

// kyber is asked for a route, and to build it if it wins, so that prices do not depend on a wallet.
var kyber = register(service{
	// Clients that identify themselves may send 30 requests in 10 s.
	Service: Service{
		Name: "kyberswap", URL: "https://aggregator-api.kyberswap.com", Keyless: true,
		Source: "docs.kyberswap.com/developer-guide/aggregator-api/contracts; Robinhood: github vultisig/vultisig-sdk#1541, " +
			"where the API was asked",
		Accepts: []string{"clientID", excludedSources}, // clientID identifies the gateway
	},
	profile: quote.Profile{
		AnswerName: "kyber", ImageURL: "https://kyberswap.com/favicon.png", PaysTwo: true,
		MaxAffiliatePercent: decimal.New(9999, -2), // any share of the input that leaves something to swap
	},
	header: "X-Client-Id=${clientID:crossgate}",
	asks: requestTemplate{
		path: "$chain/api/v1/routes", chains: kyberSlugs,
		query:  "tokenIn=$in tokenOut=$out amountIn=$amount gasPrice=$gasPrice excludedSources=$excludedSources",
		shares: "feeAmount=$eachBps isInBps=true chargeFeeBy=currency_in feeReceiver=$eachPayee",
	},
	// The amount out is already without the affiliate's share.
	answers: answerTemplate{
		in: "data.routeSummary.amountIn", out: "data.routeSummary.amountOut", gas: "data.routeSummary.gas", spender: "data.routerAddress",
		signed: "data.routeSummary",
	},
	builds: &requestTemplate{ // the route is returned untouched: the API signs it
		path: "$chain/api/v1/route/build", chains: kyberSlugs,
		body: "routeSummary:=$route sender=$sender recipient=$recipient origin=$sender slippageTolerance:=$bps " +
			"ignoreCappedSlippage:=$uncapped deadline:=$deadline source=${clientID:crossgate}",
	},
	built: answerTemplate{
		in: "data.amountIn", out: "data.amountOut", to: "data.routerAddress", value: "data.transactionValue", data: "data.data",
	},
	refuses: refusals{ // no route, too large, no pools, unknown token; moved
		state: "code", fine: "0", words: "code message", unrouted: regexp.MustCompile(`^(4008|4009|4010|4011)\b`), moved: regexp.MustCompile(`^4222\b`),
	},
	contracts: []deployment{{
		chains:  slices.Collect(maps.Keys(kyberSlugs)),
		routers: []string{"0x6131B5fae19EA4f9D964eAc0408E4408b66337b5"}, // MetaAggregationRouterV2, also the spender
	}},
	functions: readsCalls(
		function{signature: "swap((" + kyberTarget + kyberDescription + ",bytes))", refine: kyberRefine},
		function{signature: "swapGeneric((" + kyberTarget + kyberDescription + ",bytes))", refine: kyberRefine},
		function{signature: "swapSimpleMode(address," + kyberDescription + ",bytes,bytes)", refine: kyberRefine},
	),
})

// callTarget, approveTarget, targetData; SwapDescriptionV2.
const (
	kyberTarget      = "address,address,bytes,"
	kyberDescription = "(address in,address out,address[],uint256[] parts,address[] receivers,uint256[] fees,address payeeOrCaller," +
		"uint256 amount,uint256 least,uint256 flags,bytes)"
)

// Flags of SwapDescriptionV2 besides that of a partial fill.
const (
	kyberFeeOnOutput = 0x40
	kyberFeeInBps    = 0x80
)

// kyberRefine decodes who receives which share of the input. Payments beyond the input would be the sender's loss.
func kyberRefine(d *decoded, c *quote.Call) error {
	receivers, fees := d.argument("receivers").list(), d.argument("fees").list()
	shares := []*quote.Affiliate{&c.Affiliate, &c.Second}
	if len(receivers) > len(shares) || len(fees) != len(receivers) {
		return fmt.Errorf("it pays %d fees to %d receivers", len(fees), len(receivers))
	}
	taken, inBps := chain.Amount{}, d.hasFlag("flags", kyberFeeInBps)
	for _, part := range d.argument("parts").list() {
		taken = taken.Add(part.amount())
	}
	for i, fee := range fees {
		amount := fee.amount()
		percent := decimal.NewFromBigInt(amount.Big(), 2)
		if inBps {
			percent, amount = percent.Shift(-4), amount.Over(chain.NewAmount(wholeBps)).Of(c.AmountIn)
		} else if !c.AmountIn.IsZero() {
			percent = percent.DivRound(decimal.NewFromBigInt(c.AmountIn.Big(), 0), 18).Truncate(9)
		}
		*shares[i] = quote.Affiliate{Percent: percent, Recipient: receivers[i].address()}
		taken = taken.Add(amount)
	}
	switch {
	case d.hasFlag("flags", kyberFeeOnOutput):
		return errors.New("it takes a fee from the output")
	case !c.TokenIn.IsNative() && taken.Cmp(c.AmountIn) > 0:
		return fmt.Errorf("it takes %s of the input instead of %s", taken, c.AmountIn)
	}
	return wholeFill(d, c)
}

// kyberCap is the slippage in percent above which the API requires ignoreCappedSlippage.
var kyberCap = decimal.NewFromInt(20)

// kyberSlugs are the API's names of chains by EIP-155 ID.
var kyberSlugs = map[uint64]string{
	1: "ethereum", 10: "optimism", 56: "bsc", 137: "polygon", 143: "monad", 146: "sonic", 999: "hyperevm",
	4326: "megaeth", 4663: "robinhood", 5000: "mantle", 8453: "base", 9745: "plasma", 42161: "arbitrum", 43114: "avalanche",
	59144: "linea", 80094: "berachain",
}
