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
	"crossgate/token"
	"crossgate/upstream/jsonrpc"
)

// executeOnSolana simulates all kinds of swap that a venue does on Solana, for the sender and for a stranger, and tells
// how many that were: whoever is paid has the quoted amount more, to the unit.
func executeOnSolana(t *testing.T, world *sandbox.World, v quote.Venue) (ran int) {
	node := jsonrpc.New(newPool(t, "node", world.Solana().RPC))
	stranger := addressOn(t, chain.SVM, onSolana[recipient])
	for _, s := range solanaSwaps(world, stranger, []solanaKind{
		{"coin", "USDC", 1_000_000_000},
		{"USDC", "coin", 250_000_000},
		{"wrapped", "USDC", 1_000_000_000},
		{"USDC", "wrapped", 250_000_000},
		{"USDC", "PYUSD", 250_000_000},
		{"PYUSD", "coin", 250_000_000},
		{"JitoSOL", "USDC", 2_000_000_000},
	}) {
		t.Run(fmt.Sprintf("%s to %s, its own %t", s.In.Token.Symbol, s.Out.Token.Symbol, s.Recipient == s.Sender), func(t *testing.T) {
			if delivers(t, v, s, node) {
				ran++
			}
		})
	}
	return ran
}

type solanaKind struct {
	in, out string
	amount  uint64
}

// solanaSwaps are swaps of some kinds, each for the sender and for another.
func solanaSwaps(world *sandbox.World, other chain.Address, kinds []solanaKind) (swaps []quote.Swap) {
	sides := map[string]quote.Side{"coin": {Address: chain.NativeCoin(chain.SVM), Token: token.Token{Symbol: "SOL", Decimals: 9}}}
	for n, listed := range world.Solana().Tokens {
		name := listed.Symbol
		if n == 0 {
			name = "wrapped"
		}
		sides[name] = quote.Side{
			Address: chain.NewAddress(listed.Mint[:]), Token: token.Token{Symbol: listed.Symbol, Decimals: uint8(listed.Decimals)},
		}
	}
	sender := walletOf(world.Accounts()[0])
	for _, kind := range kinds {
		for _, recipient := range []chain.Address{sender, other} {
			s := quote.Swap{
				Chain: world.Solana().Facts, In: sides[kind.in], Out: sides[kind.out], Sender: sender, Recipient: recipient,
				SlippagePercent: decimal.RequireFromString("0.5"),
			}
			s.In.Amount = chain.NewAmount(kind.amount)
			swaps = append(swaps, s)
		}
	}
	return swaps
}

// delivers tells whether the venue does a swap, after which the recipient has the quoted amount more.
func delivers(t *testing.T, v quote.Venue, s quote.Swap, node *jsonrpc.Client) bool {
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
	before, after, succeeds := runOnSolana(t, node, tx.Data, []chain.Address{accountFor(t, s.Recipient, s.Out.Address)})
	if !succeeds {
		t.Fatal("the transaction fails")
	}
	amount := tokensOf
	if s.Out.Address.IsNative() {
		if amount = lamportsOf; s.Recipient == s.Sender {
			return true // whose fee, and wrapped coins, are in the difference too
		}
	}
	if want, _ := q.AmountOut.Uint64(); amount(after[0])-amount(before[0]) != want {
		t.Errorf("delivered %d, quoted %d", amount(after[0])-amount(before[0]), want)
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

// runOnSolana simulates a message, and shows accounts before it and after.
func runOnSolana(t *testing.T, node *jsonrpc.Client, data []byte, watched []chain.Address) (before, after []solanaAccount, succeeds bool) {
	t.Helper()
	texts := make([]string, len(watched))
	for i, each := range watched {
		texts[i] = each.Format(chain.SVM)
	}
	var had struct{ Value []solanaAccount }
	if err := node.Call(t.Context(), "getMultipleAccounts", &had, texts, map[string]string{"encoding": "base64", "commitment": "confirmed"}); err != nil {
		t.Fatal(err)
	}
	var ran struct {
		Value struct {
			Err      any
			Accounts []solanaAccount
		}
	}
	if err := node.Call(t.Context(), "simulateTransaction", &ran, base64.StdEncoding.EncodeToString(data), map[string]any{
		"encoding": "base64", "commitment": "confirmed", "replaceRecentBlockhash": true,
		"accounts": map[string]any{"encoding": "base64", "addresses": texts},
	}); err != nil || ran.Value.Err != nil {
		return nil, nil, false
	}
	return had.Value, ran.Value.Accounts, true
}
