package venue

// Enso API, GET /api/v1/shortcuts/route: https://docs.enso.build/api-reference

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/quote"
	"crossgate/upstream"
)

const (
	ensoName  = "enso"
	ensoImage = "https://www.enso.build/favicon.ico"
)

// ensoRouters are the router, also the spender, by the chains' EIP-155 ids (oku-chains 1.12.36).
var ensoRouters = map[uint64]string{
	1: ensoRouter, 10: ensoRouter, 56: ensoRouter, 100: ensoRouter, 137: ensoRouter, 999: ensoRouter, 8453: ensoRouter,
	42161: ensoRouter, 43114: ensoRouter,
	143: ensoNewRouter, 9745: ensoNewRouter,
	1329:  "0x300b3D30aaBf46b05983284f0297D966E92bbeB2",
	59144: "0xA146d46823f3F594B785200102Be5385CAfCE9B5",
}

const (
	ensoRouter    = "0xF75584eF6673aD213a685a1B58Cc0330B8eA22Cf"
	ensoNewRouter = "0xCfBAa9Cfce952Ca4F4069874fF1Df8c05e37a3c7"
)

func init() {
	// Ten requests per second for every key.
	register(Service{Name: ensoName, URL: "https://api.enso.finance", Keyed: true, RequestsPerSecond: 8, Burst: 10}, openEnso)
}

// enso answers with price and transaction at once.
type enso struct {
	pool            *upstream.Pool
	profile         quote.Profile
	key             string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*enso)(nil)

// openEnso knows the setting excludedSources (comma-separated aggregators, in the API's names).
func openEnso(o Options) (quote.Venue, error) {
	if err := o.allow("excludedSources"); err != nil {
		return nil, err
	}
	return &enso{
		pool: o.Pool, key: o.Key, excludedSources: o.Settings["excludedSources"], now: o.Now,
		profile: quote.Profile{
			Name: ensoName, ImageURL: ensoImage, Routers: o.routersAt(ensoRouters),
			MaxAffiliatePercent: decimal.NewFromInt(1),
		},
	}, nil
}

// Profile implements quote.Venue.
func (e *enso) Profile() quote.Profile { return e.profile }

// Quote implements quote.Venue.
func (e *enso) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	asked := e.now()
	offered, err := e.ask(ctx, s)
	if err != nil {
		return quote.Quote{}, err
	}
	return offered.quote(asked), nil
}

// Build implements quote.Venue.
func (e *enso) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	return buildReady(ensoName, s, q, func() (ready, error) { return e.ask(ctx, s) })
}

func (e *enso) ask(ctx context.Context, s quote.Swap) (ready, error) {
	if err := suits(e.profile, s); err != nil {
		return ready{}, err
	}
	return askReady(ctx, e.pool, e.request(s), ensoName, s, func(resp upstream.Response) (ready, error) {
		return readEnso(resp, e.profile, s)
	})
}

func (e *enso) request(s quote.Swap) upstream.Request {
	query := url.Values{
		"chainId":         {strconv.FormatUint(s.Chain.Native, 10)},
		"fromAddress":     {s.Sender.String()},
		"spender":         {s.Sender.String()},
		"receiver":        {s.Recipient.String()},
		"refundReceiver":  {s.Sender.String()},
		"tokenIn":         {tokenText(s.In.Address)},
		"tokenOut":        {tokenText(s.Out.Address)},
		"amountIn":        {s.In.Amount.String()},
		"slippage":        {strconv.Itoa(bps(s.SlippagePercent))}, // bps
		"routingStrategy": {"router"},
	}
	if e.excludedSources != "" {
		query.Set("ignoreAggregators", e.excludedSources)
	}
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("fee", strconv.Itoa(bps(share))) // bps of the input
		query.Set("feeReceiver", s.Affiliate.Recipient.String())
	}
	return upstream.Request{
		Path: "api/v1/shortcuts/route", Query: query, Header: http.Header{"Authorization": {"Bearer " + e.key}},
	}
}

// only is a number that the API writes by itself or as the one member of a list.
type only struct{ digits digits }

func (o *only) UnmarshalJSON(raw []byte) error {
	if !bytes.HasPrefix(raw, []byte("[")) {
		return json.Unmarshal(raw, &o.digits)
	}
	var list []digits
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("%d amounts instead of one", len(list))
	}
	o.digits = list[0]
	return nil
}

// readEnso reads the answer. It does not repeat the input; the transaction's value and the calldata do.
func readEnso(resp upstream.Response, p quote.Profile, s quote.Swap) (ready, error) {
	if isRejection(resp) {
		return ready{}, ensoRefusal(resp)
	}
	var answer struct {
		AmountOut    only   `json:"amountOut"`
		MinAmountOut only   `json:"minAmountOut"`
		Gas          digits `json:"gas"`
		Tx           struct {
			To    string `json:"to"`
			Value digits `json:"value"`
			Data  string `json:"data"`
		} `json:"tx"`
	}
	if err := decode(resp, &answer); err != nil {
		return ready{}, err
	}
	out := answer.AmountOut.digits
	switch {
	case out == "":
		return ready{}, errors.New("answer without an amount")
	case out.amount().IsZero():
		return ready{}, noRoute("nothing comes out")
	}
	if err := checkMinimum(answer.MinAmountOut.digits, s, out.amount()); err != nil {
		return ready{}, err
	}
	tx, err := transaction{to: answer.Tx.To, value: answer.Tx.Value, data: answer.Tx.Data}.check(p, s)
	return ready{amountOut: out.amount(), gas: answer.Gas.gas(), tx: tx}, err
}

// ensoRefusal reads an error. A bad request is mostly a pair or an amount that cannot be routed.
func ensoRefusal(resp upstream.Response) error {
	var failure struct {
		Message json.RawMessage `json:"message"` // a text, or a list of texts
	}
	if err := decode(resp, &failure); err != nil {
		return refused(ensoName, resp.Status, "")
	}
	words := strings.Trim(string(failure.Message), `"[]`)
	if resp.Status == http.StatusBadRequest {
		return noRoute(words)
	}
	return refused(ensoName, resp.Status, words)
}
