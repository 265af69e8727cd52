package venue

// SushiSwap aggregator API v7: https://www.sushi.com/docs/api

import (
	"cmp"
	"fmt"
	"net/url"

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

// sushi prices with /quote and builds with /swap, which prices again.
type sushi struct{ Options }

func openSushi(o Options) (quote.Venue, error) {
	return pricesAgain(o, quote.Profile{
		Name: sushiName, ImageURL: sushiImage,
		Routers:             o.routers(sushiRouter, sushiChains...),
		MaxAffiliatePercent: decimal.NewFromInt(50),
	}, sushi{o}.request, readSushi), nil
}

// request leaves out the API's own simulation: a wallet may approve, or be filled, later.
func (v sushi) request(s quote.Swap, builds bool) (upstream.Request, error) {
	query := url.Values{
		"tokenIn":     {tokenText(s.In.Address)},
		"tokenOut":    {tokenText(s.Out.Address)},
		"amount":      {s.In.Amount.String()},
		"maxSlippage": {fraction(s.SlippagePercent)},
	}
	set(query, "excludeDEX", v.Settings[excludedSources])
	set(query, "apiKey", v.Key)
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("fee", fraction(share))
		query.Set("feeBy", "input")
		query.Set("feeReceiver", s.Affiliate.Recipient.String())
	}
	resource := "quote"
	if builds {
		resource = "swap"
		query.Set("sender", s.Sender.String())
		query.Set("recipient", s.Recipient.String())
		query.Set("simulate", "false")
	}
	return upstream.Request{Path: resource + "/v7/" + chainText(s), Query: query}, nil
}

// readSushi reads an answer. A pair without a route has the HTTP status 200; a part of a swap is none.
func readSushi(
	resp upstream.Response, p quote.Profile, s quote.Swap, q *quote.Quote,
) (found pricedRoute[quote.Tx], err error) {
	var answer struct {
		Status           string      `json:"status"`
		AmountIn         digits      `json:"amountIn"`
		AssumedAmountOut digits      `json:"assumedAmountOut"`
		GasSpent         digits      `json:"gasSpent"`
		Tx               transaction `json:"tx"` // its value is absent when nothing of the coin is sent
	}
	if err := decodeOr(sushiRefusal, resp, &answer); err != nil {
		return found, err
	}
	switch answer.Status {
	case "Success":
	case "NoWay", "Partial":
		return found, noSwapRoute("status " + answer.Status)
	default:
		return found, fmt.Errorf("answer of status %q", clean(answer.Status))
	}
	found.amountOut, found.gas = answer.AssumedAmountOut.amount(), answer.GasSpent.gas()
	if err := checkIn(answer.AmountIn, s); err != nil || q == nil {
		return found, err
	}
	if err := checkMoved(found.amountOut, *q); err != nil {
		return found, err
	}
	answer.Tx.Value = cmp.Or(answer.Tx.Value, "0")
	found.route, err = answer.Tx.check(p, s)
	return found, err
}

func sushiRefusal(resp upstream.Response) error {
	return refusal(sushiName, resp, func(f failure) (string, bool) {
		return cmp.Or(f.text("detail"), f.text("details"), f.text("title")), false
	})
}
