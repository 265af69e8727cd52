package venue

// Velora (once ParaSwap) Market API v6.2: https://developers.velora.xyz

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// velora prices with GET /prices and builds with POST /transactions rather than with GET /swap, which does
// both at once: a price needs no wallet, so it can be compared and shared before anyone is asked to sign;
// it may be asked for more often; and only the winner pays for a second round trip.
var velora = service{
	// The limit is not published; /swap has a lower one than the two calls used here.
	Service: Service{Name: "velora", URL: "https://api.paraswap.io", RequestsPerSecond: 3, Burst: 5, Source: "github VeloraDEX/paraswap-sdk"},
	// Its partner fee comes out of the output, not out of the input: no affiliate share.
	profile: quote.Profile{ImageURL: "https://velora.xyz/favicon.ico"},
	contracts: []deployment{{
		chains:  []uint64{1, 10, 56, 100, 137, 146, 8453, 42161, 43114},
		routers: []string{"0x6A000F20005980200259B80c5102003040001068"}, // Augustus v6.2, also the spender
	}},
	functions: readsCalls(
		veloraFunction("swapExactAmountIn(address,("+veloraData+"),uint256,bytes,bytes)", 1, 0),
		veloraFunction("swapExactAmountInOnUniswapV2(("+veloraData+",bytes),uint256,bytes)", 0, 0),
		veloraFunction("swapExactAmountInOnUniswapV3(("+veloraData+",bytes),uint256,bytes)", 0, 0),
		veloraFunction("swapExactAmountInOnCurveV1((uint256,uint256,"+veloraData+"),uint256,bytes)", 0, 2),
		veloraFunction("swapExactAmountInOnCurveV2((uint256,uint256,uint256,address,"+veloraData+"),uint256,bytes)", 0, 4),
	),
}

// veloraData is what structs of Augustus v6.2 have in common: srcToken, destToken, fromAmount, toAmount, quotedAmount,
// metadata, beneficiary.
const veloraData = "address,address,uint256,uint256,uint256,bytes32,address"

const (
	veloraFeeBits = 0x3fff // of partnerAndFee: basis points of the outcome
	veloraMostFee = 200    // basis points; the contract lowers larger ones
)

// veloraFunction is a function whose struct of a swap has veloraData from a member on, followed by partnerAndFee. The
// contract takes the fee from an outcome that reached the minimum, keeps any surplus over the quoted amount, and
// leaves itself one unit.
func veloraFunction(signature string, data, from int) function {
	at := func(member int) position { return position{data, from + member} }
	return function{
		signature: signature, tokenIn: at(0), tokenOut: at(1), amountIn: at(2), minOut: at(3), payee: at(6), zeroPays: true,
		refine: func(arguments []any, c *quote.Call) error {
			r := argumentReader{arguments: arguments}
			if quoted := r.amount(at(4)); quoted.Cmp(c.MinOut) < 0 {
				c.MinOut = quoted
			}
			packed, isNumber := r.at(position{data + 1}).(*big.Int)
			if r.err != nil || !isNumber {
				return errors.Join(r.err, errors.New("its calldata has no fee"))
			}
			fee := min(new(big.Int).And(packed, big.NewInt(veloraFeeBits)).Uint64(), veloraMostFee)
			c.MinOut = c.MinOut.Sub(c.MinOut.MulDiv(fee, wholeBps)).Sub(chain.NewAmount(1))
			return nil
		},
	}
}

func init() {
	register(velora.Service, func(o Options) (quote.Venue, error) {
		return &twoCalls[veloraRoute]{
			pricing[veloraRoute]{o, velora.on(o.Registry), veloraPricesRequest, readVeloraPrice},
			veloraTransactionRequest, readVeloraTransaction, // the price route goes back signed: it is for the price quoted
		}, nil
	}, veloraPartner, excludedSources)
}

const (
	veloraVersion = "6.2" // it defaults to 5, which is not kept up any more

	// veloraPartner is the setting for a name agreed with the venue, which charges 0.01 % without one.
	veloraPartner = "partner"
)

// veloraNoRoute are the beginnings of the error texts that mean: not this pair, not this amount.
var veloraNoRoute = []string{
	"No routes found", "ESTIMATED_LOSS_GREATER_THAN_MAX_IMPACT", "Too much slippage", "Bad USD Price",
}

// veloraRoute is a quoted price route, which the API signs and wants back untouched.
type veloraRoute struct {
	price      json.RawMessage
	gross      chain.Amount // destAmount, before the venue's fee
	net        chain.Amount
	feePercent decimal.Decimal
}

// least returns the smallest outcome before the fee that leaves the recipient the quoted amount less the slippage:
// the contract checks the minimum before it takes the fee.
func (r veloraRoute) least(slippagePercent decimal.Decimal) (chain.Amount, error) {
	wanted, netErr := lessPercent(r.net, slippagePercent)
	least, grossErr := lessPercent(r.gross, slippagePercent)
	fee, feeErr := percentOf(least, r.feePercent)
	if err := errors.Join(netErr, grossErr, feeErr); err != nil {
		return chain.Amount{}, err
	}
	if least.Sub(fee).Cmp(wanted) < 0 { // both shares were rounded
		least = least.Add(chain.NewAmount(1))
	}
	return least, nil
}

