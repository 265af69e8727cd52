package venue

// KyberSwap Aggregator API v1: https://docs.kyberswap.com/developer-guide/aggregator-api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	kyberName   = "kyberswap"
	kyberRouter = "0x6131B5fae19EA4f9D964eAc0408E4408b66337b5" // MetaAggregationRouterV2, also the spender
	kyberImage  = "https://kyberswap.com/favicon.png"

	// kyberLife is how long a route can be built from.
	kyberLife = 30 * time.Second

	// kyberSlippageCap is the slippage in bps above which the API wants to hear that it is meant.
	kyberSlippageCap = 2000
)

// kyberSlugs are the chains by their EIP-155 ids.
var kyberSlugs = map[uint64]string{
	1: "ethereum", 10: "optimism", 56: "bsc", 137: "polygon", 143: "monad", 146: "sonic", 999: "hyperevm",
	4326: "megaeth", 5000: "mantle", 8453: "base", 9745: "plasma", 42161: "arbitrum", 43114: "avalanche",
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

func init() {
	// 30 requests in 10 s are allowed to a client that says who it is.
	register(Service{
		Name: kyberName, URL: "https://aggregator-api.kyberswap.com", RequestsPerSecond: 2.5, Burst: 5,
	}, openKyber)
}

// kyber asks for a route first and has the transaction built from it when it wins, so the comparison
// does not depend on anyone's wallet.
type kyber struct {
	pool            *upstream.Pool
	profile         quote.Profile
	clientID        string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*kyber)(nil)

// openKyber knows the settings clientID (how the gateway introduces itself) and excludedSources
// (comma-separated, in the API's names).
func openKyber(o Options) (quote.Venue, error) {
	if o.Key != "" {
		return nil, errors.New("takes no key")
	}
	if err := o.allow("clientID", "excludedSources"); err != nil {
		return nil, err
	}
	k := &kyber{pool: o.Pool, clientID: "crossgate", excludedSources: o.Settings["excludedSources"], now: o.Now}
	if id := o.Settings["clientID"]; id != "" {
		k.clientID = id
	}
	k.profile = quote.Profile{
		Name: kyberName, ImageURL: kyberImage,
		Routers: o.routers(kyberRouter, func(native uint64) bool { return kyberSlugs[native] != "" }),
		// It takes any share of the input that leaves something to swap.
		MaxAffiliatePercent: decimal.New(9999, -2),
	}
	return k, nil
}

// Profile implements quote.Venue.
func (k *kyber) Profile() quote.Profile { return k.profile }

// Quote implements quote.Venue.
func (k *kyber) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := suits(k.profile, s); err != nil {
		return quote.Quote{}, err
	}
	asked := k.now()
	route, err := ask(ctx, k.pool, k.routesRequest(s), func(resp upstream.Response) (kyberRoute, error) {
		return readKyberRoute(resp, k.profile, s)
	})
	if err != nil {
		return quote.Quote{}, fmt.Errorf("kyberswap route on chain %d: %w", s.Chain.ID, err)
	}
	return quote.Quote{
		Venue: kyberName, AmountOut: route.amountOut, Gas: route.gas, Expires: asked.Add(kyberLife), Route: route,
	}, nil
}

// Build implements quote.Venue.
func (k *kyber) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	route, ours := q.Route.(kyberRoute)
	if !ours {
		return quote.Tx{}, errors.New("kyberswap build of a quote that is not its own")
	}
	request, err := k.buildRequest(s, route)
	if err != nil {
		return quote.Tx{}, err
	}
	tx, err := ask(ctx, k.pool, request, func(resp upstream.Response) (quote.Tx, error) {
		return readKyberBuild(resp, k.profile, s, q)
	})
	if err != nil {
		return quote.Tx{}, fmt.Errorf("kyberswap build on chain %d: %w", s.Chain.ID, err)
	}
	return tx, nil
}

