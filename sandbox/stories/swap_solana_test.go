package stories_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/mr-tron/base58"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/sandbox/solana"
)

// solanaTrader is a wallet on Solana that uses one gateway.
type solanaTrader struct {
	client   *rpc.Client
	key      ed25519.PrivateKey
	gateway  string
	tokens   map[string]sandbox.Token // by symbol, and the wrapped coin; the coin has none
	stranger string

	affiliate string // of cases with one
}

func newSolanaTrader(t *testing.T, world *sandbox.World, gateway string) *solanaTrader {
	t.Helper()
	client := must.Get(rpc.Dial(world.Solana().RPC))(t)
	t.Cleanup(client.Close)
	secret := must.Get(base58.Decode(world.Accounts()[0].Wallet.Secret()))(t)
	made := &solanaTrader{
		client: client, key: secret, gateway: gateway, tokens: map[string]sandbox.Token{},
		stranger: base58.Encode(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{0x5e}, 32)).Public().(ed25519.PublicKey)),
	}
	for _, token := range world.Solana().Tokens[1:] {
		made.tokens[token.Symbol] = token
	}
	made.tokens["wrapped"] = world.Solana().Tokens[0] // whose symbol is the coin's
	return made
}

func (w *solanaTrader) address() string { return base58.Encode(w.key.Public().(ed25519.PublicKey)) }

// mint returns a token's address in the API's spelling.
func (w *solanaTrader) mint(symbol string) string { return w.tokens[symbol].Mint.String() }

func (w *solanaTrader) recipient(c swapCase) string {
	if c.toStranger {
		return w.stranger
	}
	return w.address()
}

func (w *solanaTrader) query(c swapCase) string {
	query := url.Values{
		"chainId": {"7565164"}, "tokenIn": {w.mint(c.in)}, "tokenInAmount": {c.amount}, "tokenOut": {w.mint(c.out)},
		"tokenOutRecipient": {w.recipient(c)}, "senderAddress": {w.address()},
	}
	if c.affiliate != "" {
		query.Set("affiliateFeePercent", c.affiliate)
		query.Set("affiliateFeeRecipient", w.affiliate)
	}
	return "/v1.0/chain/transaction?" + query.Encode()
}

// solanaSwapJSON is an answer with the members of swaps on Solana.
type solanaSwapJSON struct {
	swapJSON
	Tx                      map[string]string `json:"tx"`
	EstimatedTransactionFee struct {
		Details struct{ TxFee, PriorityFee string }
	} `json:"estimatedTransactionFee"`
}

var solanaCases = []swapCase{
	{"coin", "USDC", "250000000", false, ""},
	{"USDC", "coin", "150000000", false, ""},
	{"USDC", "PYUSD", "20000000", false, ""},
	{"coin", "PYUSD", "70000000", false, ""},
	{"coin", "USDC", "250000000", true, ""},
	{"PYUSD", "coin", "20000000", true, ""},
	{"USDC", "wrapped", "150000000", false, ""},
	{"wrapped", "USDC", "250000000", false, ""}, // of what the previous one left
	{"JitoSOL", "USDC", "2000000000", true, ""},
}

// TestSwapTransactionOnSolanaDoesWhatItSays signs and sends the returned transaction, as a wallet would, and checks
// what the recipient gets, with both venues and with each alone.
func TestSwapTransactionOnSolanaDoesWhatItSays(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	for _, name := range []string{"", "jupiter", "dflow"} {
		address := serveSwaps(t, world, func(c *config.Config) {
			if name != "" {
				onlyVenues(c, name)
			}
		}, chain.Solana)
		w := newSolanaTrader(t, world, address)
		for _, one := range solanaCases {
			t.Run(fmt.Sprintf("%s/%s/%t", name, one, one.toStranger), func(t *testing.T) {
				if name == "jupiter" && one.toStranger {
					if p := problemAt(t, address+w.query(one)); p.status == http.StatusOK || p.ErrorID != "NO_ROUTE" {
						t.Errorf("jupiter for another recipient: %d %s, want NO_ROUTE", p.status, p.ErrorID)
					}
					return
				}
				swap := w.makeSwap(t, one)
				if want := map[bool]int{true: 2, false: 1}[name == "" && !one.toStranger]; len(swap.ComparedAggregators) != want {
					t.Errorf("%d venues were compared, want %d", len(swap.ComparedAggregators), want)
				}
			})
		}
	}
}

// makeSwap requests a swap and sends its transaction.
func (w *solanaTrader) makeSwap(t *testing.T, c swapCase) solanaSwapJSON {
	t.Helper()
	var swap solanaSwapJSON
	get(t, w.gateway+w.query(c), &swap)
	if _, hasTo := swap.Tx["to"]; hasTo || len(swap.Tx) != 1 {
		t.Errorf("tx = %v, want data alone", swap.Tx)
	}
	before := w.balance(t, c.out, w.recipient(c))
	fee := w.send(t, swap.Tx["data"])
	got := new(big.Int).Sub(w.balance(t, c.out, w.recipient(c)), before)
	if c.out == "coin" && !c.toStranger {
		got.Add(got, fee)
	}
	if want := decimal(t, swap.TokenOut.Amount); got.Cmp(want) != 0 {
		t.Errorf("the recipient got %s, want %s", got, want)
	}
	if least := decimal(t, swap.TokenOut.MinAmount); got.Cmp(least) < 0 || least.Sign() == 0 {
		t.Errorf("the recipient got %s, want at least %s", got, least)
	}
	details := swap.EstimatedTransactionFee.Details
	if told := new(big.Int).Add(decimal(t, details.TxFee), decimal(t, details.PriorityFee)); told.Cmp(fee) != 0 {
		t.Errorf("the transaction cost %s, the answer says %s", fee, told)
	}
	// The sandbox's unit price is 20,000 millionths; a limit of half of all units would cost half of this.
	if paid, all := decimal(t, details.PriorityFee), big.NewInt(28_000); paid.Sign() == 0 || paid.Lsh(paid, 1).Cmp(all) > 0 {
		t.Errorf("its place in a block costs half of %s lamports: its limit is not what it takes", paid)
	}
	return swap
}

