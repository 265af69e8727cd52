package stories_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestPagesInABrowser lets Chromium walk through the pages, for make check-pages: testdata/pages/pages.mjs. CROSSGATE_PAGES
// are the modules of the walk, separated by commas, or all. CROSSGATE_SHOTS names a directory for whole pictures of every
// page in both themes and at a phone's width. CROSSGATE_PAINT is how many milliseconds the largest part of
// each page may take, on a processor four times as slow, where nothing may move meanwhile; without it both are told only.
func TestPagesInABrowser(t *testing.T) {
	wanted := os.Getenv("CROSSGATE_PAGES")
	if wanted == "" {
		t.Skip("Chromium takes minutes: make check-pages runs it, or CROSSGATE_PAGES=all")
	}
	node, chromium := browser(t)
	front, admin := startOperated(t)
	world := front.facts(t)
	orders := map[string]string{}
	times := map[string]int{}
	for _, o := range world.Orders {
		if orders[o.State] == "" {
			orders[o.State] = o.CreationTxHash
		}
		times[o.CreationTxHash]++
		if times[o.CreationTxHash] == 2 {
			orders["several"] = o.CreationTxHash
		}
	}
	usdc := world.token(t, 1, "USDC")
	taken := t.TempDir()
	mostPaint, err := strconv.Atoi(cmp.Or(os.Getenv("CROSSGATE_PAINT"), "0"))
	if err != nil {
		t.Fatalf("CROSSGATE_PAINT: %v", err)
	}
	const coin = "0x0000000000000000000000000000000000000000"
	account := strings.ToLower(world.Accounts[0].Address)
	look := must.Get(json.Marshal(map[string]any{
		"gateway": front.url, "admin": admin, "token": operatorsToken, "mostPaint": mostPaint, "sandbox": front.world.URL(), "shots": os.Getenv("CROSSGATE_SHOTS"),
		"only":    strings.FieldsFunc(strings.TrimPrefix(wanted, "all"), func(r rune) bool { return r == ',' }),
		"screens": taken, "foreseen": foresee(t, world), "hash": orders["ClaimedUnlock"], "several": orders["several"], "taker": world.Takers[0].Address, "takerOnSolana": front.world.Takers()[0].Wallet.Key,
		"wallet": map[string]any{
			"tron": map[string]string{
				"key": world.Accounts[3].PrivateKey[2:], "takerKey": world.Takers[0].PrivateKey[2:],
				"address": addressText(common.HexToAddress(world.Accounts[3].Address).Bytes(), tronID),
			},
			"url": startWallet(t, front.world), "evm": world.Accounts[1].Address, "solana": world.Accounts[0].Wallet,
			"usdcOnSolana": world.token(t, 7565164, "USDC"),
		},
		"swap": map[string]string{
			"chainId": "1", "tokenIn": coin, "tokenOut": usdc, "account": account,
			"path": "/swap?chainId=1&tokenIn=" + coin + "&amount=0.1&tokenOut=" + usdc + "&tokenOutRecipient=" + account + "&senderAddress=" + account,
		},
	}))(t)
	command := exec.CommandContext(t.Context(), node, "pages.mjs", string(look))
	command.Dir = filepath.Join("testdata", "pages")
	command.Env = append(os.Environ(), "CHROMIUM="+chromium)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	said, err := command.Output()
	if err != nil {
		t.Errorf("pages.mjs: %v\n%s", err, complaints.String())
	}
	t.Log(complaints.String())
	for line := range strings.Lines(string(said)) {
		t.Error(strings.TrimSpace(line))
	}
	compareScreens(t, taken)
}

// operatorsToken is what commands on the operators' page want.
const operatorsToken = "token-of-the-walk-through-the-pages"

// startOperated is startFront with the listener for operators.
func startOperated(t *testing.T) (f front, admin string) {
	t.Helper()
	world := sandboxtest.Start(t, sandbox.Options{BlockTime: 5 * time.Second}) // a chain that rests is behind
	c := configOf(t, world)
	c.Telemetry.Token = config.NewSecret(operatorsToken)
	url, admin := runLogged(t, c, startTelemetry(t), io.Discard)
	return front{url, world}, admin
}

// browser finds what the test of the pages needs.
func browser(t *testing.T) (node, chromium string) {
	t.Helper()
	node, noNode := exec.LookPath("node")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	_, noLibrary := os.Stat(filepath.Join("testdata", "pages", "node_modules", "playwright-core"))
	if noNode != nil || chromium == "" || noLibrary != nil {
		t.Skip("Node.js, Chromium or playwright-core is not here. make check-pages installs them on Debian and Ubuntu; elsewhere: " +
			"get node and chromium, and run npm ci in sandbox/stories/testdata/pages")
	}
	return node, chromium
}

// foresee is an order that nobody has created yet: a signed transaction, which does what another did from another
// account, its hash, the id of the order that it will create, and where to send it.
func foresee(t *testing.T, world worldJSON) map[string]string {
	t.Helper()
	const give = 1
	var rpc, model string
	for _, c := range world.Chains {
		if c.ID == give {
			rpc = c.EVMRPC
		}
	}
	for _, o := range world.Orders {
		if o.ChainID == give && o.Title == "coin for coin, claimed" {
			model = o.CreationTxHash
		}
	}
	w := newWallet(t, rpc, world.Accounts[0].PrivateKey)
	like, _, err := w.client.TransactionByHash(t.Context(), common.HexToHash(model))
	if err != nil {
		t.Fatalf("the creation of an order of coin for coin: %v", err)
	}
	call := ethereum.CallMsg{From: w.address, To: like.To(), Data: like.Data(), Value: like.Value()}
	id, err := w.client.CallContract(t.Context(), call, nil) // creations return the order's id
	if err != nil || len(id) != common.HashLength {
		t.Fatalf("the id of an order that nobody has created yet: %x, %v", id, err)
	}
	nonce := must.Get(w.client.PendingNonceAt(t.Context(), w.address))(t)
	price := must.Get(w.client.SuggestGasPrice(t.Context()))(t)
	tx := must.Get(types.SignNewTx(w.key, types.LatestSignerForChainID(w.chainID), &types.LegacyTx{
		Nonce: nonce, To: like.To(), Data: like.Data(), Value: like.Value(), Gas: 2 * like.Gas(), GasPrice: price.Mul(price, big.NewInt(2)),
	}))(t)
	raw := must.Get(tx.MarshalBinary())(t)
	return map[string]string{"rpc": rpc, "raw": hexutil.Encode(raw), "hash": tx.Hash().Hex(), "id": hexutil.Encode(id)}
}
