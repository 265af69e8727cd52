package venue

// 1inch Classic Swap v6.1: https://business.1inch.com/portal/documentation/apis/swap/classic-swap

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
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

// oneInch prices with /quote, which needs no wallet, and builds with /swap, which prices anew.
type oneInch struct{ Options }

func openOneInch(o Options) (quote.Venue, error) {
	v := oneInch{o}
	return &twoCalls[anew]{
		pricing: pricing[anew]{Options: o, request: v.quoteRequest, read: readOneInchQuote, profile: quote.Profile{
			Name: oneInchName, ImageURL: oneInchImage,
			Routers:             o.routers(oneInchRouter, oneInchChains...),
			MaxAffiliatePercent: decimal.NewFromInt(3),
		}},
		buildRequest: v.swapRequest, readBuild: readOneInchSwap,
	}, nil
}

func (v oneInch) quoteRequest(s quote.Swap) (upstream.Request, error) {
	if s.SlippagePercent.GreaterThan(oneInchMostSlippage) {
		return upstream.Request{}, fmt.Errorf("%w with a slippage of %s %%", quote.ErrNoRoute, s.SlippagePercent)
	}
	return v.request(s, "quote", v.quoteQuery(s)), nil
}

// swapRequest leaves out the API's own simulation: a wallet may approve, or be filled, later.
func (v oneInch) swapRequest(s quote.Swap, _ anew) (upstream.Request, error) {
	query := v.quoteQuery(s)
	query.Set("from", s.Sender.String())
	query.Set("origin", s.Sender.String())
	query.Set("receiver", s.Recipient.String())
	query.Set("slippage", s.SlippagePercent.RoundFloor(4).String()) // percent
	query.Set("disableEstimate", "true")
	query.Set("allowPartialFill", "false")
	if s.Affiliate.Percent.IsPositive() {
		query.Set("referrer", s.Affiliate.Recipient.String())
	}
	return v.request(s, "swap", query), nil
}

func (v oneInch) quoteQuery(s quote.Swap) url.Values {
	query := url.Values{
		"src":        {tokenText(s.In.Address)},
		"dst":        {tokenText(s.Out.Address)},
		"amount":     {s.In.Amount.String()},
		"includeGas": {"true"},
	}
	if !s.GasPrice.IsZero() {
		query.Set("gasPrice", s.GasPrice.String())
	}
	set(query, "excludedProtocols", v.Settings[excludedSources])
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("fee", share.String()) // percent of the input
	}
	return query
}

func (v oneInch) request(s quote.Swap, resource string, query url.Values) upstream.Request {
	return upstream.Request{
		Path: "swap/v6.1/" + strconv.FormatUint(s.Chain.Native, 10) + "/" + resource, Query: query,
		Header: http.Header{"Authorization": {"Bearer " + v.Key}},
	}
}

// oneInchAnswer is what both resources answer; the transaction is absent from a price. It does not repeat
// the input, and does not tell the minimum.
type oneInchAnswer struct {
	DstAmount digits      `json:"dstAmount"`
	Gas       digits      `json:"gas"`
	Tx        transaction `json:"tx"`
}

// readOneInch reads what both answers have.
func readOneInch(resp upstream.Response) (answer oneInchAnswer, err error) {
	if err := decodeOr(oneInchRefusal, resp, &answer); err != nil {
		return answer, err
	}
	if answer.DstAmount == "" {
		return answer, errors.New("answer without an amount")
	}
	return answer, nil
}

// readOneInchQuote reads the answer of GET /quote.
func readOneInchQuote(resp upstream.Response, _ quote.Profile, _ quote.Swap) (offer[anew], error) {
	answer, err := readOneInch(resp)
	return offer[anew]{amountOut: answer.DstAmount.amount(), gas: answer.Gas.gas()}, err
}

// readOneInchSwap reads the answer of GET /swap.
func readOneInchSwap(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	answer, err := readOneInch(resp)
	if err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(answer.DstAmount.amount(), q); err != nil {
		return quote.Tx{}, err
	}
	return answer.Tx.check(p, s)
}

type oneInchFailure struct {
	Description string `json:"description"`
}

func oneInchRefusal(resp upstream.Response) error {
	return refusal(oneInchName, resp, func(f oneInchFailure) (string, bool) {
		return f.Description, strings.EqualFold(f.Description, "insufficient liquidity")
	})
}
