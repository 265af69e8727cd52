package venue_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/sandbox/solana"
	"crossgate/token"
	"crossgate/upstream/jsonrpc"
)

// executeOnSolana simulates all kinds of swap that a venue does on Solana, for the sender and for a stranger, and tells
// how many that were: whoever is paid has the quoted amount more, to the unit.
func executeOnSolana(t *testing.T, world *sandbox.World, v quote.Venue) (ran int) {
	node := jsonrpc.New(newPool(t, "node", world.Solana().RPC))
	sender, stranger := chain.NewAddress(world.Accounts()[0].Wallet.Key[:]), addressOn(t, chain.SVM, onSolana[recipient])
	sides := map[string]quote.Side{"coin": {Address: chain.NativeCoin(chain.SVM), Token: token.Token{Decimals: 9}}}
	for n, listed := range world.Solana().Tokens {
		name := listed.Symbol
		if n == 0 {
			name = "wrapped"
		}
		sides[name] = quote.Side{Address: chain.NewAddress(listed.Mint[:]), Token: token.Token{Decimals: uint8(listed.Decimals)}}
	}
	for _, kind := range []struct{ in, out, amount string }{
		{"coin", "USDC", "1"},
		{"USDC", "coin", "250"},
		{"wrapped", "USDC", "1"},
		{"USDC", "wrapped", "250"},
		{"USDC", "PYUSD", "250"},
		{"PYUSD", "coin", "250"},
		{"JitoSOL", "USDC", "2"},
	} {
		for _, receiver := range []chain.Address{sender, stranger} {
			s := quote.Swap{
				Chain: world.Solana().Facts, In: sides[kind.in], Out: sides[kind.out], Sender: sender, Recipient: receiver,
				SlippagePercent: decimal.RequireFromString("0.5"),
			}
			s.In.Amount, _ = chain.AmountFromBig(decimal.RequireFromString(kind.amount).Shift(int32(s.In.Token.Decimals)).BigInt())
			t.Run(fmt.Sprintf("%s to %s, its own %t", kind.in, kind.out, receiver == sender), func(t *testing.T) {
				if delivers(t, world, v, s, node) {
					ran++
				}
			})
		}
	}
	return ran
}

// delivers tells whether the venue does a swap, after which the recipient has the quoted amount more.
func delivers(t *testing.T, world *sandbox.World, v quote.Venue, s quote.Swap, node *jsonrpc.Client) bool {
	q, err := v.Quote(t.Context(), s)
	if errors.Is(err, quote.ErrNoRoute) && s.Recipient != s.Sender && paysSenderAlone[v.Profile().Name] {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	tx, err := v.Build(t.Context(), s, q)
	if err != nil {
		t.Fatal(err)
	}
	account, amount := s.Recipient.Format(chain.SVM), lamportsOf
	if !s.Out.Address.IsNative() {
		out, err := solana.TokenAt(solana.Key(s.Out.Address.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		account, amount = out.Wallet(solana.Key(s.Recipient.Bytes())).String(), tokensOf
	}
	var before struct{ Value solanaAccount }
	if err := node.Call(t.Context(), "getAccountInfo", &before, account, map[string]string{"encoding": "base64", "commitment": "confirmed"}); err != nil {
		t.Fatal(err)
	}
	var ran struct {
		Value struct {
			Err      any
			Logs     []string
			Accounts []solanaAccount
		}
	}
	if err := node.Call(t.Context(), "simulateTransaction", &ran, base64.StdEncoding.EncodeToString(tx.Data), map[string]any{
		"encoding": "base64", "commitment": "confirmed", "replaceRecentBlockhash": true,
		"accounts": map[string]any{"encoding": "base64", "addresses": []string{account}},
	}); err != nil {
		t.Fatal(err)
	}
	if ran.Value.Err != nil {
		t.Fatalf("the transaction fails: %v %q", ran.Value.Err, ran.Value.Logs)
	}
	got := amount(ran.Value.Accounts[0]) - amount(before.Value)
	if s.Out.Address.IsNative() && s.Recipient == s.Sender {
		return true // whose fee, and wrapped coins, are in the difference too
	}
	if want, _ := q.AmountOut.Uint64(); got != want {
		t.Errorf("delivered %d, quoted %d", got, want)
	}
	return true
}

// solanaAccount is an account as nodes show it; all zero where there is none.
type solanaAccount struct {
	Lamports uint64
	Data     []string
}

func lamportsOf(a solanaAccount) uint64 { return a.Lamports }

func tokensOf(a solanaAccount) uint64 {
	if len(a.Data) == 0 {
		return 0
	}
	raw, err := base64.StdEncoding.DecodeString(a.Data[0])
	if err != nil || len(raw) < 72 {
		return 0
	}
	return binary.LittleEndian.Uint64(raw[64:])
}

// run simulates a message, and shows accounts before it and after.
func (m *solanaMutant) run(t *testing.T, data []byte, watched []chain.Address) (before, after []solanaAccount, succeeds bool) {
	t.Helper()
	texts := make([]string, len(watched))
	for i, each := range watched {
		texts[i] = each.Format(chain.SVM)
	}
	var had struct{ Value []solanaAccount }
	if err := m.client.Call(t.Context(), "getMultipleAccounts", &had, texts, map[string]string{"encoding": "base64", "commitment": "confirmed"}); err != nil {
		t.Fatal(err)
	}
	var ran struct {
		Value struct {
			Err      any
			Accounts []solanaAccount
		}
	}
	if err := m.client.Call(t.Context(), "simulateTransaction", &ran, base64.StdEncoding.EncodeToString(data), map[string]any{
		"encoding": "base64", "commitment": "confirmed", "replaceRecentBlockhash": true,
		"accounts": map[string]any{"encoding": "base64", "addresses": texts},
	}); err != nil || ran.Value.Err != nil {
		return nil, nil, false
	}
	return had.Value, ran.Value.Accounts, true
}
