package venue

// 1inch Classic Swap v6.1: https://business.1inch.com/portal/documentation/apis/swap/classic-swap

import (
	"errors"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/quote"
	"crossgate/upstream"
)

// oneInch prices with /quote, which needs no wallet, and builds with /swap, which prices again.
var oneInch = service{
	// One request per second in the free plan.
	Service: Service{
		Name: "1inch", URL: "https://api.1inch.com", Keyed: true, RequestsPerSecond: 1, Burst: 2,
		Source: "github 1inch/1inch-sdk-go; Robinhood: github 1inch/fusion-sdk#177",
	},
	profile: quote.Profile{
		ImageURL: "https://icons.llamao.fi/icons/protocols/1inch-network", MaxAffiliatePercent: decimal.NewFromInt(3),
	},
	asks: requestTemplate{ // without the API's own simulation: a wallet may approve, or be filled, later
		path: "swap/v6.1/$chain/${quote|swap}", header: "Authorization=$bearer", fits: slippageWithin("0", "50"),
		query: "src=$in dst=$out amount=$amount includeGas=true gasPrice=$gasPrice excludedProtocols=$excludedSources fee=$share",
		builds: "from=$sender origin=$sender receiver=$recipient slippage=$percent4 disableEstimate=true " +
			"allowPartialFill=false referrer=$payee",
	},
	// AggregationRouterV6, also the spender.
	contracts: []deployment{
		{
			chains:  []uint64{1, 10, 56, 100, 137, 143, 146, 8453, 42161, 43114, 59144},
			routers: []string{"0x111111125421cA6dc452d289314280a0f8842A65"},
		},
		{chains: []uint64{4663}, routers: []string{"0x5a705de8982235a7fa45bB83dCaCf03a211389C7"}},
	},
	// executor; srcToken, dstToken, srcReceiver, dstReceiver, amount, minReturnAmount, flags; data. Others name no
	// token out.
	functions: readsCalls(function{
		signature: "swap(address,(address,address,address,address,uint256,uint256,uint256),bytes)",
		tokenIn:   position{1, 0}, tokenOut: position{1, 1}, amountIn: position{1, 4}, minOut: position{1, 5},
		payee: position{1, 3}, zeroPays: true, tag: 4,
		refine: func(arguments []any, _ *quote.Call) error {
			if hasFlag(arguments, position{1, 6}, oneInchPartialFill) {
				return errPartialFill
			}
			return nil
		},
	}),
}

const oneInchPartialFill = 0x01 // a flag of swap

func init() {
	register(oneInch.Service, oneInch.pricesAgain(readOneInch), excludedSources)
}

// readOneInch reads an answer, which has neither the input nor the minimum.
func readOneInch(resp upstream.Response, _ quote.Profile, _ quote.Swap) (proposal, error) {
	var answer struct {
		DstAmount digits      `json:"dstAmount"`
		Gas       digits      `json:"gas"`
		Tx        transaction `json:"tx"`
	}
	err := decodeOr(oneInchFailure, oneInch.Name, resp, &answer)
	if err == nil && answer.DstAmount == "" {
		err = errors.New("answer without an amount")
	}
	return proposal{out: answer.DstAmount, gas: answer.Gas, tx: answer.Tx}, err
}

func oneInchFailure(f failure) (message string, isRoute bool) {
	message = f.text("description")
	return message, strings.EqualFold(message, "insufficient liquidity")
}
