package venue_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	messages "crossgate/chain/solana"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/sandbox/solana"
	"crossgate/token"
	"crossgate/upstream/jsonrpc"
	guards "crossgate/upstream/solana"
	"crossgate/upstream/venue"
)

// TestNoMutationOnSolanaIsHandedOut changes the messages of every venue on Solana. What the guard lets pass is run: it
// fails, or pays the recipient the minimum. Of Jupiter the guard knows that alone; of others what pays less must show in
// the simulation, without which nothing is handed out.
func TestNoMutationOnSolanaIsHandedOut(t *testing.T) {
	sandboxtest.Executes(t)
	world := sandboxtest.Shared(t)
	for _, at := range world.Venues() {
		if !isOnSolana(at.Name) {
			continue
		}
		t.Run(at.Name, func(t *testing.T) {
			v, err := venue.New(at.Name, venue.Options{Pool: newPool(t, at.Name, at.URL), Key: at.Key, Registry: chain.Documented()})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range mutatedOnSolana(world) {
				mutateOnSolana(t, world, v, s)
			}
		})
	}
}

// mutatedOnSolana are swaps of the coin for a token, and of a token for another.
func mutatedOnSolana(world *sandbox.World) []quote.Swap {
	sender := chain.NewAddress(world.Accounts()[0].Wallet.Key[:])
	sides := map[string]quote.Side{"coin": {Address: chain.NativeCoin(chain.SVM), Token: token.Token{Decimals: 9}}}
	for _, listed := range world.Solana().Tokens {
		sides[listed.Symbol] = quote.Side{Address: chain.NewAddress(listed.Mint[:]), Token: token.Token{Decimals: uint8(listed.Decimals)}}
	}
	swap := func(in, out string, amount uint64) quote.Swap {
		s := quote.Swap{
			Chain: world.Solana().Facts, In: sides[in], Out: sides[out], Sender: sender, Recipient: sender,
			SlippagePercent: decimal.RequireFromString("0.5"),
		}
		s.In.Amount = chain.NewAmount(amount)
		return s
	}
	return []quote.Swap{swap("coin", "USDC", 1_000_000_000), swap("USDC", "PYUSD", 250_000_000)}
}

func mutateOnSolana(t *testing.T, world *sandbox.World, v quote.Venue, s quote.Swap) {
	t.Helper()
	q, err := v.Quote(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := v.Build(t.Context(), s, q)
	if err != nil {
		t.Fatal(err)
	}
	wanted := q.AmountOut.MulDiv(9_950, 10_000)
	check := func(data []byte) (chain.Amount, error) {
		changed := quote.Tx{Data: data}
		if err := (guards.Guard{}).Check(s, v.Profile(), changed); err != nil {
			return chain.Amount{}, err
		}
		return guards.Guard{}.MinOut(s, v.Profile(), q, changed, wanted)
	}
	if _, err := check(tx.Data); err != nil {
		t.Fatalf("the guard refuses the venue's own transaction: %v", err)
	}
	node, random := jsonrpc.New(newPool(t, "node", world.Solana().RPC)), rand.New(rand.NewPCG(1, 2))
	for i := range mutations(t, fewMutations) {
		data, what := changeMessage(t, tx.Data, s, random, i)
		minimum, err := check(data)
		if err != nil {
			if !errors.Is(err, quote.ErrRefused) {
				t.Errorf("%s: %v, want ErrRefused", what, err)
			}
			continue
		}
		received, succeeds := receivedOnSolana(t, node, s, data)
		if succeeds && received.Cmp(minimum) < 0 && v.Profile().Name == "jupiter" {
			t.Errorf("%s: handed out, and the recipient gets %s of %s", what, received, minimum)
		}
	}
}

// changeMessage puts strangers in the place of accounts, accounts in the place of others, and other bits everywhere.
func changeMessage(t *testing.T, data []byte, s quote.Swap, random *rand.Rand, i int) (changed []byte, what string) {
	t.Helper()
	m, err := messages.ParseUnsigned(data)
	if err != nil {
		t.Fatal(err)
	}
	stranger := bytes.Repeat([]byte{0xba}, messages.KeySize)
	one, other := m.Accounts[random.IntN(len(m.Accounts))].Bytes(), m.Accounts[random.IntN(len(m.Accounts))].Bytes()
	theirs := messages.ProgramAddress(messages.AssociatedTokenProgram, stranger, messages.TokenProgram.Bytes(), s.Out.Address.Bytes())
	switch i % 5 {
	case 0:
		return bytes.Replace(data, one, stranger, 1), fmt.Sprintf("a stranger for %x", one[:4])
	case 1:
		return bytes.Replace(data, one, theirs.Bytes(), 1), fmt.Sprintf("a stranger's account for %x", one[:4])
	case 2:
		return bytes.Replace(data, one, other, 1), fmt.Sprintf("%x for %x", other[:4], one[:4])
	case 3: // positions and amounts stand behind the accounts
		changed = bytes.Clone(data)
		changed[len(data)-1-random.IntN(min(len(data)-70, 160))] = byte(random.IntN(256))
		return changed, "another byte"
	default:
		changed = bytes.Clone(data)
		changed[66+random.IntN(len(data)-66)] ^= byte(1 << random.IntN(8))
		return changed, "another bit"
	}
}

// receivedOnSolana runs a message, and tells how much more of a token the recipient has.
func receivedOnSolana(t *testing.T, node *jsonrpc.Client, s quote.Swap, data []byte) (received chain.Amount, succeeds bool) {
	t.Helper()
	out, err := solana.TokenAt(solana.Key(s.Out.Address.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	account := out.Wallet(solana.Key(s.Recipient.Bytes())).String()
	var before struct{ Value solanaAccount }
	if err := node.Call(t.Context(), "getAccountInfo", &before, account, map[string]string{"encoding": "base64", "commitment": "confirmed"}); err != nil {
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
		"accounts": map[string]any{"encoding": "base64", "addresses": []string{account}},
	}); err != nil || ran.Value.Err != nil {
		return received, false
	}
	had, has := tokensOf(before.Value), tokensOf(ran.Value.Accounts[0])
	return chain.NewAmount(has - min(had, has)), true
}
