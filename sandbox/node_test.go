package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"crossgate/order"
	"crossgate/sandbox/contracts"
)

// rpcResult calls a method over HTTP and decodes what it answers.
func rpcResult(t *testing.T, c *Chain, out any, method string, params ...any) {
	t.Helper()
	status, body := request(t, http.MethodPost, c.RPC, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	var answered struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &answered); err != nil || status != http.StatusOK || answered.Error != nil {
		t.Fatalf("%s = %d %s, %v", method, status, body, err)
	}
	if err := json.Unmarshal(answered.Result, out); err != nil {
		t.Fatalf("%s = %s, %v", method, body, err)
	}
}

func TestChainsTellTheirOwnIDs(t *testing.T) {
	w := untouched
	for _, c := range w.Chains() {
		var id, version string
		rpcResult(t, c, &id, "eth_chainId")
		rpcResult(t, c, &version, "web3_clientVersion")
		if want := "0x" + new(big.Int).SetUint64(c.Facts.Native).Text(16); id != want || version == "" {
			t.Errorf("chain %s: eth_chainId = %s, want %s; client version %q", c.Facts.ID, id, want, version)
		}
		if got := c.readBig(t, contracts.DlnSource, c.dlnSource(), "getChainId"); got.Uint64() != uint64(c.Facts.ID) {
			t.Errorf("DlnSource.getChainId on chain %s = %s", c.Facts.ID, got)
		}
	}
}

