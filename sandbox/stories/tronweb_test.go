package stories_test

import (
	"encoding/json"
	"math/big"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// byTronWeb signs the transaction that a path answers with the fourth account's key, and sends it.
func (f front) byTronWeb(t *testing.T, arguments ...string) (sent sentByTronWeb) {
	t.Helper()
	tron, _ := f.world.Chain(chain.Tron)
	run := exec.CommandContext(t.Context(), "node", append([]string{"tronweb.mjs", tron.RPC, f.facts(t).Accounts[3].PrivateKey[2:]}, arguments...)...)
	run.Dir = filepath.Join("testdata", "client")
	run.Stderr = os.Stderr
	must.Do(t, json.Unmarshal(must.Get(run.Output())(t), &sent))
	if want := []string{"SIGERROR", "sent", "DUP_TRANSACTION_ERROR"}; sent.Result != "SUCCESS" || !cmp.Equal(sent.Codes, want) {
		t.Errorf("%s: %s, %q, want %q", sent.TxID, sent.Result, sent.Codes, want)
	}
	return sent
}

// ordersByTronWeb creates an order on TRON with TRON's client library, has it fulfilled, and cancels one there.
func (f front) ordersByTronWeb(t *testing.T, tron, other side) {
	if _, err := os.Stat(filepath.Join("testdata", "client", "node_modules", "tronweb")); err != nil {
		t.Skip("tronweb is not here: npm ci --ignore-scripts in sandbox/stories/testdata/client, which make test does")
	}
	owner, foreign := tron.address(f.world, 3), other.address(f.world, 0)
	path := func(give, take side, in, out, sender, receiver string) string {
		return f.url + "/v1.0/dln/order/create-tx?" + url.Values{
			"srcChainId": {give.place.Facts.ID.String()}, "srcChainTokenIn": {give.token(in)}, "srcChainTokenInAmount": {"30000000"},
			"dstChainId": {take.place.Facts.ID.String()}, "dstChainTokenOut": {take.token(out)}, "dstChainTokenOutRecipient": {receiver},
			"senderAddress": {sender}, "srcChainOrderAuthorityAddress": {sender}, "dstChainOrderAuthorityAddress": {receiver},
		}.Encode()
	}
	spender := addressText(tron.place.Facts.Contracts.DlnSource.Bytes(), tronID)
	sent := f.byTronWeb(t, tron.token("USDT"), spender, "30000000", path(tron, other, "USDT", "USDC", owner, foreign))
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
	sandboxtest.Control(t, f.world, "take", `{"batch":1}`, &done)
	if !slices.Contains(done.Fulfilled, sent.OrderID) {
		t.Errorf("the taker fulfilled %q, want %s", done.Fulfilled, sent.OrderID)
	}
	var waiting creationJSON
	other.create(t, path(other, tron, "USDC", "USDT", foreign, owner), "USDC", big.NewInt(30_000_000), &waiting)
	cancel := f.url + "/v1.0/dln/order/" + waiting.OrderID + "/cancel-tx"
	getOnce(t, "indexed", cancel, &struct{}{})
	f.byTronWeb(t, cancel)
	await(t, "cancelled: "+waiting.OrderID, func() bool {
		var seen struct{ State string }
		get(t, f.url+"/api/Orders/"+waiting.OrderID, &seen)
		return seen.State == "SentOrderCancel"
	})
}
