package stories_test

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	_ "image/jpeg"
	"io"
	"math"
	"math/big"
	"net/http"
	"net/http/httptest"
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
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/mr-tron/base58"

	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestPagesInABrowser walks through the pages in Chromium, for make check-pages: testdata/pages/pages.mjs.
// CROSSGATE_PAGES lists the modules of the walk, separated by commas, or is all. CROSSGATE_SHOTS is a directory for
// full pictures of all pages in both themes and at a phone's width. CROSSGATE_PAINT limits each page's largest paint in
// milliseconds, on a four times slower processor, and forbids layout shifts; without it both are only reported.
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

// operatorsToken is required by commands on the operators' page.
const operatorsToken = "token-of-the-walk-through-the-pages"

// startOperated is startFront with the admin listener.
func startOperated(t *testing.T) (f front, admin string) {
	t.Helper()
	world := sandboxtest.Start(t, sandbox.Options{BlockTime: 5 * time.Second}) // a chain without new blocks is behind
	c := configOf(t, world)
	c.Telemetry.Token = config.NewSecret(operatorsToken)
	url, admin := runLogged(t, c, startTelemetry(t), io.Discard)
	return front{url, world}, admin
}

// browser finds the programs that the test of the pages needs.
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

// foresee returns an order that does not exist yet: a signed transaction, which repeats another one from another
// account, its hash, the ID of the order that it will create, and where to send it.
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

// walletCall is what a wallet in the browser passes on: a method of EIP-1193 on a chain, by EIP-155 ID, or with chain 0
// a transaction of Solana to sign and send.
type walletCall struct {
	Chain  uint64
	Method string
	Params []json.RawMessage
}

