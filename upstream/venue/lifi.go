package venue

// LI.FI API, GET /v1/quote: https://docs.li.fi/api-reference

import (
	"fmt"
	"net/http"
	"net/url"

	"crossgate/quote"
	"crossgate/upstream"
)

const (
	lifiName   = "lifi"
	lifiRouter = "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE" // the Diamond, also the spender
	lifiImage  = "https://li.fi/favicon.ico"

	// lifiIntegrator is the setting for a name registered with the venue.
	lifiIntegrator = "integrator"
)

// lifiChains are the chains, whose EIP-155 ids the API takes.
var lifiChains = []uint64{
	1, 10, 25, 56, 100, 137, 143, 146, 747, 999, 1329,
	4326, 5000, 8453, 9745, 42161, 43114, 59144, 60808, 80094,
}

func init() {
	// 75 quotes in two hours without a key, 100 a minute with one.
	register(Service{Name: lifiName, URL: "https://li.quest", RequestsPerSecond: 0.01, Burst: 5}, openLifi, lifiIntegrator, excludedSources)
}

// lifi asks other aggregators and keeps 0.25 % of the input, so it is a fallback: for pairs that few others
// trade. It answers with price and transaction at once. It takes no affiliate share: who is paid is agreed
// with the venue beforehand.
type lifi struct{ Options }

func openLifi(o Options) (quote.Venue, error) {
	return &oneCall{pricing[quote.Tx]{Options: o, request: lifi{o}.request, read: readLifi, profile: quote.Profile{
		Name: lifiName, ImageURL: lifiImage, Fallback: true, Routers: o.routers(lifiRouter, lifiChains...),
	}}}, nil
}

// request leaves out the API's own simulation: a wallet may approve, or be filled, later.
func (v lifi) request(s quote.Swap) (upstream.Request, error) {
	id := chainText(s)
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
	set(query, "integrator", v.Settings[lifiIntegrator])
	set(query, "denyExchanges", v.Settings[excludedSources])
	return upstream.Request{Path: "v1/quote", Query: query, Header: header("X-Lifi-Api-Key", v.Key)}, nil
}

// readLifi reads the answer, whose transaction has its numbers in hex.
func readLifi(resp upstream.Response, p quote.Profile, s quote.Swap) (found pricedRoute[quote.Tx], err error) {
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
	if err := decodeOr(lifiRefusal, resp, &answer); err != nil {
		return found, err
	}
	estimate, request := answer.Estimate, answer.TransactionRequest
	if err := checkIn(estimate.FromAmount, s); err != nil {
		return found, err
	}
	found.amountOut, found.gas = estimate.ToAmount.amount(), digits(request.GasLimit).gas()
	if err := checkMinimum(estimate.ToAmountMin, s, found.amountOut); err != nil {
		return found, err
	}
	if err := checkSpender(estimate.ApprovalAddress, request.To, p, s); err != nil {
		return found, err
	}
	found.route, err = transaction{To: request.To, Value: digits(request.Value), Data: request.Data}.check(p, s)
	return found, err
}

// lifiRefusal reads an error. The failures of the exchanges behind the API stand in a list that comes with a
// missing route.
func lifiRefusal(resp upstream.Response) error {
	const codeNoQuote = "1002"
	return refusal(lifiName, resp, func(f failure) (string, bool) {
		if resp.Status == http.StatusNotFound && len(f["errors"]) > 0 || f.text("code") == codeNoQuote {
			return f.text("message"), true
		}
		return fmt.Sprintf("%s %s", f.text("code"), f.text("message")), false
	})
}
