package venue

// 1inch Classic Swap v6.1: https://business.1inch.com/portal/documentation/apis/swap/classic-swap

import (
	"regexp"

	"github.com/shopspring/decimal"

	"crossgate/quote"
)

// oneInch prices with /quote, which needs no wallet, and builds with /swap, which prices again.
var oneInch = register(service{
	// One request per second in the free plan.
	Service: Service{
		Name: "1inch", URL: "https://api.1inch.com", Keyed: true,
		Source:  "github 1inch/1inch-sdk-go; Robinhood: github 1inch/fusion-sdk#177",
		Accepts: []string{excludedSources},
	},
	profile: quote.Profile{
		ImageURL: "https://icons.llamao.fi/icons/protocols/1inch-network", MaxAffiliatePercent: decimal.NewFromInt(3),
	},
	header: "Authorization=$bearer",
	asks: requestTemplate{ // without the API's own simulation: a wallet may approve or receive tokens later
		path: "swap/v6.1/$chain/${quote|swap}", fits: slippageWithin("0", "50"),
		query: "src=$in dst=$out amount=$amount includeGas=true gasPrice=$gasPrice excludedProtocols=$excludedSources fee=$share",
		builds: "from=$sender origin=$sender receiver=$recipient slippage=$percent4 disableEstimate=true " +
			"allowPartialFill=false referrer=$payee",
	},
	// Answers have neither the input nor the minimum.
	answers: answerTemplate{out: "dstAmount", gas: "gas", to: "tx.to", value: "tx.value", data: "tx.data"},
	refuses: refusals{words: "description", unrouted: regexp.MustCompile(`(?i)^insufficient liquidity$`)},
	// AggregationRouterV6, also the spender.
	contracts: []deployment{
		{
			chains:  []uint64{1, 10, 56, 100, 137, 143, 146, 8453, 42161, 43114, 59144},
			routers: []string{"0x111111125421cA6dc452d289314280a0f8842A65"},
		},
		{chains: []uint64{4663}, routers: []string{"0x5a705de8982235a7fa45bB83dCaCf03a211389C7"}},
	},
	// Other functions do not name the output token.
	functions: readsCalls(function{
		signature: "swap(address,(address in,address out,address,address payeeOrCaller,uint256 amount,uint256 least,uint256 flags),bytes)",
		tag:       4, refine: wholeFill,
	}),
})