// startWallet serves the signing half of the wallets that the walk adds to its pages, for the world's second account
// and first taker, and returns its URL.
func startWallet(t *testing.T, world *sandbox.World) string {
	t.Helper()
	facts := factsOf(t, world)
	trader, taker := newSolanaTrader(t, world, ""), newSolanaTrader(t, world, "")
	taker.key = must.Get(base58.Decode(world.Takers()[0].Wallet.Secret()))(t)
	wallets, takers := map[uint64]*wallet{}, map[uint64]*wallet{}
	for _, c := range facts.Chains {
		if c.EVMRPC != "" {
			wallets[c.EVMChainID] = newWallet(t, c.EVMRPC, facts.Accounts[1].PrivateKey)
			takers[c.EVMChainID] = newWallet(t, c.EVMRPC, facts.Takers[0].PrivateKey)
		}
	}
	instead := make(chan *types.Transaction, 8) // that replace those waiting for a higher fee
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call walletCall
		err := json.NewDecoder(r.Body).Decode(&call)
		var result any
		switch signer := wallets[call.Chain]; {
		case err != nil:
		case call.Chain == 0:
			signer := trader
			if bytes.Contains(call.Params[0], fmt.Appendf(nil, "%x", taker.key.Public())) { // its key is among the accounts
				signer = taker
			}
			result, err = signer.sendSigned(call.Params[0])
		case signer == nil:
			err = fmt.Errorf("no chain %d", call.Chain)
		case call.Method == "eth_sendTransaction":
			if bytes.Contains(bytes.ToLower(call.Params[0]), []byte(strings.ToLower(`"from":"`+facts.Takers[0].Address+`"`))) {
				signer = takers[call.Chain]
			}
			result, err = signer.sendSigned(r, call.Params[0], string(call.Params[1]), instead)
		case call.Method == "eth_signTypedData_v4":
			result, err = signer.signTyped(call.Params[1])
		default:
			result, err = signer.pass(r, call)
			if call.Method == "eth_getTransactionByHash" && len(instead) > 0 {
				err = errors.Join(err, signer.client.SendTransaction(r.Context(), <-instead))
			}
		}
		answer := map[string]any{"result": result}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func (w *wallet) pass(r *http.Request, call walletCall) (result json.RawMessage, err error) {
	params := make([]any, len(call.Params))
	for i, each := range call.Params {
		params[i] = each
	}
	err = w.client.Client().CallContext(r.Context(), &result, call.Method, params...)
	return result, err
}

// signTyped signs typed data (EIP-712), given as a JSON text.
func (w *wallet) signTyped(asked json.RawMessage) (hexutil.Bytes, error) {
	var text string
	var typed apitypes.TypedData
	err := json.Unmarshal(asked, &text)
	err = errors.Join(err, json.Unmarshal([]byte(text), &typed))
	hash, _, errOfData := apitypes.TypedDataAndHash(typed)
	if err := errors.Join(err, errOfData); err != nil {
		return nil, err
	}
	signature, err := crypto.Sign(hash, w.key)
	if err == nil {
		signature[crypto.RecoveryIDOffset] += 27
	}
	return signature, err
}

// sendSigned signs and sends a transaction like eth_sendTransaction. If another one is to replace it, the same one or
// an empty one, its own price is too low, and the replacement goes to the channel.
func (w *wallet) sendSigned(r *http.Request, request json.RawMessage, place string, instead chan<- *types.Transaction) (hash string, err error) {
	var asked struct {
		To                   common.Address
		Data                 hexutil.Bytes
		Value, Gas, GasPrice *hexutil.Big // nil: left out
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return "", err
	}
	nonce, err := w.client.PendingNonceAt(r.Context(), w.address)
	price, errOfPrice := w.client.SuggestGasPrice(r.Context())
	if err := errors.Join(err, errOfPrice); err != nil {
		return "", err
	}
	tx := &types.LegacyTx{Nonce: nonce, To: &asked.To, Data: asked.Data, Value: (*big.Int)(asked.Value), Gas: 1_000_000, GasPrice: price.Mul(price, big.NewInt(2))}
	if asked.Gas != nil {
		tx.Gas, tx.GasPrice = asked.Gas.ToInt().Uint64(), asked.GasPrice.ToInt()
	}
	signer := types.LatestSignerForChainID(w.chainID)
	if place != `""` {
		other := *tx
		if tx.GasPrice = common.Big1; place == `"nothing"` {
			other.To, other.Data, other.Value = &w.address, nil, nil
		}
		instead <- types.MustSignNewTx(w.key, signer, &other)
	}
	signed, err := types.SignNewTx(w.key, signer, tx)
	if err != nil {
		return "", err
	}
	return signed.Hash().Hex(), w.client.SendTransaction(r.Context(), signed)
}

// sendSigned signs and sends a transaction in hex, and returns its signature in hex.
func (w *solanaTrader) sendSigned(transaction json.RawMessage) (signature hexutil.Bytes, err error) {
	var raw hexutil.Bytes
	if err := json.Unmarshal(transaction, &raw); err != nil || len(raw) < 65 {
		return nil, errors.Join(err, errors.New("not a transaction"))
	}
	signature = ed25519.Sign(w.key, raw[65:])
	copy(raw[1:65], signature)
	var text string
	return signature, w.client.Call(&text, "sendTransaction", base64.StdEncoding.EncodeToString(raw), map[string]string{"encoding": "base64"})
}

var updateScreens = flag.Bool("update-screens", false, "write docs/screens anew")

const screens = "../../docs/screens"

// Screens are compared by the brightness of their fields: times, IDs and another machine's fonts do not matter, but
// what is missing, misplaced or of the wrong theme does.
const (
	fieldColumns, fieldRows = 16, 12
	largestDifference       = 0.03 // of brightness from black to white, as the root mean square over all fields
)

// fields returns the brightness of each field of a picture, from 0 to 1.
func fields(picture image.Image) (light [fieldColumns * fieldRows]float64) {
	var pixels [fieldColumns * fieldRows]float64
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			at := (y-b.Min.Y)*fieldRows/b.Dy()*fieldColumns + (x-b.Min.X)*fieldColumns/b.Dx()
			red, green, blue, _ := picture.At(x, y).RGBA()
			light[at] += (0.2126*float64(red) + 0.7152*float64(green) + 0.0722*float64(blue)) / math.MaxUint16
			pixels[at]++
		}
	}
	for i := range light {
		light[i] /= pixels[i]
	}
	return light
}

// difference returns how far the fields of two pictures differ, as the root mean square.
func difference(t *testing.T, one, other string) float64 {
	t.Helper()
	a, b := fields(readPicture(t, one)), fields(readPicture(t, other))
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

func readPicture(t *testing.T, path string) image.Image {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	picture, _, err := image.Decode(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return picture
}

// compareScreens compares the pictures in a directory with those of docs/screens, or stores them there.
func compareScreens(t *testing.T, taken string) {
	t.Helper()
	pictures, err := filepath.Glob(filepath.Join(taken, "*.jpg"))
	if err != nil || len(pictures) == 0 {
		t.Errorf("pictures of the pages: %v, %v", pictures, err)
	}
	for _, picture := range pictures {
		kept := filepath.Join(screens, filepath.Base(picture))
		if *updateScreens {
			text, err := os.ReadFile(picture)
			if err == nil {
				err = os.WriteFile(kept, text, 0o644)
			}
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if d := difference(t, picture, kept); d > largestDifference {
			t.Errorf("%s looks otherwise than in docs/screens, by %.3f; look at it, and run the test with -args -update-screens if it is meant", filepath.Base(picture), d)
		}
	}
}