func TestNodeAnswersBatchesAndHistory(t *testing.T) {
	w := untouched
	c := w.Chains()[0]
	status, body := request(t, http.MethodPost, c.RPC, []map[string]any{
		{"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"},
		{"jsonrpc": "2.0", "id": 2, "method": "eth_getBlockByNumber", "params": []any{"finalized", false}},
		{"jsonrpc": "2.0", "id": 3, "method": "eth_getBlockByNumber", "params": []any{"safe", false}},
	})
	var answers []struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(body, &answers); err != nil || len(answers) != 3 {
		t.Fatalf("batch = %d %s, %v", status, body, err)
	}
	number := func(raw json.RawMessage) uint64 {
		var header types.Header
		if err := json.Unmarshal(raw, &header); err != nil {
			t.Fatal(err)
		}
		return header.Number.Uint64()
	}
	finalized, safe, head := number(answers[1].Result), number(answers[2].Result), c.node.head()
	if finalized == 0 || finalized >= safe || safe >= head {
		t.Errorf("finalized %d, safe %d, head %d: want them apart and in this sequence", finalized, safe, head)
	}

	// The state before an order's creation is still there.
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := c.node.client.TransactionReceipt(t.Context(), common.BytesToHash(orders[0].CreationTx.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for back, want := range map[int64]uint8{0: 1, 1: 0} {
		data := contracts.DlnSource.Pack("giveOrders", orders[0].ID)
		at := new(big.Int).Sub(receipt.BlockNumber, big.NewInt(back))
		answer, err := c.node.client.CallContract(t.Context(), callTo(c.dlnSource(), data), at)
		if err != nil || answer[31] != want {
			t.Errorf("status of the order %d blocks before its creation = %x, %v, want %d", back, answer, err, want)
		}
	}
}

func TestNodeSimulatesAndTraces(t *testing.T) {
	w := untouched
	c := w.Chains()[1]
	poor, token := madeAddress("somebody without anything"), c.token(usdc)
	move := map[string]any{
		"from": poor, "to": token.Address, "data": hexData(contracts.Token.Pack("transfer", callTarget, big.NewInt(5))),
	}
	// balanceOf is the token's second variable: 5 units appear in the simulation only.
	slot := contracts.Token.NewState().Set("balanceOf", big.NewInt(5), poor).Slots()
	override := map[string]any{token.Address.Hex(): map[string]any{"stateDiff": slot}}

	var moved string
	rpcResult(t, c, &moved, "eth_call", move, "latest", override)
	if new(big.Int).SetBytes(common.FromHex(moved)).Uint64() != 1 {
		t.Errorf("eth_call with an override = %s, want true", moved)
	}
	var simulated []struct {
		Calls []struct {
			Status string      `json:"status"`
			Logs   []types.Log `json:"logs"`
		} `json:"calls"`
	}
	rpcResult(t, c, &simulated, "eth_simulateV1", map[string]any{
		"blockStateCalls": []any{map[string]any{"stateOverrides": override, "calls": []any{move}}},
	}, "latest")
	if call := simulated[0].Calls[0]; call.Status != "0x1" || len(call.Logs) != 1 {
		t.Errorf("eth_simulateV1 = %+v, want one transfer", simulated)
	}
	var trace struct{ Type, Error string }
	rpcResult(t, c, &trace, "debug_traceCall", move, "latest", map[string]any{"tracer": "callTracer"})
	if trace.Type != "CALL" || trace.Error == "" {
		t.Errorf("debug_traceCall without the override = %+v, want a call that fails", trace)
	}
}

func TestTransactionsOfUsersAreSealedAtOnce(t *testing.T) {
	w := grown(t)
	c, user := w.Chains()[3], w.Accounts()[0]
	receipt := send(t, c, user, madeAddress("a friend"), units("1.5", 18), nil)
	if receipt.Status != types.ReceiptStatusSuccessful {
		t.Errorf("transfer has status %d", receipt.Status)
	}
	var balance string
	rpcResult(t, c, &balance, "eth_getBalance", madeAddress("a friend"), "latest")
	if want := "0x" + units("1.5", 18).Text(16); balance != want {
		t.Errorf("balance = %s, want %s", balance, want)
	}
}

// send signs a user's transaction, sends it over HTTP and waits for its receipt.
func send(t *testing.T, c *Chain, from Account, to common.Address, value *big.Int, data []byte) *types.Receipt {
	t.Helper()
	client, err := ethclient.DialContext(t.Context(), c.RPC)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	nonce, err := client.PendingNonceAt(t.Context(), from.Address)
	if err != nil {
		t.Fatal(err)
	}
	tip, err := client.SuggestGasTipCap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(c.Facts.Native))
	tx, err := types.SignNewTx(from.key, signer, &types.DynamicFeeTx{
		ChainID: signer.ChainID(), Nonce: nonce, Gas: 2_000_000, GasTipCap: tip,
		GasFeeCap: new(big.Int).Add(big.NewInt(2*c.spec.baseFee), tip), To: &to, Value: value, Data: data,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.SendTransaction(t.Context(), tx); err != nil {
		t.Fatalf("send transaction: %v", err)
	}
	return awaitReceipt(t, client, tx.Hash())
}

// awaitReceipt asks until the transaction is sealed or the test ends.
func awaitReceipt(t *testing.T, client *ethclient.Client, tx common.Hash) *types.Receipt {
	t.Helper()
	for {
		receipt, err := client.TransactionReceipt(t.Context(), tx)
		if err == nil {
			return receipt
		}
		if !errors.Is(err, ethereum.NotFound) {
			t.Fatalf("receipt of %s: %v", tx, err)
		}
	}
}

func callTo(to common.Address, data []byte) ethereum.CallMsg {
	return ethereum.CallMsg{To: &to, Data: data}
}

func hexData(data []byte) string { return "0x" + common.Bytes2Hex(data) }

func TestReorgForgetsWhatHappened(t *testing.T) {
	w := open(t, Options{})
	c, user := w.Chains()[0], w.Accounts()[1]
	before, dropped := c.node.head(), send(t, c, user, madeAddress("a friend"), big.NewInt(1), nil)
	if err := w.Mine(t.Context(), c.Facts.ID, 2); err != nil {
		t.Fatal(err)
	}
	if err := w.Reorg(t.Context(), c.Facts.ID, 3); err != nil {
		t.Fatal(err)
	}
	if got, want := c.node.head(), before+4; got != want {
		t.Errorf("head = %d, want %d: one block more than was dropped", got, want)
	}
	if _, err := c.node.client.TransactionReceipt(t.Context(), dropped.TxHash); err == nil {
		t.Error("the dropped transaction still has a receipt")
	}
	header, err := c.node.client.HeaderByNumber(t.Context(), dropped.BlockNumber)
	if err != nil || header.Hash() == dropped.BlockHash {
		t.Errorf("block %s after the reorg = %v, %v, want another one", dropped.BlockNumber, header.Hash(), err)
	}
	// What was dropped can be sent again.
	if again := send(t, c, user, madeAddress("a friend"), big.NewInt(1), nil); again.TxHash == (common.Hash{}) {
		t.Error("no receipt after the reorg")
	}
	if err := w.Reorg(t.Context(), c.Facts.ID, 100_000); err == nil {
		t.Error("a reorg deeper than the chain succeeded")
	}
}

func TestReorgAgainMovesTransactionsOneBlockUp(t *testing.T) {
	w := open(t, Options{})
	c := w.Chains()[2]
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newest := orders[slices.IndexFunc(orders, func(o Order) bool { return o.Title == "a taken token that does not tell its decimals" })]
	before, err := c.node.client.TransactionReceipt(t.Context(), common.BytesToHash(newest.CreationTx.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	depth := c.node.head() - before.BlockNumber.Uint64() + 1
	if err := w.ReorgAgain(t.Context(), c.Facts.ID, depth); err != nil {
		t.Fatal(err)
	}
	after, err := c.node.client.TransactionReceipt(t.Context(), common.BytesToHash(newest.CreationTx.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := after.BlockNumber.Uint64(), before.BlockNumber.Uint64()+1; got != want || after.Status != types.ReceiptStatusSuccessful {
		t.Errorf("the order's creation is in block %d with status %d, want %d and success", got, after.Status, want)
	}
	if state, err := w.State(t.Context(), newest); err != nil || state != order.StateCreated {
		t.Errorf("state after the reorg = %s, %v, want Created", state, err)
	}
}

func TestReorgTakesAnOrderBack(t *testing.T) {
	w := open(t, Options{})
	count := func() int {
		orders, err := w.Orders(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(orders)
	}
	before := count()
	sonicChain, _ := w.Chain(sonic)
	// The last thing that happened on Sonic is a transaction that created two orders.
	if err := w.Reorg(t.Context(), sonicChain.Facts.ID, 1); err != nil {
		t.Fatal(err)
	}
	if after := count(); after != before-2 {
		t.Errorf("%d orders after the reorg, want %d", after, before-2)
	}
}

func TestTokensDescribeThemselvesInTheirWays(t *testing.T) {
	w := untouched
	ask := func(c *Chain, token Token, method string) ([]byte, error) {
		return c.node.client.CallContract(context.WithoutCancel(t.Context()), callTo(token.Address, token.contract.Pack(method)), nil)
	}
	for _, c := range w.Chains() {
		if c.spec.poolRouter == "" {
			continue
		}
		symbol, err := ask(c, c.token(mkr), "symbol")
		if want := bytes32(mkr); err != nil || common.BytesToHash(symbol) != want || len(symbol) != 32 {
			t.Errorf("chain %s: symbol of MKR = %x, %v, want %x", c.Facts.ID, symbol, err, want)
		}
		if decimals, err := ask(c, c.token(mute), "decimals"); err == nil {
			t.Errorf("chain %s: decimals of MUTE = %x, want a revert", c.Facts.ID, decimals)
		}
		for symbol, want := range map[string]uint8{usdc: 6, wbtc: 8, dai: 18} {
			token := c.token(symbol)
			values, err := c.read(t.Context(), token.contract, token.Address, "decimals")
			if err != nil || values[0].(uint8) != want {
				t.Errorf("chain %s: decimals of %s = %v, %v, want %d", c.Facts.ID, symbol, values, err, want)
			}
			if name, err := c.read(t.Context(), token.contract, token.Address, "symbol"); err != nil || name[0].(string) != symbol {
				t.Errorf("chain %s: symbol of %s = %v, %v", c.Facts.ID, symbol, name, err)
			}
		}
	}
}