// kyberRoute is a quoted route. The API signs the summary and wants it back untouched.
type kyberRoute struct {
	summary   json.RawMessage
	amountOut chain.Amount
	gas       uint64
}

func (k *kyber) routesRequest(s quote.Swap) upstream.Request {
	query := url.Values{
		"tokenIn":  {tokenText(s.In.Address)},
		"tokenOut": {tokenText(s.Out.Address)},
		"amountIn": {s.In.Amount.String()},
	}
	if !s.GasPrice.IsZero() {
		query.Set("gasPrice", s.GasPrice.String())
	}
	if k.excludedSources != "" {
		query.Set("excludedSources", k.excludedSources)
	}
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("feeAmount", strconv.Itoa(bps(share)))
		query.Set("isInBps", "true")
		query.Set("chargeFeeBy", "currency_in")
		query.Set("feeReceiver", s.Affiliate.Recipient.String())
	}
	return upstream.Request{Path: kyberSlugs[s.Chain.Native] + "/api/v1/routes", Query: query, Header: k.header()}
}

func (k *kyber) buildRequest(s quote.Swap, route kyberRoute) (upstream.Request, error) {
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
		RouteSummary: route.summary, Sender: s.Sender.String(), Recipient: s.Recipient.String(), Origin: s.Sender.String(),
		SlippageTolerance: slippage, IgnoreCappedSlippage: slippage > kyberSlippageCap,
		Deadline: k.now().Add(signTime).Unix(), Source: k.clientID,
	})
	return upstream.Request{
		Method: http.MethodPost, Path: kyberSlugs[s.Chain.Native] + "/api/v1/route/build", Header: k.header(), Body: body,
	}, err
}

func (k *kyber) header() http.Header { return http.Header{"X-Client-Id": {k.clientID}} }

// readKyberRoute reads the answer of GET /routes. The affiliate's share is off the amount already: it is
// taken from the input.
func readKyberRoute(resp upstream.Response, p quote.Profile, s quote.Swap) (kyberRoute, error) {
	var data struct {
		RouteSummary  json.RawMessage `json:"routeSummary"`
		RouterAddress string          `json:"routerAddress"`
	}
	if err := readKyberData(resp, &data); err != nil {
		return kyberRoute{}, err
	}
	var summary struct {
		AmountIn  digits `json:"amountIn"`
		AmountOut digits `json:"amountOut"`
		Gas       digits `json:"gas"`
	}
	if err := json.Unmarshal(data.RouteSummary, &summary); err != nil {
		return kyberRoute{}, fmt.Errorf("route summary: %w", err)
	}
	if err := errors.Join(checkIn(summary.AmountIn, s), checkRouter(data.RouterAddress, p, s)); err != nil {
		return kyberRoute{}, err
	}
	route := kyberRoute{summary: data.RouteSummary, amountOut: summary.AmountOut.amount(), gas: summary.Gas.gas()}
	if route.amountOut.IsZero() {
		return kyberRoute{}, noRoute("nothing comes out")
	}
	return route, nil
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
	if err := checkMoved(data.AmountOut, q); err != nil {
		return quote.Tx{}, err
	}
	return transaction{to: data.RouterAddress, value: data.TransactionValue, data: data.Data}.check(p, s)
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
			return refused(kyberName, resp.Status, answer.Message)
		}
		return errors.Join(err, errors.New("answer without a code"))
	}
	switch *answer.Code {
	case 0:
	case kyberNoRoute, kyberTooLarge, kyberNoPools, kyberUnknownToken:
		return noRoute(answer.Message)
	case kyberMoved:
		return fmt.Errorf("%w: %s", ErrPriceMoved, clean(answer.Message))
	default:
		return refused(kyberName, resp.Status, fmt.Sprintf("%d %s", *answer.Code, answer.Message))
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		return fmt.Errorf("answer data: %w", err)
	}
	return nil
}
