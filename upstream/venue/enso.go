package venue

// Enso API, GET /api/v1/shortcuts/route: https://docs.enso.build/api-reference

import (
	"bytes"
	"encoding/json"
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
	register(Service{Name: ensoName, URL: "https://api.enso.finance", Keyed: true, RequestsPerSecond: 8, Burst: 10}, openEnso, excludedSources)
}

// enso answers with price and transaction at once.
type enso struct{ Options }

func openEnso(o Options) (quote.Venue, error) {
	return &oneCall{pricing[quote.Tx]{Options: o, request: enso{o}.request, read: readEnso, profile: quote.Profile{
		Name: ensoName, ImageURL: ensoImage, Routers: o.routersAt(ensoRouters), MaxAffiliatePercent: decimal.NewFromInt(1),
	}}}, nil
}

func (v enso) request(s quote.Swap) (upstream.Request, error) {
	query := url.Values{
		"chainId":         {chainText(s)},
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
	set(query, "ignoreAggregators", v.Settings[excludedSources])
	if share := s.Affiliate.Percent; share.IsPositive() {
		query.Set("fee", strconv.Itoa(bps(share))) // bps of the input
		query.Set("feeReceiver", s.Affiliate.Recipient.String())
	}
	return upstream.Request{
		Path: "api/v1/shortcuts/route", Query: query, Header: bearer(v.Key),
	}, nil
}

// only is a number that the API writes by itself or as the one member of a list.
type only struct{ digits digits }

func (o *only) UnmarshalJSON(raw []byte) error {
	if !bytes.HasPrefix(raw, []byte("[")) {
		return o.digits.UnmarshalJSON(raw)
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
func readEnso(resp upstream.Response, p quote.Profile, s quote.Swap) (found pricedRoute[quote.Tx], err error) {
	var answer struct {
		AmountOut    only        `json:"amountOut"`
		MinAmountOut only        `json:"minAmountOut"`
		Gas          digits      `json:"gas"`
		Tx           transaction `json:"tx"`
	}
	if err := decodeOr(ensoRefusal, resp, &answer); err != nil {
		return found, err
	}
	if answer.AmountOut.digits == "" {
		return found, errors.New("answer without an amount")
	}
	found.amountOut, found.gas = answer.AmountOut.digits.amount(), answer.Gas.gas()
	if err := checkMinimum(answer.MinAmountOut.digits, s, found.amountOut); err != nil {
		return found, err
	}
	found.route, err = answer.Tx.check(p, s)
	return found, err
}

// ensoRefusal reads an error. A bad request is mostly a pair or an amount that cannot be routed.
func ensoRefusal(resp upstream.Response) error {
	return refusal(ensoName, resp, func(f failure) (string, bool) {
		return strings.Trim(f.text("message"), `"[]`), resp.Status == http.StatusBadRequest
	})
}
