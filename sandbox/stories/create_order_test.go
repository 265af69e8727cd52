package stories_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"crossgate/chain"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// creationJSON is the answer of create-tx as a wallet reads it.
type creationJSON struct {
	Estimation struct {
		In    struct{ Amount string }                    `json:"srcChainTokenIn"`
		Out   struct{ Amount, RecommendedAmount string } `json:"dstChainTokenOut"`
		Costs []struct{ Type string }                    `json:"costsDetails"`
	}
	Tx     struct{ To, Data, Value, AllowanceTarget, AllowanceValue string }
	Bundle struct {
		Calls []struct{ To, Data, Value string }
	} `json:"walletSendCalls"`
	OrderID string
	FixFee  string
	Order   struct{ Salt json.Number }
}

// orderCase is an order to request and create.
type orderCase struct {
	in, out, amount string
	more            url.Values
}

var orderCases = []orderCase{
	{"USDC", "USDC", "150000000", nil},
	{"USDC", "coin", "150000000", nil},
	{"coin", "USDC", "250000000000000000000", nil},
	{"coin", "coin", "250000000000000000000", nil},
	{"DAI", "WBTC", "900000000000000000000", nil},
	{"USDC", "USDC", "150000000", url.Values{"prependOperatingExpenses": {"true"}, "additionalTakerRewardBps": {"85"}}},
	{"USDC", "DAI", "auto", url.Values{"dstChainTokenOutAmount": {"100000000000000000000"}}},
	{"DAI", "USDC", "90000000000000000000", url.Values{"affiliateFeePercent": {"0.1"}}},
	{"USDC", "USDC", "70000000", url.Values{"bundle": {"true"}}},
	{"DAI", "coin", "80000000000000000000", url.Values{"bundle": {"true"}}},
}

// TestCreateOrderMakesTheOrderItPromises has orders made between EVM chains of the world, as a wallet would, and looks for
// them by the promised id: each case between another pair. TestOrdersBetweenFamilies makes random ones.
func TestCreateOrderMakesTheOrderItPromises(t *testing.T) {
	t.Parallel()
	front := patientlyInFrontOf(t, sandboxtest.Start(t, sandbox.Options{}))
	evm := slices.DeleteFunc(slices.Clone(front.world.Chains()), func(c *sandbox.Chain) bool { return c.Facts.Family != chain.EVM })
	for i, one := range orderCases {
		give, take := evm[i%len(evm)], evm[(i+1+i/len(evm))%len(evm)]
		t.Run(fmt.Sprintf("%d/%d/%s to %s", give.Facts.ID, take.Facts.ID, one.in, one.out), func(t *testing.T) {
			maker := newTrader(t, front.world, give, front.url)
			maker.createOrder(t, one, take, newTrader(t, front.world, take, front.url).tokens)
		})
	}
}

// createOrder requests an order, approves the input, requests it again, sends the transaction, and finds the order.
// With a bundle it requests once and sends the bundle's calls.
func (w *trader) createOrder(t *testing.T, c orderCase, take *sandbox.Chain, tokens map[string]string) creationJSON {
	t.Helper()
	query := url.Values{
		"srcChainId": {fmt.Sprint(w.chain)}, "srcChainTokenIn": {w.tokens[c.in]}, "srcChainTokenInAmount": {c.amount},
		"dstChainId": {take.Facts.ID.String()}, "dstChainTokenOut": {tokens[c.out]}, "dstChainTokenOutRecipient": {w.stranger.Hex()},
		"senderAddress": {w.address.Hex()}, "srcChainOrderAuthorityAddress": {w.address.Hex()}, "dstChainOrderAuthorityAddress": {w.stranger.Hex()},
	}
	for name, values := range c.more {
		query[name] = values
	}
	if query.Has("affiliateFeePercent") {
		query.Set("affiliateFeeRecipient", w.affiliate.Hex())
	}
	var made creationJSON
	address := w.gateway + "/v1.0/dln/order/create-tx?" + query.Encode()
	get(t, address, &made)
	calls := made.Bundle.Calls
	if isBundle := query.Has("bundle"); isBundle != (len(calls) > 0) { // one if an earlier case left an allowance
		t.Fatalf("%d calls to send", len(calls))
	} else if c.in != "coin" && !isBundle {
		allowed := decimal(t, made.Tx.AllowanceValue) // with room for expenses that rise in the meantime
		w.approve(t, common.HexToAddress(w.tokens[c.in]), common.HexToAddress(made.Tx.AllowanceTarget), allowed.Mul(allowed, big.NewInt(2)))
		get(t, address, &made)
	}
	spent := w.balance(t, common.HexToAddress(w.tokens[c.in]), w.address)
	for _, call := range calls {
		w.send(t, common.HexToAddress(call.To), hexutil.MustDecode(call.Data), hexutil.MustDecodeBig(call.Value))
	}
	if calls == nil {
		w.send(t, common.HexToAddress(made.Tx.To), hexutil.MustDecode(made.Tx.Data), decimal(t, made.Tx.Value))
	}
	spent.Sub(spent, w.balance(t, common.HexToAddress(w.tokens[c.in]), w.address))
	if want := decimal(t, made.Estimation.In.Amount); c.in != "coin" && spent.Cmp(want) != 0 {
		t.Errorf("the sender paid %s, want %s", spent, want)
	}
	var found struct {
		Status      string
		OrderStruct struct{ TakeOffer struct{ Amount string } }
	}
	await(t, "order "+made.OrderID, func() bool {
		response, body := ask(t, http.MethodGet, w.gateway+"/v1.0/dln/order/"+made.OrderID, "")
		if response.StatusCode == http.StatusOK {
			decode(t, "order", body, &found)
		}
		return response.StatusCode == http.StatusOK
	})
	if found.OrderStruct.TakeOffer.Amount != made.Estimation.Out.Amount || found.Status != "Created" {
		t.Errorf("order %s is %+v, want %s of the take token", made.OrderID, found, made.Estimation.Out.Amount)
	}
	if least, has := new(big.Int), decimal(t, made.Estimation.Out.Amount); has.Cmp(least) <= 0 {
		t.Errorf("the order takes %s", has)
	}
	return made
}
