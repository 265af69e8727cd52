package venue

// 1inch Classic Swap v6.1: https://business.1inch.com/portal/documentation/apis/swap/classic-swap

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/quote"
	"crossgate/upstream"
)

const (
	oneInchName   = "1inch"
	oneInchRouter = "0x111111125421cA6dc452d289314280a0f8842A65" // AggregationRouterV6, also the spender
	oneInchImage  = "https://icons.llamao.fi/icons/protocols/1inch-network"
)

// oneInchChains are the chains, whose EIP-155 ids the API takes.
var oneInchChains = []uint64{
	1, 10, 56, 100, 137, 143, 146, 8453, 42161, 43114, 59144,
}

// oneInchMostSlippage is the slippage that the API takes, in percent.
var oneInchMostSlippage = decimal.NewFromInt(50)

func init() {
	// One request per second in the free plan.
	register(Service{Name: oneInchName, URL: "https://api.1inch.com", Keyed: true, RequestsPerSecond: 1, Burst: 2}, openOneInch, excludedSources)
}

// oneInch prices with /quote, which needs no wallet, and builds with /swap, which prices again.
type oneInch struct{ Options }

func openOneInch(o Options) (quote.Venue, error) {
	return pricesAgain(o, quote.Profile{
		Name: oneInchName, ImageURL: oneInchImage,
		Routers:             o.routers(oneInchRouter, oneInchChains...),
		MaxAffiliatePercent: decimal.NewFromInt(3),
	}, oneInch{o}.request, readOneInch), nil
}

// request leaves out the API's own simulation: a wallet may approve, or be filled, later.
func (v oneInch) request(s quote.Swap, builds bool) (upstream.Request, error) {
	if s.SlippagePercent.GreaterThan(oneInchMostSlippage) {
		return upstream.Request{}, fmt.Errorf("%w with a slippage of %s %%", quote.ErrNoRoute, s.SlippagePercent)
	}
	query := url.Values{
		"src":        {tokenText(s.In.Address)},
		"dst":        {tokenText(s.Out.Address)},
		"amount":     {s.In.Amount.String()},
		"includeGas": {"true"},
	}
	set(query, "gasPrice", gasPriceText(s))
	set(query, "excludedProtocols", v.Settings[excludedSources])
	share := s.Affiliate.Percent
	if share.IsPositive() {
		query.Set("fee", share.String()) // percent of the input
	}
	resource := "/quote"
	if builds {
		resource = "/swap"
		query.Set("from", s.Sender.String())
		query.Set("origin", s.Sender.String())
		query.Set("receiver", s.Recipient.String())
		query.Set("slippage", s.SlippagePercent.RoundFloor(4).String()) // percent
		query.Set("disableEstimate", "true")
		query.Set("allowPartialFill", "false")
		if share.IsPositive() {
			query.Set("referrer", s.Affiliate.Recipient.String())
		}
	}
	return upstream.Request{Path: "swap/v6.1/" + chainText(s) + resource, Query: query, Header: bearer(v.Key)}, nil
}

// readOneInch reads an answer, which has neither the input nor the minimum.
func readOneInch(
	resp upstream.Response, p quote.Profile, s quote.Swap, q *quote.Quote,
) (found pricedRoute[quote.Tx], err error) {
	var answer struct {
		DstAmount digits      `json:"dstAmount"`
		Gas       digits      `json:"gas"`
		Tx        transaction `json:"tx"`
	}
	if err := decodeOr(oneInchRefusal, resp, &answer); err != nil {
		return found, err
	}
	if answer.DstAmount == "" {
		return found, errors.New("answer without an amount")
	}
	found.amountOut, found.gas = answer.DstAmount.amount(), answer.Gas.gas()
	if q == nil {
		return found, nil
	}
	if err := checkMoved(found.amountOut, *q); err != nil {
		return found, err
	}
	found.route, err = answer.Tx.check(p, s)
	return found, err
}

func oneInchRefusal(resp upstream.Response) error {
	return refusal(oneInchName, resp, func(f failure) (string, bool) {
		return f.text("description"), strings.EqualFold(f.text("description"), "insufficient liquidity")
	})
}
