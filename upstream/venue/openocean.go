package venue

// OpenOcean API v4: https://apis.openocean.finance/developer/apis/swap-api/api-v4

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	openOceanName   = "openocean"
	openOceanRouter = "0x6352a56caadC4F1E25CD6c75970Fa768A3304e64" // ExchangeV2, also the spender
	openOceanImage  = "https://assets.coingecko.com/coins/images/17014/small/ooe_log.png"

	// openOceanLife is ours: the API does not say how long a price holds.
	openOceanLife = 30 * time.Second

	// openOceanGasPrice is sent where the chain's is not known, in wei: the API insists on one, and only
	// weighs routes with it.
	openOceanGasPrice = "1000000000"
)

// openOceanChains are the chains, whose EIP-155 ids the API takes.
var openOceanChains = map[uint64]bool{
	1: true, 10: true, 56: true, 100: true, 137: true, 143: true, 146: true, 999: true, 1329: true, 5000: true,
	8453: true, 9745: true, 42161: true, 43114: true, 59144: true, 80094: true,
}

// The slippage that the API enforces, in percent.
var (
	openOceanLeastSlippage = decimal.New(5, -2)
	openOceanMostSlippage  = decimal.New(50, 0)
)

func init() {
	// 20 requests in 10 s per address; holders of a key ask elsewhere and have plans of their own.
	register(Service{
		Name: openOceanName, URL: "https://open-api.openocean.finance", KeyedURL: "https://open-api-pro.openocean.finance",
		RequestsPerSecond: 1.5, Burst: 4,
	}, openOpenOcean)
}

// openOcean prices with /quote and builds with /swap, which prices anew. Its referrer fee is not taken for
// the affiliate's: nothing says which side it comes from.
type openOcean struct {
	pool            *upstream.Pool
	profile         quote.Profile
	key             string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*openOcean)(nil)

// openOpenOcean knows the setting excludedSources (comma-separated ids of the API's dexList).
func openOpenOcean(o Options) (quote.Venue, error) {
	if err := o.allow("excludedSources"); err != nil {
		return nil, err
	}
	return &openOcean{
		pool: o.Pool, key: o.Key, excludedSources: o.Settings["excludedSources"], now: o.Now,
		profile: quote.Profile{
			Name: openOceanName, ImageURL: openOceanImage,
			Routers: o.routers(openOceanRouter, func(native uint64) bool { return openOceanChains[native] }),
		},
	}, nil
}

// Profile implements quote.Venue.
func (o *openOcean) Profile() quote.Profile { return o.profile }

// Quote implements quote.Venue.
func (o *openOcean) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := suits(o.profile, s); err != nil {
		return quote.Quote{}, err
	}
	if s.SlippagePercent.LessThan(openOceanLeastSlippage) || s.SlippagePercent.GreaterThan(openOceanMostSlippage) {
		return quote.Quote{}, fmt.Errorf("openocean: %w that keeps a slippage of %s %%", quote.ErrNoRoute, s.SlippagePercent)
	}
	asked := o.now()
	price, err := ask(ctx, o.pool, o.quoteRequest(s), func(resp upstream.Response) (openOceanPrice, error) {
		return readOpenOceanPrice(resp, s)
	})
	if err != nil {
		return quote.Quote{}, fmt.Errorf("openocean quote on chain %d: %w", s.Chain.ID, err)
	}
	return quote.Quote{
		Venue: openOceanName, AmountOut: price.amountOut, Gas: price.gas, Expires: asked.Add(openOceanLife),
	}, nil
}

// Build implements quote.Venue.
func (o *openOcean) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	if q.Venue != openOceanName {
		return quote.Tx{}, errors.New("openocean build of a quote that is not its own")
	}
	tx, err := ask(ctx, o.pool, o.swapRequest(s), func(resp upstream.Response) (quote.Tx, error) {
		return readOpenOceanSwap(resp, o.profile, s, q)
	})
	if err != nil {
		return quote.Tx{}, fmt.Errorf("openocean swap on chain %d: %w", s.Chain.ID, err)
	}
	return tx, nil
}

