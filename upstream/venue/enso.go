package venue

// Enso API, GET /api/v1/shortcuts/route: https://docs.enso.build/api-reference

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
)

// enso returns price and transaction in one answer.
var enso = register(service{
	// Ten requests per second and key.
	Service: Service{
		Name: "enso", URL: "https://api.enso.finance", Keyed: true,
		Source:  "docs.enso.build/pages/build/reference/deployments",
		Accepts: []string{excludedSources},
	},
	profile: quote.Profile{ImageURL: "https://www.enso.build/favicon.ico", MaxAffiliatePercent: decimal.NewFromInt(1), Read: readEnsoCall},
	header:  "Authorization=$bearer",
	asks: requestTemplate{
		path: "api/v1/shortcuts/route",
		query: "chainId=$chain fromAddress=$sender spender=$sender receiver=$recipient refundReceiver=$sender tokenIn=$in " +
			"tokenOut=$out amountIn=$amount slippage=$bps routingStrategy=router ignoreAggregators=$excludedSources",
		shares: "fee=$shareBps feeReceiver=$payee", // of the input
	},
	// Answers do not repeat the input; the transaction's value and the calldata do.
	answers: answerTemplate{out: "amountOut", least: "minAmountOut", gas: "gas", to: "tx.to", value: "tx.value", data: "tx.data"},
	// A bad request is usually a pair or an amount that cannot be routed.
	refuses: refusals{words: "message", statuses: []int{http.StatusBadRequest}},
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
})

// routeSingle leaves recipient and minimum to what it passes on; safeRouteSingle checks the receiver's balance.
var ensoSafe = readsCalls(function{signature: "safeRouteSingle((uint8 inKind,bytes in),(uint8 outKind,bytes out),address payee,bytes)"})

// readEnsoCall is enso's Profile.Read.
func readEnsoCall(_ chain.Chain, tx quote.Tx) (c quote.Call, err error) {
	d, err := ensoSafe.decode(tx)
	if err != nil {
		return c, err
	}
	var inErr, outErr error
	c.TokenIn, c.AmountIn, inErr = d.ensoToken("in")
	c.TokenOut, c.MinOut, outErr = d.ensoToken("out")
	c.Payee = d.address("payee")
	return c, errors.Join(d.err, inErr, outErr)
}

// ensoToken decodes a token with its amount: kind 0 is the coin, kind 1 a token.
func (d *decoded) ensoToken(name string) (chain.Address, chain.Amount, error) {
	kind, data := d.argument(name + "Kind").word()[words.Size-1], d.argument(name).bytes()
	switch {
	case kind == 0 && len(data) == common.HashLength:
		return chain.NativeCoin(chain.EVM), chain.AmountFromBytes(data), nil
	case kind == 1 && len(data) == 2*common.HashLength:
		return chain.NewAddress(data[common.HashLength-common.AddressLength : common.HashLength]), chain.AmountFromBytes(data[common.HashLength:]), nil
	}
	return chain.Address{}, chain.Amount{}, fmt.Errorf("its token of type %d has %d bytes", kind, len(data))
}
