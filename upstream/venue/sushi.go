package venue

// SushiSwap aggregator API v7: https://www.sushi.com/docs/api

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"

	"github.com/shopspring/decimal"

	"crossgate/quote"
	"crossgate/upstream"
)

const (
	sushiName   = "sushiswap"
	sushiRouter = "0xAC4c6e212A361c968F1725b4d055b47E63F80b75" // RedSnwapper, also the spender
	sushiImage  = "https://www.sushi.com/favicon.ico"
)

// sushiChains are the chains, whose EIP-155 ids the API takes.
var sushiChains = []uint64{
	1, 10, 25, 56, 100, 137, 143, 146, 999, 4326, 5000,
	8453, 9745, 42161, 43114, 59144, 80094,
}

func init() {
	// The limit is not published.
	register(Service{Name: sushiName, URL: "https://api.sushi.com", RequestsPerSecond: 3, Burst: 5}, openSushi, excludedSources)
}

// sushi prices with /quote and builds with /swap, which prices anew.
type sushi struct{ Options }

func openSushi(o Options) (quote.Venue, error) {
	v := sushi{o}
	return &twoCalls[anew]{
		pricing: pricing[anew]{Options: o, request: v.quoteRequest, read: readSushiQuote, profile: quote.Profile{
			Name: sushiName, ImageURL: sushiImage,
			Routers:             o.routers(sushiRouter, sushiChains...),
			MaxAffiliatePercent: decimal.NewFromInt(50),
		}},
		buildRequest: v.swapRequest, readBuild: readSushiSwap,
	}, nil
}

func (v sushi) quoteRequest(s quote.Swap) (upstream.Request, error) {
	return v.request(s, "quote", v.priceQuery(s)), nil
}

// swapRequest leaves out the API's own simulation: a wallet may approve, or be filled, later.
func (v sushi) swapRequest(s quote.Swap, _ anew) (upstream.Request, error) {
	query := v.priceQuery(s)
	query.Set("sender", s.Sender.String())
	query.Set("recipient", s.Recipient.String())
	query.Set("simulate", "false")
	return v.request(s, "swap", query), nil
}

func (v sushi) priceQuery(s quote.Swap) url.Values {
	query := url.Values{
		"tokenIn":     {tokenText(s.In.Address)},
		"tokenOut":    {tokenText(s.Out.Address)},
		"amount":      {s.In.Amount.String()},
		"maxSlippage": {fraction(s.SlippagePercent)},
	}
	set(query, "excludeDEX", v.Settings[excludedSources])
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("fee", fraction(share))
		query.Set("feeBy", "input")
		query.Set("feeReceiver", s.Affiliate.Recipient.String())
	}
	return query
}

func (v sushi) request(s quote.Swap, resource string, query url.Values) upstream.Request {
	set(query, "apiKey", v.Key)
	return upstream.Request{Path: resource + "/v7/" + strconv.FormatUint(s.Chain.Native, 10), Query: query}
}

// sushiAnswer is what both resources answer; the transaction is absent from a price.
type sushiAnswer struct {
	Status           string      `json:"status"`
	AmountIn         digits      `json:"amountIn"`
	AssumedAmountOut digits      `json:"assumedAmountOut"`
	GasSpent         digits      `json:"gasSpent"`
	Tx               transaction `json:"tx"` // its value is absent when nothing of the coin is sent
}

// readSushi reads what both answers have. A pair without a route has the HTTP status 200; a part of a swap is
// none.
func readSushi(resp upstream.Response, s quote.Swap) (answer sushiAnswer, err error) {
	if err := decodeOr(sushiRefusal, resp, &answer); err != nil {
		return answer, err
	}
	switch answer.Status {
	case "Success":
		return answer, checkIn(answer.AmountIn, s)
	case "NoWay", "Partial":
		return answer, noRoute("status " + answer.Status)
	}
	return answer, fmt.Errorf("answer of status %q", clean(answer.Status))
}

// readSushiQuote reads the answer of GET /quote.
func readSushiQuote(resp upstream.Response, _ quote.Profile, s quote.Swap) (offer[anew], error) {
	answer, err := readSushi(resp, s)
	return offer[anew]{amountOut: answer.AssumedAmountOut.amount(), gas: answer.GasSpent.gas()}, err
}

// readSushiSwap reads the answer of GET /swap.
func readSushiSwap(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	answer, err := readSushi(resp, s)
	if err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(answer.AssumedAmountOut.amount(), q); err != nil {
		return quote.Tx{}, err
	}
	answer.Tx.Value = cmp.Or(answer.Tx.Value, "0")
	return answer.Tx.check(p, s)
}

type sushiProblem struct {
	Title   string `json:"title"`
	Detail  string `json:"detail"`
	Details string `json:"details"` // the other spelling
}

func sushiRefusal(resp upstream.Response) error {
	return refusal(sushiName, resp, func(p sushiProblem) (string, bool) {
		return cmp.Or(p.Detail, p.Details, p.Title), false
	})
}
