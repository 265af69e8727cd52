package venue

// SushiSwap aggregator API v7: https://www.sushi.com/docs/api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	sushiName   = "sushiswap"
	sushiRouter = "0xAC4c6e212A361c968F1725b4d055b47E63F80b75" // RedSnwapper, also the spender
	sushiImage  = "https://www.sushi.com/favicon.ico"

	// sushiLife is ours: the API does not say how long a price holds.
	sushiLife = 30 * time.Second
)

// sushiChains are the chains, whose EIP-155 ids the API takes.
var sushiChains = map[uint64]bool{
	1: true, 10: true, 25: true, 56: true, 100: true, 137: true, 143: true, 146: true, 999: true, 4326: true, 5000: true,
	8453: true, 9745: true, 42161: true, 43114: true, 59144: true, 80094: true,
}

func init() {
	// The limit is not published.
	register(Service{Name: sushiName, URL: "https://api.sushi.com", RequestsPerSecond: 3, Burst: 5}, openSushi)
}

// sushi prices with /quote and builds with /swap, which prices anew.
type sushi struct {
	pool            *upstream.Pool
	profile         quote.Profile
	key             string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*sushi)(nil)

// openSushi knows the setting excludedSources (comma-separated, in the API's names).
func openSushi(o Options) (quote.Venue, error) {
	if err := o.allow("excludedSources"); err != nil {
		return nil, err
	}
	return &sushi{
		pool: o.Pool, key: o.Key, excludedSources: o.Settings["excludedSources"], now: o.Now,
		profile: quote.Profile{
			Name: sushiName, ImageURL: sushiImage,
			Routers:             o.routers(sushiRouter, func(native uint64) bool { return sushiChains[native] }),
			MaxAffiliatePercent: decimal.NewFromInt(50),
		},
	}, nil
}

// Profile implements quote.Venue.
func (v *sushi) Profile() quote.Profile { return v.profile }

// Quote implements quote.Venue.
func (v *sushi) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := suits(v.profile, s); err != nil {
		return quote.Quote{}, err
	}
	asked := v.now()
	price, err := ask(ctx, v.pool, v.request(s, "quote", v.priceQuery(s)), func(resp upstream.Response) (sushiAnswer, error) {
		return readSushi(resp, s)
	})
	if err != nil {
		return quote.Quote{}, fmt.Errorf("sushiswap quote on chain %d: %w", s.Chain.ID, err)
	}
	return quote.Quote{
		Venue: sushiName, AmountOut: price.amountOut(), Gas: price.GasSpent.gas(), Expires: asked.Add(sushiLife),
	}, nil
}

// Build implements quote.Venue.
func (v *sushi) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	if q.Venue != sushiName {
		return quote.Tx{}, errors.New("sushiswap build of a quote that is not its own")
	}
	tx, err := ask(ctx, v.pool, v.request(s, "swap", v.swapQuery(s)), func(resp upstream.Response) (quote.Tx, error) {
		return readSushiSwap(resp, v.profile, s, q)
	})
	if err != nil {
		return quote.Tx{}, fmt.Errorf("sushiswap swap on chain %d: %w", s.Chain.ID, err)
	}
	return tx, nil
}

func (v *sushi) priceQuery(s quote.Swap) url.Values {
	query := url.Values{
		"tokenIn":     {tokenText(s.In.Address)},
		"tokenOut":    {tokenText(s.Out.Address)},
		"amount":      {s.In.Amount.String()},
		"maxSlippage": {fraction(s.SlippagePercent)},
	}
	if v.excludedSources != "" {
		query.Set("excludeDEX", v.excludedSources)
	}
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("fee", fraction(share))
		query.Set("feeBy", "input")
		query.Set("feeReceiver", s.Affiliate.Recipient.String())
	}
	return query
}

// swapQuery leaves out the API's own simulation: a wallet may approve, or be filled, later.
func (v *sushi) swapQuery(s quote.Swap) url.Values {
	query := v.priceQuery(s)
	query.Set("sender", s.Sender.String())
	query.Set("recipient", s.Recipient.String())
	query.Set("simulate", "false")
	return query
}

func (v *sushi) request(s quote.Swap, resource string, query url.Values) upstream.Request {
	if v.key != "" {
		query.Set("apiKey", v.key)
	}
	return upstream.Request{Path: resource + "/v7/" + strconv.FormatUint(s.Chain.Native, 10), Query: query}
}

// sushiAnswer is what both resources answer; the transaction is absent from a price.
type sushiAnswer struct {
	Status           string `json:"status"`
	AmountIn         digits `json:"amountIn"`
	AssumedAmountOut digits `json:"assumedAmountOut"`
	GasSpent         digits `json:"gasSpent"`
	Tx               struct {
		To    string `json:"to"`
		Value digits `json:"value"` // absent when nothing of the coin is sent
		Data  string `json:"data"`
	} `json:"tx"`
}

func (a sushiAnswer) amountOut() chain.Amount { return a.AssumedAmountOut.amount() }

// readSushi reads an answer's price. A pair without a route has the HTTP status 200; a part of a swap is
// none.
func readSushi(resp upstream.Response, s quote.Swap) (sushiAnswer, error) {
	if isRejection(resp) {
		return sushiAnswer{}, sushiRefusal(resp)
	}
	var answer sushiAnswer
	if err := decode(resp, &answer); err != nil {
		return sushiAnswer{}, err
	}
	switch answer.Status {
	case "Success":
	case "NoWay", "Partial":
		return sushiAnswer{}, noRoute("status " + answer.Status)
	default:
		return sushiAnswer{}, fmt.Errorf("answer of status %q", clean(answer.Status))
	}
	if answer.amountOut().IsZero() {
		return sushiAnswer{}, noRoute("nothing comes out")
	}
	return answer, checkIn(answer.AmountIn, s)
}

// readSushiSwap reads the answer of GET /swap.
func readSushiSwap(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	answer, err := readSushi(resp, s)
	if err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(answer.AssumedAmountOut, q); err != nil {
		return quote.Tx{}, err
	}
	return transaction{to: answer.Tx.To, value: cmp.Or(answer.Tx.Value, "0"), data: answer.Tx.Data}.check(p, s)
}

// sushiRefusal reads an error, whose details are spelled in two ways.
func sushiRefusal(resp upstream.Response) error {
	var problem struct {
		Title   string `json:"title"`
		Detail  string `json:"detail"`
		Details string `json:"details"`
	}
	if err := decode(resp, &problem); err != nil {
		return refused(sushiName, resp.Status, "")
	}
	return refused(sushiName, resp.Status, cmp.Or(problem.Detail, problem.Details, problem.Title))
}
