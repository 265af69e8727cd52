package venue

// OpenOcean API v4: https://apis.openocean.finance/developer/apis/swap-api/api-v4

import (
	"regexp"

	"crossgate/quote"
)

// openOcean prices with /quote and builds with /swap. Its referrer fee may be in either token: no affiliate share.
var openOcean = register(service{
	// 20 requests in 10 s per address; holders of a key use open-api-pro.openocean.finance, with plans of their own.
	Service: Service{
		Name: "openocean", URL: "https://open-api.openocean.finance",
		Source:  "github RabbyHub/rabby-swap, list.ts",
		Accepts: []string{excludedSources},
	},
	profile: quote.Profile{ImageURL: "https://assets.coingecko.com/coins/images/17014/small/ooe_log.png"},
	header:  "Apikey=$key",
	asks: requestTemplate{ // the API requires a gas price, in wei, to weigh routes
		path: "v4/$chain/${quote|swap}", fits: slippageWithin("0.05", "50"),
		query: "inTokenAddress=$in outTokenAddress=$out amountDecimals=$amount gasPriceDecimals=${gasPrice:1000000000} " +
			"slippage=$percent disabledDexIds=$excludedSources",
		builds: "sender=$sender account=$recipient", // the caller and the payee
	},
	answers: answerTemplate{
		in: "data.inAmount", out: "data.outAmount", least: "data.minOutAmount", gas: "data.estimatedGas",
		to: "data.to", value: "data.value", data: "data.data",
	},
	// Most failures have HTTP status 200 and another code; without a route data is null.
	refuses: refusals{state: "code", fine: "200", words: "code error message", limited: regexp.MustCompile(`^429\b`), empty: "data"},
	contracts: []deployment{{
		chains:  []uint64{1, 10, 56, 100, 137, 143, 146, 999, 1329, 5000, 8453, 9745, 42161, 43114, 59144, 80094},
		routers: []string{"0x6352a56caadC4F1E25CD6c75970Fa768A3304e64"}, // ExchangeV2, also the spender
	}},
	// Other functions do not name the output token.
	functions: readsCalls(function{
		signature: "swap(address,(address in,address out,address,address payeeOrCaller,uint256 amount,uint256 least,uint256,uint256 flags," +
			"address,bytes),(uint256,uint256,uint256,bytes)[])",
		refine: wholeFill,
	}),
})