func veloraPricesRequest(o Options, s quote.Swap) (upstream.Request, error) {
	query := url.Values{
		"srcToken":     {tokenText(s.In.Address)},
		"srcDecimals":  {strconv.Itoa(int(s.In.Token.Decimals))},
		"destToken":    {tokenText(s.Out.Address)},
		"destDecimals": {strconv.Itoa(int(s.Out.Token.Decimals))},
		"amount":       {s.In.Amount.String()},
		"side":         {"SELL"},
		"network":      {chainText(s)},
		"version":      {veloraVersion},
	}
	set(query, "partner", o.Settings[veloraPartner])
	set(query, "excludeDEXS", o.Settings[excludedSources])
	return upstream.Request{Path: "prices", Query: query, Header: header("X-Api-Key", o.Key)}, nil
}

// veloraTransactionRequest states the minimum as an amount: the other way, a slippage in whole basis points,
// would round it. The API's own checks of balance and allowance are off, since a wallet may approve later.
func veloraTransactionRequest(o Options, s quote.Swap, route veloraRoute) (upstream.Request, error) {
	least, err := route.least(s.SlippagePercent)
	if err != nil {
		return upstream.Request{}, fmt.Errorf("minimum: %w", err)
	}
	body, err := encode(struct {
		PriceRoute   json.RawMessage `json:"priceRoute"`
		SrcToken     string          `json:"srcToken"`
		SrcDecimals  uint8           `json:"srcDecimals"`
		DestToken    string          `json:"destToken"`
		DestDecimals uint8           `json:"destDecimals"`
		SrcAmount    string          `json:"srcAmount"`
		DestAmount   string          `json:"destAmount"` // the least that is acceptable
		UserAddress  string          `json:"userAddress"`
		Receiver     string          `json:"receiver"`
		Partner      string          `json:"partner,omitempty"`
		Deadline     int64           `json:"deadline"` // UNIX seconds
	}{
		PriceRoute: route.price,
		SrcToken:   tokenText(s.In.Address), SrcDecimals: s.In.Token.Decimals,
		DestToken: tokenText(s.Out.Address), DestDecimals: s.Out.Token.Decimals,
		SrcAmount: s.In.Amount.String(), DestAmount: least.String(),
		UserAddress: s.Sender.Checksum(), Receiver: s.Recipient.Checksum(), // other spellings are refused
		Partner: o.Settings[veloraPartner], Deadline: o.deadline(s.Chain.ID).Unix(),
	})
	return upstream.Request{
		Method: http.MethodPost, Path: "transactions/" + chainText(s),
		Query: url.Values{"ignoreChecks": {"true"}}, Header: header("X-Api-Key", o.Key), Body: body,
	}, err
}

// readVeloraPrice reads the answer of GET /prices. Its destAmount is before the venue's fee: recorded
// answers give the sum of the last hops' outputs whatever partnerFee, in percent, stands beside it.
func readVeloraPrice(resp upstream.Response, p quote.Profile, s quote.Swap) (found pricedRoute[veloraRoute], err error) {
	var answer struct {
		veloraFailure
		PriceRoute json.RawMessage `json:"priceRoute"`
	}
	if err := answer.judge(resp, decode(resp, &answer)); err != nil {
		return found, err
	}
	var price struct {
		SrcAmount       digits      `json:"srcAmount"`
		DestAmount      digits      `json:"destAmount"`
		GasCost         digits      `json:"gasCost"`
		ContractAddress string      `json:"contractAddress"`
		PartnerFee      json.Number `json:"partnerFee"`
	}
	if err := unmarshal(answer.PriceRoute, "price route", &price); err != nil {
		return found, err
	}
	if err := errors.Join(checkIn(price.SrcAmount, s), checkRouter(price.ContractAddress, p, s)); err != nil {
		return found, err
	}
	percent, err := parsePercent(price.PartnerFee)
	if err != nil {
		return found, fmt.Errorf("partner fee: %w", err)
	}
	gross := price.DestAmount.amount()
	fee, err := percentOf(gross, percent)
	if err != nil {
		return found, fmt.Errorf("partner fee: %w", err)
	}
	net := gross.Sub(fee)
	found.amountOut, found.gas = net, price.GasCost.gas()
	found.route = veloraRoute{answer.PriceRoute, gross, net, percent}
	return found, nil
}

// readVeloraTransaction reads the answer of POST /transactions.
func readVeloraTransaction(resp upstream.Response, p quote.Profile, s quote.Swap, _ quote.Quote) (quote.Tx, error) {
	var answer struct {
		veloraFailure
		transaction
	}
	if err := answer.judge(resp, decode(resp, &answer)); err != nil {
		return quote.Tx{}, err
	}
	return answer.check(p, s)
}

// veloraFailure is the part of any answer that says no: a text without a code, at times with the status 200.
type veloraFailure struct {
	Error string `json:"error"`
}

// judge returns the error of an answer that was read with the error err.
func (f veloraFailure) judge(resp upstream.Response, err error) error {
	switch {
	case strings.HasPrefix(f.Error, "Rate limit"):
		return limited(velora.Name, resp.Status, f.Error)
	case slices.ContainsFunc(veloraNoRoute, func(text string) bool { return strings.HasPrefix(f.Error, text) }):
		return noSwapRoute(f.Error)
	case f.Error != "" || isRejection(resp):
		return refused(velora.Name, resp.Status, f.Error)
	}
	return err
}
