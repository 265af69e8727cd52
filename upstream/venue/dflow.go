package venue

// DFlow Swap API on Solana, GET /order: https://pond.dflow.net

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

const (
	dflowName    = "dflow"
	dflowProgram = "DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH" // swap orchestrator
	dflowImage   = "https://dflow.net/favicon.ico"
)

func init() {
	// The keyless host is for development and promises no rate.
	register(Service{
		Name: dflowName, URL: "https://dev-quote-api.dflow.net", KeyedURL: "https://quote-api.dflow.net",
		RequestsPerSecond: 1, Burst: 3,
	}, openDFlow)
}

// dflow answers with price and transaction at once, and pays any wallet. It takes no affiliate share: whoever is
// paid needs an account for the token, which only the chain knows of.
type dflow struct {
	pool            *upstream.Pool
	profile         quote.Profile
	key             string
	excludedSources string
	now             func() time.Time
}

var _ quote.Venue = (*dflow)(nil)

// openDFlow knows the setting excludedSources (comma-separated, in the API's names).
func openDFlow(o Options) (quote.Venue, error) {
	if err := o.allow("excludedSources"); err != nil {
		return nil, err
	}
	return &dflow{
		pool: o.Pool, key: o.Key, excludedSources: o.Settings["excludedSources"], now: o.Now,
		profile: quote.Profile{Name: dflowName, ImageURL: dflowImage, Routers: o.program(dflowProgram)},
	}, nil
}

// Profile implements quote.Venue.
func (d *dflow) Profile() quote.Profile { return d.profile }

// Quote implements quote.Venue.
func (d *dflow) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	asked := d.now()
	offered, err := d.ask(ctx, s)
	if err != nil {
		return quote.Quote{}, err
	}
	return offered.quote(asked), nil
}

// Build implements quote.Venue.
func (d *dflow) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	return buildReady(dflowName, s, q, func() (ready, error) { return d.ask(ctx, s) })
}

func (d *dflow) ask(ctx context.Context, s quote.Swap) (ready, error) {
	if err := suitsSolana(d.profile, s); err != nil {
		return ready{}, err
	}
	request, err := d.request(s)
	if err != nil {
		return ready{}, err
	}
	return askReady(ctx, d.pool, request, dflowName, s, func(resp upstream.Response) (ready, error) {
		return readDFlow(resp, d.profile, s)
	})
}

// request wants one transaction that does all: what the API calls asynchronous takes several.
func (d *dflow) request(s quote.Swap) (upstream.Request, error) {
	wraps, err := wrapsCoin(s)
	if err != nil {
		return upstream.Request{}, fmt.Errorf("dflow: %w", err)
	}
	query := url.Values{
		"inputMint":               {mintText(s, s.In.Address)},
		"outputMint":              {mintText(s, s.Out.Address)},
		"amount":                  {s.In.Amount.String()},
		"slippageBps":             {strconv.Itoa(bps(s.SlippagePercent))},
		"userPublicKey":           {s.Sender.Format(chain.SVM)},
		"wrapAndUnwrapSol":        {strconv.FormatBool(wraps)},
		"allowAsyncExec":          {"false"},
		"dynamicComputeUnitLimit": {"true"},
	}
	if s.Recipient != s.Sender {
		query.Set("destinationWallet", s.Recipient.Format(chain.SVM))
	}
	if d.excludedSources != "" {
		query.Set("excludeDexes", d.excludedSources)
	}
	request := upstream.Request{Path: "order", Query: query}
	if d.key != "" {
		request.Header = http.Header{"X-Api-Key": {d.key}}
	}
	return request, nil
}

func readDFlow(resp upstream.Response, _ quote.Profile, s quote.Swap) (ready, error) {
	if isRejection(resp) {
		return ready{}, dflowRefusal(resp)
	}
	var answer struct {
		InputMint     string `json:"inputMint"`
		OutputMint    string `json:"outputMint"`
		InAmount      digits `json:"inAmount"`
		OutAmount     digits `json:"outAmount"` // after every fee
		MinOutAmount  digits `json:"minOutAmount"`
		ExecutionMode string `json:"executionMode"`
		Transaction   string `json:"transaction"`
	}
	if err := decode(resp, &answer); err != nil {
		return ready{}, err
	}
	switch {
	case answer.InputMint != mintText(s, s.In.Address) || answer.OutputMint != mintText(s, s.Out.Address):
		return ready{}, errors.New("answer is about other tokens")
	case answer.ExecutionMode != "" && answer.ExecutionMode != "sync":
		return ready{}, fmt.Errorf("execution is %s", clean(answer.ExecutionMode))
	}
	if err := checkIn(answer.InAmount, s); err != nil {
		return ready{}, err
	}
	offered := ready{amountOut: answer.OutAmount.amount(), minimum: answer.MinOutAmount.amount()}
	if offered.amountOut.IsZero() {
		return ready{}, noRoute("nothing comes out")
	}
	if err := checkMinimum(answer.MinOutAmount, s, offered.amountOut); err != nil {
		return ready{}, err
	}
	var err error
	offered.tx, err = readMessage(answer.Transaction)
	return offered, err
}

// dflowRefusal reads an error. A missing route is told in words as well as by its code.
func dflowRefusal(resp upstream.Response) error {
	var failure struct {
		Message string `json:"msg"`
		Code    string `json:"code"`
	}
	if err := decode(resp, &failure); err != nil {
		return refused(dflowName, resp.Status, "")
	}
	if strings.Contains(strings.ToLower(failure.Code+" "+failure.Message), "route") {
		return noRoute(failure.Message)
	}
	return refused(dflowName, resp.Status, strings.TrimSpace(failure.Code+" "+failure.Message))
}
