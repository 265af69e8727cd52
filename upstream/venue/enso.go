package venue

// Enso API, GET /api/v1/shortcuts/route: https://docs.enso.build/api-reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream"
)

// enso answers with price and transaction at once.
var enso = service{
	// Ten requests per second for every key.
	Service: Service{
		Name: "enso", URL: "https://api.enso.finance", Keyed: true, RequestsPerSecond: 8, Burst: 10,
		Source: "docs.enso.build/pages/build/reference/deployments",
	},
	profile: quote.Profile{ImageURL: "https://www.enso.build/favicon.ico", MaxAffiliatePercent: decimal.NewFromInt(1), Read: readEnsoCall},
	asks: requestTemplate{
		path: "api/v1/shortcuts/route", header: "Authorization=$bearer",
		query: "chainId=$chain fromAddress=$sender spender=$sender receiver=$recipient refundReceiver=$sender tokenIn=$in " +
			"tokenOut=$out amountIn=$amount slippage=$bps routingStrategy=router ignoreAggregators=$excludedSources",
		shares: "fee=$shareBps feeReceiver=$payee", // of the input
	},
	// The router is also the spender.
	contracts: []deployment{
		{
			chains:  []uint64{1, 10, 56, 100, 137, 999, 8453, 42161, 43114},
			routers: []string{"0xF75584eF6673aD213a685a1B58Cc0330B8eA22Cf"},
		},
		{chains: []uint64{143, 4326, 4663, 9745}, routers: []string{"0xCfBAa9Cfce952Ca4F4069874fF1Df8c05e37a3c7"}},
		{chains: []uint64{1329}, routers: []string{"0x300b3D30aaBf46b05983284f0297D966E92bbeB2"}},
		{chains: []uint64{59144}, routers: []string{"0xA146d46823f3F594B785200102Be5385CAfCE9B5"}},
	},
}

// routeSingle leaves recipient and minimum to what it passes on; this one looks at the receiver's balance.
var ensoSafe = readsCalls(function{signature: "safeRouteSingle((uint8,bytes),(uint8,bytes),address,bytes)"})

// readEnsoCall is enso's Profile.Read.
func readEnsoCall(_ chain.Chain, tx quote.Tx) (c quote.Call, err error) {
	_, arguments, err := ensoSafe.unpack(tx.Data)
	if err != nil {
		return c, err
	}
	r := argumentReader{arguments: arguments}
	var inErr, outErr error
	c.TokenIn, c.AmountIn, inErr = r.ensoToken(0)
	c.TokenOut, c.MinOut, outErr = r.ensoToken(1)
	c.Payee = chain.NewAddress(r.address(position{2}).Bytes())
	return c, errors.Join(r.err, inErr, outErr)
}

// ensoToken reads a token with its amount: of type 0 the coin, of type 1 a token.
func (r *argumentReader) ensoToken(argument int) (chain.Address, chain.Amount, error) {
	kind, _ := r.at(position{argument, 0}).(uint8)
	data, _ := r.at(position{argument, 1}).([]byte)
	switch {
	case kind == 0 && len(data) == common.HashLength:
		return chain.NativeCoin(chain.EVM), chain.AmountFromBytes(data), nil
	case kind == 1 && len(data) == 2*common.HashLength:
		address := common.BytesToAddress(data[:common.HashLength])
		return chain.NewAddress(address.Bytes()), chain.AmountFromBytes(data[common.HashLength:]), nil
	}
	return chain.Address{}, chain.Amount{}, fmt.Errorf("its token of type %d has %d bytes", kind, len(data))
}

func init() {
	register(enso.Service, enso.oneCall(reader(readEnso).priceAndTx), excludedSources)
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
func readEnso(resp upstream.Response, _ quote.Profile, _ quote.Swap) (proposal, error) {
	var answer struct {
		AmountOut    only        `json:"amountOut"`
		MinAmountOut only        `json:"minAmountOut"`
		Gas          digits      `json:"gas"`
		Tx           transaction `json:"tx"`
	}
	err := decodeOr(ensoFailure, enso.Name, resp, &answer)
	if err == nil && answer.AmountOut.digits == "" {
		err = errors.New("answer without an amount")
	}
	return proposal{out: answer.AmountOut.digits, minimum: &answer.MinAmountOut.digits, gas: answer.Gas, tx: answer.Tx}, err
}

// ensoFailure explains an error. A bad request is mostly a pair or an amount that cannot be routed.
func ensoFailure(f failure) (message string, isRoute bool) {
	return strings.Trim(f.text("message"), `"[]`), f.status == http.StatusBadRequest
}
