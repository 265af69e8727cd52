package stories_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

// sentByTronWeb is what became of a transaction that TRON's client library signed and sent.
type sentByTronWeb struct {
	TxID, Result, OrderID string
	Codes                 []string // of what was sent with another signature, as it is, and again
}

// byTronWeb approves what a path answers with the fourth account's key, signs the transaction, and sends it.
func (f front) byTronWeb(t *testing.T, path string) (sent sentByTronWeb) {
	t.Helper()
	tron, _ := f.world.Chain(chain.Tron)
	run := exec.CommandContext(t.Context(), "node", "tronweb.mjs", tron.RPC, f.facts(t).Accounts[3].PrivateKey[2:], path)
	run.Dir = filepath.Join("testdata", "client")
	run.Stderr = os.Stderr
	must.Do(t, json.Unmarshal(must.Get(run.Output())(t), &sent))
	if want := []string{"SIGERROR", "sent", "DUP_TRANSACTION_ERROR"}; sent.Result != "SUCCESS" || !cmp.Equal(sent.Codes, want) {
		t.Errorf("%s: %s, %q, want %q", sent.TxID, sent.Result, sent.Codes, want)
	}
	return sent
}

// ordersByTronWeb makes the requests of the service's integrator example (usdt-tron-to-sol.ts, tron-to-sol.ts), which approves
// after it has the transaction; has the order fulfilled; and cancels one on TRON.
func (f front) ordersByTronWeb(t *testing.T, tron, solana, other side) {
	if _, err := os.Stat(filepath.Join("testdata", "client", "node_modules", "tronweb")); err != nil {
		t.Skip("tronweb is not here: npm ci --ignore-scripts in sandbox/stories/testdata/client, which make test does")
	}
	owner, foreign := tron.address(f.world, 3), other.address(f.world, 0)
	path := func(give, take side, in, out, amount, sender, receiver string) string {
		return f.url + "/v1.0/dln/order/create-tx?" + url.Values{
			"srcChainId": {give.place.Facts.ID.String()}, "srcChainTokenIn": {in}, "srcChainTokenInAmount": {amount},
			"dstChainId": {take.place.Facts.ID.String()}, "dstChainTokenOut": {out}, "dstChainTokenOutRecipient": {receiver},
			"dstChainTokenOutAmount": {"auto"}, "senderAddress": {sender}, "srcChainOrderAuthorityAddress": {sender},
			"srcChainRefundAddress": {sender}, "dstChainOrderAuthorityAddress": {receiver}, "referralCode": {"31805"},
			"prependOperatingExpenses": {"true"},
		}.Encode()
	}
	example := func(in, amount string) string {
		return path(tron, solana, in, "11111111111111111111111111111111", amount, owner, solana.address(f.world, 1))
	}
	ofCoin, text := ask(t, http.MethodGet, example("T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", "20000000"), "")
	if ofCoin.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "IMPOSSIBLE_ROUTE") || !strings.Contains(string(text), "/v1.0/chain/transaction") {
		t.Errorf("TRX, which no router swaps before: %s, %s", ofCoin.Status, text)
	}
	unapproved, text := ask(t, http.MethodGet, example(tron.token("USDT"), "2000000")+"&enableEstimate=true", "")
	if unapproved.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "approve") {
		t.Errorf("estimate before the approval: %s, %s", unapproved.Status, text)
	}
	unapproved, text = ask(t, http.MethodGet, example(tron.token("USDT"), "2000000"), "")
	if unapproved.Header.Get("X-Unsimulated") != "true" || !strings.Contains(string(text), `"notSimulated":"allowance"`) {
		t.Errorf("creation before the approval: %s, %s", unapproved.Status, text)
	}
	sent := f.byTronWeb(t, example(tron.token("USDT"), "2000000"))
	if o, err := f.world.Order(t.Context(), common.HexToHash(sent.OrderID)); err != nil || o.GiveChain() != tron.place.Facts.ID {
		t.Errorf("order %s: %v", sent.OrderID, err)
	}
	var made struct {
		OrderIDs []struct{ StringValue string }
	}
	get(t, f.url+"/api/Transaction/"+sent.TxID+"/orderIds", &made)
	if len(made.OrderIDs) != 1 || made.OrderIDs[0].StringValue != sent.OrderID {
		t.Errorf("transaction %s made %v, want %s", sent.TxID, made, sent.OrderID)
	}
	var done struct{ Fulfilled []string }
	sandboxtest.Control(t, f.world, "take", `{"batch":7}`, &done)
	if !slices.Contains(done.Fulfilled, sent.OrderID) {
		t.Errorf("the taker fulfilled %q, want %s", done.Fulfilled, sent.OrderID)
	}
	var waiting creationJSON
	other.create(t, path(other, tron, other.token("USDC"), tron.token("USDT"), "30000000", foreign, owner), "USDC", big.NewInt(30_000_000), &waiting)
	cancel := f.url + "/v1.0/dln/order/" + waiting.OrderID + "/cancel-tx"
	getOnce(t, "indexed", cancel, &struct{}{})
	f.byTronWeb(t, cancel)
	await(t, "cancelled: "+waiting.OrderID, func() bool {
		var seen struct{ State string }
		get(t, f.url+"/api/Orders/"+waiting.OrderID, &seen)
		return seen.State == "SentOrderCancel"
	})
}
