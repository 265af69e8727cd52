package venue

// 1inch Classic Swap v6.1: https://business.1inch.com/portal/documentation/apis/swap/classic-swap

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	oneInchName   = "1inch"
	oneInchRouter = "0x111111125421cA6dc452d289314280a0f8842A65" // AggregationRouterV6, also the spender
	oneInchImage  = "https://icons.llamao.fi/icons/protocols/1inch-network"

	// oneInchLife is ours: the API does not say how long a price holds.
	oneInchLife = 30 * time.Second
)

// oneInchChains are the chains, whose EIP-155 ids the API takes.
var oneInchChains = map[uint64]bool{
	1: true, 10: true, 56: true, 100: true, 137: true, 143: true, 146: true, 8453: true, 42161: true, 43114: true, 59144: true,
}

// oneInchMostSlippage is the slippage that the API takes, in percent.
var oneInchMostSlippage = decimal.NewFromInt(50)

func init() {
	// One request per second in the free plan.
	register(Service{Name: oneInchName, URL: "https://api.1inch.com", Keyed: true, RequestsPerSecond: 1, Burst: 2}, openOneInch)
}

// oneInch prices with /quote, which needs no wallet, and builds with /swap, which prices anew.
type oneInch struct {
	pool            *upstream.Pool
	profile         quote.Profile
	key             string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*oneInch)(nil)

// openOneInch knows the setting excludedSources (comma-separated, in the API's names).
func openOneInch(o Options) (quote.Venue, error) {
	if err := o.allow("excludedSources"); err != nil {
		return nil, err
	}
	return &oneInch{
		pool: o.Pool, key: o.Key, excludedSources: o.Settings["excludedSources"], now: o.Now,
		profile: quote.Profile{
			Name: oneInchName, ImageURL: oneInchImage,
			Routers:             o.routers(oneInchRouter, func(native uint64) bool { return oneInchChains[native] }),
			MaxAffiliatePercent: decimal.NewFromInt(3),
		},
	}, nil
}

// Profile implements quote.Venue.
func (v *oneInch) Profile() quote.Profile { return v.profile }

// Quote implements quote.Venue.
func (v *oneInch) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := suits(v.profile, s); err != nil {
		return quote.Quote{}, err
	}
	if s.SlippagePercent.GreaterThan(oneInchMostSlippage) {
		return quote.Quote{}, fmt.Errorf("1inch: %w with a slippage of %s %%", quote.ErrNoRoute, s.SlippagePercent)
	}
	asked := v.now()
	price, err := ask(ctx, v.pool, v.request(s, "quote", v.quoteQuery(s)), readOneInch)
	if err != nil {
		return quote.Quote{}, fmt.Errorf("1inch quote on chain %d: %w", s.Chain.ID, err)
	}
	return quote.Quote{
		Venue: oneInchName, AmountOut: price.amountOut(), Gas: price.Gas.gas(), Expires: asked.Add(oneInchLife),
	}, nil
}

// Build implements quote.Venue.
func (v *oneInch) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	if q.Venue != oneInchName {
		return quote.Tx{}, errors.New("1inch build of a quote that is not its own")
	}
	tx, err := ask(ctx, v.pool, v.request(s, "swap", v.swapQuery(s)), func(resp upstream.Response) (quote.Tx, error) {
		return readOneInchSwap(resp, v.profile, s, q)
	})
	if err != nil {
		return quote.Tx{}, fmt.Errorf("1inch swap on chain %d: %w", s.Chain.ID, err)
	}
	return tx, nil
}

func (v *oneInch) quoteQuery(s quote.Swap) url.Values {
	query := url.Values{
		"src":        {tokenText(s.In.Address)},
		"dst":        {tokenText(s.Out.Address)},
		"amount":     {s.In.Amount.String()},
		"includeGas": {"true"},
	}
	if !s.GasPrice.IsZero() {
		query.Set("gasPrice", s.GasPrice.String())
	}
	if v.excludedSources != "" {
		query.Set("excludedProtocols", v.excludedSources)
	}
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("fee", share.String()) // percent of the input
	}
	return query
}

// swapQuery leaves out the API's own simulation: a wallet may approve, or be filled, later.
func (v *oneInch) swapQuery(s quote.Swap) url.Values {
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
	return query
}

func (v *oneInch) request(s quote.Swap, resource string, query url.Values) upstream.Request {
	return upstream.Request{
		Path: "swap/v6.1/" + strconv.FormatUint(s.Chain.Native, 10) + "/" + resource, Query: query,
		Header: http.Header{"Authorization": {"Bearer " + v.key}},
	}
}

// oneInchAnswer is what both resources answer; the transaction is absent from a price. It does not repeat
// the input, and does not tell the minimum.
type oneInchAnswer struct {
	DstAmount digits `json:"dstAmount"`
	Gas       digits `json:"gas"`
	Tx        struct {
		To    string `json:"to"`
		Value digits `json:"value"`
		Data  string `json:"data"`
	} `json:"tx"`
}

func (a oneInchAnswer) amountOut() chain.Amount { return a.DstAmount.amount() }

// readOneInch reads an answer's price.
func readOneInch(resp upstream.Response) (oneInchAnswer, error) {
	if isRejection(resp) {
		return oneInchAnswer{}, oneInchRefusal(resp)
	}
	var answer oneInchAnswer
	if err := decode(resp, &answer); err != nil {
		return oneInchAnswer{}, err
	}
	if answer.DstAmount == "" {
		return oneInchAnswer{}, errors.New("answer without an amount")
	}
	if answer.amountOut().IsZero() {
		return oneInchAnswer{}, noRoute("nothing comes out")
	}
	return answer, nil
}

// readOneInchSwap reads the answer of GET /swap.
func readOneInchSwap(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	answer, err := readOneInch(resp)
	if err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(answer.DstAmount, q); err != nil {
		return quote.Tx{}, err
	}
	return transaction{to: answer.Tx.To, value: answer.Tx.Value, data: answer.Tx.Data}.check(p, s)
}

func oneInchRefusal(resp upstream.Response) error {
	var failure struct {
		Description string `json:"description"`
	}
	if err := decode(resp, &failure); err != nil {
		return refused(oneInchName, resp.Status, "")
	}
	if strings.EqualFold(failure.Description, "insufficient liquidity") {
		return noRoute(failure.Description)
	}
	return refused(oneInchName, resp.Status, failure.Description)
}