// send signs a transaction, whose only signature comes first, and returns its fee.
func (w *solanaTrader) send(t *testing.T, data string) *big.Int {
	t.Helper()
	raw := hexutil.MustDecode(data)
	copy(raw[1:65], ed25519.Sign(w.key, raw[65:]))
	var signature string
	if err := w.client.Call(&signature, "sendTransaction", base64.StdEncoding.EncodeToString(raw), map[string]string{"encoding": "base64"}); err != nil {
		t.Fatalf("the transaction fails: %v", err)
	}
	var made struct {
		Meta struct {
			Err any
			Fee int64
		}
	}
	if err := w.client.Call(&made, "getTransaction", signature, map[string]any{"commitment": "confirmed", "maxSupportedTransactionVersion": 0}); err != nil || made.Meta.Err != nil {
		t.Fatalf("transaction %s: %v %v", signature, err, made.Meta.Err)
	}
	return big.NewInt(made.Meta.Fee)
}

// balance returns an owner's balance of a token; for the coin, wrapped and unwrapped together.
func (w *solanaTrader) balance(t *testing.T, symbol, owner string) *big.Int {
	t.Helper()
	sum := new(big.Int)
	if symbol == "coin" {
		var has struct{ Value int64 }
		must.Do(t, w.client.Call(&has, "getBalance", owner, map[string]string{"commitment": "confirmed"}))
		return sum.SetInt64(has.Value)
	}
	var owned []struct {
		Account struct{ Data []string }
	}
	program := "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	if symbol == "PYUSD" {
		program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
	}
	must.Do(t, w.client.Call(&owned, "getProgramAccounts", program, map[string]any{
		"encoding": "base64", "commitment": "confirmed",
		"filters": []any{
			map[string]any{"memcmp": map[string]any{"offset": 0, "bytes": w.mint(symbol)}},
			map[string]any{"memcmp": map[string]any{"offset": 32, "bytes": owner}},
		},
	}))
	for _, each := range owned {
		raw := must.Get(base64.StdEncoding.DecodeString(each.Account.Data[0]))(t)
		amount := slices.Clone(raw[64:72])
		slices.Reverse(amount)
		sum.Add(sum, new(big.Int).SetBytes(amount))
	}
	return sum
}

// TestAffiliatesOnSolanaArePaid sends swaps with a share of the input for an affiliate, a wallet or a referral account.
// It gains the share, the sender loses the whole input, and the recipient gets the amount in the answer.
func TestAffiliatesOnSolanaArePaid(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	wallet := world.Accounts()[2].Wallet.Key.String()
	for _, name := range []string{"jupiter", "dflow"} {
		address := serveSwaps(t, world, func(c *config.Config) { onlyVenues(c, name) }, chain.Solana)
		for _, one := range []struct {
			swapCase
			recipient, paid string // the owner of the accounts that are paid into
		}{
			{swapCase{"coin", "USDC", "250000000", false, "1.25"}, wallet, wallet},
			{swapCase{"USDC", "coin", "150000001", false, "1.25"}, wallet, wallet},
			{swapCase{"PYUSD", "USDC", "20000000", false, "1.25"}, wallet, wallet},
			{swapCase{"USDC", "PYUSD", "20000000", true, "1.25"}, wallet, wallet},
			{swapCase{"USDC", "coin", "30000000", false, "1.25"}, solana.Referral.String(), solana.ReferralProject.String()},
			{swapCase{"coin", "USDC", "30000000", false, "1.25"}, solana.Referral.String(), solana.ReferralProject.String()},
		} {
			if name == "jupiter" && one.toStranger {
				continue // it pays only the sender
			}
			t.Run(name+"/"+one.String()+"/"+one.recipient, func(t *testing.T) {
				w := newSolanaTrader(t, world, address)
				w.affiliate = one.recipient
				in := one.in
				if in == "coin" && one.paid != one.recipient { // into an account of the wrapped coin
					in = "wrapped"
				}
				had, spent := w.balance(t, in, one.paid), w.balance(t, one.in, w.address())
				w.makeSwap(t, one.swapCase)
				amount := decimal(t, one.amount)
				share := new(big.Int).Div(new(big.Int).Mul(amount, big.NewInt(125)), big.NewInt(10_000))
				if got := new(big.Int).Sub(w.balance(t, in, one.paid), had); got.Cmp(share) != 0 {
					t.Errorf("the affiliate got %s of %s, want %s", got, amount, share)
				}
				if spent.Sub(spent, w.balance(t, one.in, w.address())); one.in != "coin" && spent.Cmp(amount) != 0 {
					t.Errorf("the sender gave %s, want %s", spent, amount)
				}
			})
		}
		w := newSolanaTrader(t, world, address)
		w.affiliate = w.stranger
		query := w.query(swapCase{"USDC", "coin", "150000000", false, "1"})
		for _, query := range []string{query, strings.Replace(query, "transaction", "estimation", 1)} {
			p := problemAt(t, address+query)
			if p.status != http.StatusBadRequest || p.ErrorID != "INVALID_QUERY_PARAMETERS" || !strings.Contains(p.Message, "affiliateFeeRecipient") {
				t.Errorf("an affiliate without an account: %d %s %s", p.status, p.ErrorID, p.Message)
			}
		}
	}
}
