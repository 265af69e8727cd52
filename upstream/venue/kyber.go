package venue

// KyberSwap Aggregator API v1: https://docs.kyberswap.com/developer-guide/aggregator-api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// kyber is asked for a route, and to build it when it wins, so that prices do not depend on a wallet.
var kyber = service{
	// 30 requests in 10 s are allowed to a client that says who it is.
	Service: Service{
		Name: "kyberswap", URL: "https://aggregator-api.kyberswap.com", Keyless: true, RequestsPerSecond: 2.5, Burst: 5,
		Source: "docs.kyberswap.com/developer-guide/aggregator-api/contracts; Robinhood: github vultisig/vultisig-sdk#1541, " +
			"where the API was asked",
	},
	profile: quote.Profile{
		AnswerName: "kyber", ImageURL: "https://kyberswap.com/favicon.png", PaysTwo: true,
		MaxAffiliatePercent: decimal.New(9999, -2), // any share of the input that leaves something to swap
	},
	asks: requestTemplate{
		path: "$chain/api/v1/routes", header: "X-Client-Id=${clientID:crossgate}", chains: kyberSlugs,
		query:  "tokenIn=$in tokenOut=$out amountIn=$amount gasPrice=$gasPrice excludedSources=$excludedSources",
		shares: "feeAmount=$eachBps isInBps=true chargeFeeBy=currency_in feeReceiver=$eachPayee",
	},
	contracts: []deployment{{
		chains:  slices.Collect(maps.Keys(kyberSlugs)),
		routers: []string{"0x6131B5fae19EA4f9D964eAc0408E4408b66337b5"}, // MetaAggregationRouterV2, also the spender
	}},
	functions: readsCalls(
		kyberFunction("swap(("+kyberTarget+kyberDescription+",bytes))", 0, 3),
		kyberFunction("swapGeneric(("+kyberTarget+kyberDescription+",bytes))", 0, 3),
		kyberFunction("swapSimpleMode(address,"+kyberDescription+",bytes,bytes)", 1),
	),
}

// callTarget, approveTarget, targetData; SwapDescriptionV2: srcToken, dstToken, srcReceivers, srcAmounts, feeReceivers,
// feeAmounts, dstReceiver, amount, minReturnAmount, flags, permit.
const (
	kyberTarget      = "address,address,bytes,"
	kyberDescription = "(address,address,address[],uint256[],address[],uint256[],address,uint256,uint256,uint256,bytes)"
)

// Flags of SwapDescriptionV2.
const (
	kyberPartialFill = 0x01
	kyberFeeOnOutput = 0x40
	kyberFeeInBps    = 0x80
)

// kyberFunction is a function with its description at a position.
func kyberFunction(signature string, description ...int) function {
	at := func(member int) position {
		return append(position(description[:len(description):len(description)]), member)
	}
	return function{
		signature: signature, tokenIn: at(0), tokenOut: at(1), amountIn: at(7), minOut: at(8), payee: at(6), zeroPays: true,
		refine: func(arguments []any, c *quote.Call) error {
			if err := kyberShares(arguments, at, c); err != nil {
				return err
			}
			switch flags := at(9); {
			case hasFlag(arguments, flags, kyberPartialFill):
				return errPartialFill
			case hasFlag(arguments, flags, kyberFeeOnOutput):
				return errors.New("it takes a fee of the output")
			case c.TokenIn.IsNative():
				return nil
			default:
				return kyberTakes(arguments, at, c.AmountIn, hasFlag(arguments, flags, kyberFeeInBps))
			}
		},
	}
}

// kyberShares reads who receives which share of the input.
func kyberShares(arguments []any, at func(int) position, c *quote.Call) error {
	r := argumentReader{arguments: arguments}
	receivers, _ := r.at(at(4)).([]common.Address)
	fees, _ := r.at(at(5)).([]*big.Int)
	shares := []*quote.Affiliate{&c.Affiliate, &c.Second}
	if len(receivers) > len(shares) || len(fees) != len(receivers) {
		return fmt.Errorf("it pays %d fees to %d receivers", len(fees), len(receivers))
	}
	for i, fee := range fees {
		percent := decimal.NewFromBigInt(fee, 2)
		if hasFlag(arguments, at(9), kyberFeeInBps) {
			percent = percent.Shift(-4)
		} else if !c.AmountIn.IsZero() {
			percent = percent.DivRound(decimal.NewFromBigInt(c.AmountIn.Big(), 0), 18).Truncate(9)
		}
		*shares[i] = quote.Affiliate{Percent: percent, Recipient: chain.NewAddress(receivers[i].Bytes())}
	}
	return nil
}

// kyberTakes refuses lists of payments that come to more than the input: each is taken from the sender.
func kyberTakes(arguments []any, at func(int) position, amount chain.Amount, feesInBps bool) error {
	r := argumentReader{arguments: arguments}
	amounts, _ := r.at(at(3)).([]*big.Int)
	fees, _ := r.at(at(5)).([]*big.Int)
	taken := new(big.Int)
	for _, each := range amounts {
		taken.Add(taken, each)
	}
	for _, each := range fees {
		if feesInBps {
			each = new(big.Int).Div(new(big.Int).Mul(amount.Big(), each), big.NewInt(wholeBps))
		}
		taken.Add(taken, each)
	}
	if taken.Cmp(amount.Big()) > 0 {
		return fmt.Errorf("it takes %s of the input in place of %s", taken, amount)
	}
	return nil
}