func (o *openOcean) quoteRequest(s quote.Swap) upstream.Request {
	gasPrice := openOceanGasPrice
	if !s.GasPrice.IsZero() {
		gasPrice = s.GasPrice.String()
	}
	query := url.Values{
		"inTokenAddress":   {tokenText(s.In.Address)},
		"outTokenAddress":  {tokenText(s.Out.Address)},
		"amountDecimals":   {s.In.Amount.String()},
		"gasPriceDecimals": {gasPrice},
		"slippage":         {s.SlippagePercent.String()}, // percent
	}
	if o.excludedSources != "" {
		query.Set("disabledDexIds", o.excludedSources)
	}
	return o.request(s, "quote", query)
}

// swapRequest names who calls as sender and who is paid as account.
func (o *openOcean) swapRequest(s quote.Swap) upstream.Request {
	query := maps.Clone(o.quoteRequest(s).Query)
	query.Set("sender", s.Sender.String())
	query.Set("account", s.Recipient.String())
	return o.request(s, "swap", query)
}

func (o *openOcean) request(s quote.Swap, resource string, query url.Values) upstream.Request {
	r := upstream.Request{Path: "v4/" + strconv.FormatUint(s.Chain.Native, 10) + "/" + resource, Query: query}
	if o.key != "" {
		r.Header = http.Header{"Apikey": {o.key}}
	}
	return r
}

// openOceanPrice is what quote and swap have in common.
type openOceanPrice struct {
	amountOut chain.Amount
	gas       uint64
}

// readOpenOceanPrice reads the answer of GET /quote.
func readOpenOceanPrice(resp upstream.Response, s quote.Swap) (openOceanPrice, error) {
	var data struct {
		InAmount     digits `json:"inAmount"`
		OutAmount    digits `json:"outAmount"`
		EstimatedGas digits `json:"estimatedGas"`
	}
	if err := readOpenOceanData(resp, &data); err != nil {
		return openOceanPrice{}, err
	}
	price := openOceanPrice{amountOut: data.OutAmount.amount(), gas: data.EstimatedGas.gas()}
	if price.amountOut.IsZero() {
		return openOceanPrice{}, noRoute("nothing comes out")
	}
	return price, checkIn(data.InAmount, s)
}

// readOpenOceanSwap reads the answer of GET /swap.
func readOpenOceanSwap(resp upstream.Response, p quote.Profile, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	var data struct {
		InAmount     digits `json:"inAmount"`
		OutAmount    digits `json:"outAmount"`
		MinOutAmount digits `json:"minOutAmount"`
		To           string `json:"to"`
		Value        digits `json:"value"`
		Data         string `json:"data"`
	}
	if err := readOpenOceanData(resp, &data); err != nil {
		return quote.Tx{}, err
	}
	if err := checkIn(data.InAmount, s); err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(data.OutAmount, q); err != nil {
		return quote.Tx{}, err
	}
	if err := checkMinimum(data.MinOutAmount, s, q.AmountOut); err != nil {
		return quote.Tx{}, err
	}
	return transaction{to: data.To, value: data.Value, data: data.Data}.check(p, s)
}

// readOpenOceanData opens the envelope of every answer. Most failures come with the HTTP status 200 and
// another code; a pair without a route has the code 200 and null for data.
func readOpenOceanData(resp upstream.Response, data any) error {
	var answer struct {
		Code    int             `json:"code"`
		Error   string          `json:"error"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	err := decode(resp, &answer)
	message := answer.Error
	if message == "" {
		message = answer.Message
	}
	switch {
	case answer.Code == http.StatusTooManyRequests:
		return limited(openOceanName, resp.Status, message)
	case isRejection(resp):
		return refused(openOceanName, resp.Status, message)
	case err != nil:
		return err
	case answer.Code == 0:
		return errors.New("answer without a code")
	case answer.Code != http.StatusOK:
		return refused(openOceanName, resp.Status, fmt.Sprintf("%d %s", answer.Code, message))
	case len(answer.Data) == 0 || string(answer.Data) == "null":
		return noRoute("no data")
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		return fmt.Errorf("answer data: %w", err)
	}
	return nil
}
