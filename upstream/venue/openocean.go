package venue

// OpenOcean API v4: https://apis.openocean.finance/developer/apis/swap-api/api-v4

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"crossgate/quote"
	"crossgate/upstream"
)

// openOcean prices with /quote and builds with /swap. Its referrer fee may be of either side: no affiliate share.
var openOcean = service{
	// 20 requests in 10 s per address; holders of a key ask open-api-pro.openocean.finance and have plans of their own.
	Service: Service{
		Name: "openocean", URL: "https://open-api.openocean.finance",
		RequestsPerSecond: 1.5, Burst: 4, Source: "github RabbyHub/rabby-swap, list.ts",
	},
	profile: quote.Profile{ImageURL: "https://assets.coingecko.com/coins/images/17014/small/ooe_log.png"},
	asks: requestTemplate{ // the API requires a gas price, in wei, to weigh routes
		path: "v4/$chain/${quote|swap}", header: "Apikey=$key", fits: slippageWithin("0.05", "50"),
		query: "inTokenAddress=$in outTokenAddress=$out amountDecimals=$amount gasPriceDecimals=${gasPrice:1000000000} " +
			"slippage=$percent disabledDexIds=$excludedSources",
		builds: "sender=$sender account=$recipient", // who calls and who is paid
	},
	contracts: []deployment{{
		chains:  []uint64{1, 10, 56, 100, 137, 143, 146, 999, 1329, 5000, 8453, 9745, 42161, 43114, 59144, 80094},
		routers: []string{"0x6352a56caadC4F1E25CD6c75970Fa768A3304e64"}, // ExchangeV2, also the spender
	}},
	// caller; srcToken, dstToken, srcReceiver, dstReceiver, amount, minReturnAmount, guaranteedAmount, flags, referrer,
	// permit; calls. Others name no token out.
	functions: readsCalls(function{
		signature: "swap(address,(address,address,address,address,uint256,uint256,uint256,uint256,address,bytes)," +
			"(uint256,uint256,uint256,bytes)[])",
		tokenIn: position{1, 0}, tokenOut: position{1, 1}, amountIn: position{1, 4}, minOut: position{1, 5},
		payee: position{1, 3}, zeroPays: true,
		refine: func(arguments []any, _ *quote.Call) error {
			if hasFlag(arguments, position{1, 7}, openOceanPartialFill) {
				return errPartialFill
			}
			return nil
		},
	}),
}

const openOceanPartialFill = 0x01 // a flag of swap

func init() {
	register(openOcean.Service, openOcean.pricesAgain(readOpenOcean), excludedSources)
}

// readOpenOcean reads an answer. Most failures have HTTP status 200 and another code; without a route data is null.
func readOpenOcean(resp upstream.Response, _ quote.Profile, _ quote.Swap) (proposal, error) {
	var answer struct {
		Code    int             `json:"code"`
		Error   string          `json:"error"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	err := decode(resp, &answer)
	message := cmp.Or(answer.Error, answer.Message)
	switch {
	case answer.Code == http.StatusTooManyRequests:
		return proposal{}, limited(openOcean.Name, resp.Status, message)
	case isRejection(resp):
		return proposal{}, refused(openOcean.Name, resp.Status, message)
	case err != nil:
		return proposal{}, err
	case answer.Code == 0:
		return proposal{}, errors.New("answer without a code")
	case answer.Code != http.StatusOK:
		return proposal{}, refused(openOcean.Name, resp.Status, fmt.Sprintf("%d %s", answer.Code, message))
	case len(answer.Data) == 0 || string(answer.Data) == "null":
		return proposal{}, noSwapRoute("no data")
	}
	var data struct {
		InAmount     digits `json:"inAmount"`
		OutAmount    digits `json:"outAmount"`
		EstimatedGas digits `json:"estimatedGas"`
		MinOutAmount digits `json:"minOutAmount"`
		transaction
	}
	if err := unmarshal(answer.Data, "answer data", &data); err != nil {
		return proposal{}, err
	}
	return proposal{
		in: &data.InAmount, out: data.OutAmount, minimum: &data.MinOutAmount, gas: data.EstimatedGas, tx: data.transaction,
	}, nil
}