func init() {
	register(kyber.Service, func(o Options) (quote.Venue, error) {
		return &twoCalls[json.RawMessage]{
			pricing[json.RawMessage]{o, kyber.on(o.Registry), kyber.asks.toQuote, readKyberRoute},
			kyberBuildRequest, readKyberBuild,
		}, nil
	}, kyberClientID, excludedSources)
}

const (
	// kyberSlippageCap is the slippage in bps above which the API wants to hear that it is meant.
	kyberSlippageCap = 2000

	// kyberClientID is the setting with which the gateway introduces itself.
	kyberClientID = "clientID"
)

// kyberSlugs are the chains by their EIP-155 ids.
var kyberSlugs = map[uint64]string{
	1: "ethereum", 10: "optimism", 56: "bsc", 137: "polygon", 143: "monad", 146: "sonic", 999: "hyperevm",
	4326: "megaeth", 4663: "robinhood", 5000: "mantle", 8453: "base", 9745: "plasma", 42161: "arbitrum", 43114: "avalanche",
	59144: "linea", 80094: "berachain",
}

// Error codes of the API.
const (
	kyberNoRoute      = 4008
	kyberTooLarge     = 4009
	kyberNoPools      = 4010
	kyberUnknownToken = 4011
	kyberMoved        = 4222
)

// kyberBuildRequest sends the route back untouched: the API signs it.
func kyberBuildRequest(o Options, s quote.Swap, route json.RawMessage) (upstream.Request, error) {
	slippage := bps(s.SlippagePercent)
	body, err := encode(struct {
		RouteSummary         json.RawMessage `json:"routeSummary"`
		Sender               string          `json:"sender"`
		Recipient            string          `json:"recipient"`
		Origin               string          `json:"origin"`
		SlippageTolerance    int             `json:"slippageTolerance"` // bps
		IgnoreCappedSlippage bool            `json:"ignoreCappedSlippage,omitempty"`
		Deadline             int64           `json:"deadline"` // UNIX seconds
		Source               string          `json:"source"`
	}{
		RouteSummary: route, Sender: s.Sender.String(), Recipient: s.Recipient.String(), Origin: s.Sender.String(),
		SlippageTolerance: slippage, IgnoreCappedSlippage: slippage > kyberSlippageCap,
		Deadline: o.deadline(s.Chain.ID).Unix(), Source: kyberClient(o),
	})
	return upstream.Request{
		Method: http.MethodPost, Path: kyberSlugs[s.Chain.Native] + "/api/v1/route/build", Body: body,
		Header: header("X-Client-Id", kyberClient(o)),
	}, err
}

func kyberClient(o Options) string { return cmp.Or(o.Settings[kyberClientID], "crossgate") }

// readKyberRoute reads GET /routes. The affiliate's share is off the amount already.
func readKyberRoute(resp upstream.Response, p quote.Profile, s quote.Swap) (found pricedRoute[json.RawMessage], err error) {
	var data struct {
		RouteSummary  json.RawMessage `json:"routeSummary"`
		RouterAddress string          `json:"routerAddress"`
	}
	if err := readKyberData(resp, &data); err != nil {
		return found, err
	}
	var summary struct {
		AmountIn  digits `json:"amountIn"`
		AmountOut digits `json:"amountOut"`
		Gas       digits `json:"gas"`
	}
	if err := unmarshal(data.RouteSummary, "route summary", &summary); err != nil {
		return found, err
	}
	found.amountOut, found.gas, found.route = summary.AmountOut.amount(), summary.Gas.gas(), data.RouteSummary
	return found, errors.Join(checkIn(summary.AmountIn, s), checkRouter(data.RouterAddress, p, s))
}

// readKyberBuild reads the answer of POST /route/build.
func readKyberBuild(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	var data struct {
		AmountIn         digits `json:"amountIn"`
		AmountOut        digits `json:"amountOut"`
		Data             string `json:"data"`
		RouterAddress    string `json:"routerAddress"`
		TransactionValue digits `json:"transactionValue"`
	}
	if err := readKyberData(resp, &data); err != nil {
		return quote.Tx{}, err
	}
	if err := checkIn(data.AmountIn, s); err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(data.AmountOut.amount(), q); err != nil {
		return quote.Tx{}, err
	}
	return transaction{To: data.RouterAddress, Value: data.TransactionValue, Data: data.Data}.check(p, s)
}

// readKyberData opens the envelope of every answer, whose code is zero when all is well.
func readKyberData(resp upstream.Response, data any) error {
	var answer struct {
		Code    *int            `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	err := decode(resp, &answer)
	if err != nil || answer.Code == nil {
		if isRejection(resp) { // an unknown chain has an envelope of its own
			return refused(kyber.Name, resp.Status, answer.Message)
		}
		return errors.Join(err, errors.New("answer without a code"))
	}
	switch *answer.Code {
	case 0:
	case kyberNoRoute, kyberTooLarge, kyberNoPools, kyberUnknownToken:
		return noSwapRoute(answer.Message)
	case kyberMoved:
		return fmt.Errorf("%w: %s", ErrPriceMoved, clean(answer.Message))
	default:
		return refused(kyber.Name, resp.Status, fmt.Sprintf("%d %s", *answer.Code, answer.Message))
	}
	return unmarshal(answer.Data, "answer data", data)
}
