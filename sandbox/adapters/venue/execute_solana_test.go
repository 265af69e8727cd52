package venue_test

import (
	"encoding/base64"
	"encoding/binary"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/token"
	"crossgate/upstream/jsonrpc"
)

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
	must.Do(t, node.Call(t.Context(), "getMultipleAccounts", &had, texts, map[string]string{"encoding": "base64", "commitment": "confirmed"}))
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
