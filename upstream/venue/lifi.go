package venue

// LI.FI API, GET /v1/quote: https://docs.li.fi/api-reference

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"crossgate/quote"
	"crossgate/upstream"
)

const (
	lifiName   = "lifi"
	lifiRouter = "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE" // the Diamond, also the spender
	lifiImage  = "https://li.fi/favicon.ico"
)

// lifiChains are the chains, whose EIP-155 ids the API takes.
var lifiChains = map[uint64]bool{
	1: true, 10: true, 25: true, 56: true, 100: true, 137: true, 143: true, 146: true, 747: true, 999: true, 1329: true,
	4326: true, 5000: true, 8453: true, 9745: true, 42161: true, 43114: true, 59144: true, 60808: true, 80094: true,
}

func init() {
	// 75 quotes in two hours without a key, 100 a minute with one.
	register(Service{Name: lifiName, URL: "https://li.quest", RequestsPerSecond: 0.01, Burst: 5}, openLifi)
}

// lifi asks other aggregators and keeps 0.25 % of the input, so it is a fallback: for pairs that few others
// trade. It answers with price and transaction at once. It takes no affiliate share: who is paid is agreed
// with the venue beforehand.
type lifi struct {
	pool            *upstream.Pool
	profile         quote.Profile
	key             string
	integrator      string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*lifi)(nil)

// openLifi knows the settings integrator (a name registered with the venue) and excludedSources
// (comma-separated exchanges, in the API's names).
func openLifi(o Options) (quote.Venue, error) {
	if err := o.allow("integrator", "excludedSources"); err != nil {
		return nil, err
	}
	return &lifi{
		pool: o.Pool, key: o.Key, now: o.Now,
		integrator: o.Settings["integrator"], excludedSources: o.Settings["excludedSources"],
		profile: quote.Profile{
			Name: lifiName, ImageURL: lifiImage, Fallback: true,
			Routers: o.routers(lifiRouter, func(native uint64) bool { return lifiChains[native] }),
		},
	}, nil
}

// Profile implements quote.Venue.
func (l *lifi) Profile() quote.Profile { return l.profile }

// Quote implements quote.Venue.
func (l *lifi) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	asked := l.now()
	offered, err := l.ask(ctx, s)
	if err != nil {
		return quote.Quote{}, err
	}
	return offered.quote(asked), nil
}

// Build implements quote.Venue.
func (l *lifi) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	return buildReady(lifiName, s, q, func() (ready, error) { return l.ask(ctx, s) })
}

func (l *lifi) ask(ctx context.Context, s quote.Swap) (ready, error) {
	if err := suits(l.profile, s); err != nil {
		return ready{}, err
	}
	return askReady(ctx, l.pool, l.request(s), lifiName, s, func(resp upstream.Response) (ready, error) {
		return readLifi(resp, l.profile, s)
	})
}

// request leaves out the API's own simulation: a wallet may approve, or be filled, later.
func (l *lifi) request(s quote.Swap) upstream.Request {
	id := strconv.FormatUint(s.Chain.Native, 10)
	query := url.Values{
		"fromChain":      {id},
		"toChain":        {id},
		"fromToken":      {s.In.Address.String()}, // the coin is the zero address
		"toToken":        {s.Out.Address.String()},
		"fromAmount":     {s.In.Amount.String()},
		"fromAddress":    {s.Sender.String()},
		"toAddress":      {s.Recipient.String()},
		"slippage":       {fraction(s.SlippagePercent)},
		"skipSimulation": {"true"},
	}
	if l.integrator != "" {
		query.Set("integrator", l.integrator)
	}
	if l.excludedSources != "" {
		query.Set("denyExchanges", l.excludedSources)
	}
	request := upstream.Request{Path: "v1/quote", Query: query}
	if l.key != "" {
		request.Header = http.Header{"X-Lifi-Api-Key": {l.key}}
	}
	return request
}

// readLifi reads the answer, whose transaction has its numbers in hex.
func readLifi(resp upstream.Response, p quote.Profile, s quote.Swap) (ready, error) {
	if isRejection(resp) {
		return ready{}, lifiRefusal(resp)
	}
	var answer struct {
		Estimate struct {
			FromAmount      digits `json:"fromAmount"`
			ToAmount        digits `json:"toAmount"`
			ToAmountMin     digits `json:"toAmountMin"`
			ApprovalAddress string `json:"approvalAddress"`
		} `json:"estimate"`
		TransactionRequest struct {
			To       string    `json:"to"`
			Value    hexDigits `json:"value"`
			Data     string    `json:"data"`
			GasLimit hexDigits `json:"gasLimit"`
		} `json:"transactionRequest"`
	}
	if err := decode(resp, &answer); err != nil {
		return ready{}, err
	}
	estimate, request := answer.Estimate, answer.TransactionRequest
	if err := checkIn(estimate.FromAmount, s); err != nil {
		return ready{}, err
	}
	amountOut := estimate.ToAmount.amount()
	if amountOut.IsZero() {
		return ready{}, noRoute("nothing comes out")
	}
	if err := checkMinimum(estimate.ToAmountMin, s, amountOut); err != nil {
		return ready{}, err
	}
	if err := checkSpender(estimate.ApprovalAddress, request.To, p, s); err != nil {
		return ready{}, err
	}
	tx, err := transaction{to: request.To, value: digits(request.Value), data: request.Data}.check(p, s)
	return ready{amountOut: amountOut, gas: digits(request.GasLimit).gas(), tx: tx}, err
}

// lifiRefusal reads an error. What the exchanges behind the API said stands in a list that comes with a
// missing route.
func lifiRefusal(resp upstream.Response) error {
	var failure struct {
		Message string          `json:"message"`
		Code    json.Number     `json:"code"`
		Errors  json.RawMessage `json:"errors"`
	}
	const codeNoQuote = "1002"
	if err := decode(resp, &failure); err != nil {
		return refused(lifiName, resp.Status, "")
	}
	if resp.Status == http.StatusNotFound && len(failure.Errors) > 0 || failure.Code == codeNoQuote {
		return noRoute(failure.Message)
	}
	return refused(lifiName, resp.Status, fmt.Sprintf("%s %s", failure.Code, failure.Message))
}
