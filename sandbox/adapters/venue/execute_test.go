package venue_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/token"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/venue"
)

// TestTransactionsDeliverWhatWasQuoted runs the venues' transactions on the sandbox's chains: the recipient, who is not
// the sender, gets exactly the quoted amount, and affiliate and operator get their shares of the input.
func TestTransactionsDeliverWhatWasQuoted(t *testing.T) {
	eachInWorld(t, executeAll) // on Solana: sandbox/stories, TestSwapTransactionOnSolanaDoesWhatItSays
}

// eachInWorld runs a test for each of the sandbox's venues on EVM chains.
func eachInWorld(t *testing.T, promise func(t *testing.T, world *sandbox.World, v quote.Venue)) {
	t.Helper()
	world := sandboxtest.Shared(t)
	run := func(name string, o venue.Options) {
		t.Run(name, func(t *testing.T) {
			o.Registry, o.Contracts = chain.Documented(), contractsOf(t, world)
			promise(t, world, must.Get(venue.New(name, o))(t))
		})
	}
	for _, at := range world.Venues() {
		if !isOnSolana(at.Name) {
			run(at.Name, venue.Options{Pool: pooltest.At(t, at.URL), Key: at.Key})
		}
	}
	for _, name := range world.Exchanges() {
		run(name, venue.Options{})
	}
}

// contractsOf reads the contracts of the world's chains.
func contractsOf(t *testing.T, world *sandbox.World) func(context.Context, chain.ID, []chain.ContractCall) ([][]byte, error) {
	nodes := map[chain.ID]*evm.Chain{}
	for _, c := range world.Chains() {
		nodes[c.Facts.ID] = evm.New(c.Facts, jsonrpc.New(pooltest.At(t, c.EVMRPC)))
	}
	return func(ctx context.Context, id chain.ID, calls []chain.ContractCall) ([][]byte, error) {
		return nodes[id].CallAll(ctx, calls)
	}
}

// executeAll runs all kinds of swap of a venue on all chains of the world that it serves.
func executeAll(t *testing.T, world *sandbox.World, v quote.Venue) {
	ran := 0
	for _, c := range world.Chains() {
		if _, served := v.Profile().Routers[c.Facts.ID]; !served || len(c.Pools) == 0 {
			continue
		}
		for _, s := range executedSwaps(t, c, world.Accounts()[0]) {
			t.Run(fmt.Sprintf("%d %s to %s", c.Facts.ID, s.In.Token.Symbol, s.Out.Token.Symbol), func(t *testing.T) {
				if execute(t, v, s, jsonrpc.New(pooltest.At(t, c.EVMRPC))) {
					ran++
				}
			})
		}
	}
	if ran == 0 {
		t.Error("the venue did nothing")
	}
}

// executedSwaps returns the kinds of swap on a chain: from and to the coin, between tokens by one and by two pools, and
// wrapping, if the tokens exist.
func executedSwaps(t *testing.T, c *sandbox.Chain, sender sandbox.Account) []quote.Swap {
	sides := map[string]quote.Side{"coin": {
		Address: chain.NativeCoin(chain.EVM), Token: token.Token{Symbol: c.Facts.Coin.Symbol, Decimals: c.Facts.Coin.Decimals},
	}}
	for i, listed := range c.Tokens {
		name := listed.Symbol
		if i == 0 {
			name = "wrapped"
		}
		sides[name] = quote.Side{
			Address: chain.NewAddress(listed.Address.Bytes()),
			Token:   token.Token{Symbol: listed.Symbol, Decimals: uint8(max(listed.Decimals, 0))},
		}
	}
	var swaps []quote.Swap
	for _, kind := range []struct{ in, out, amount string }{
		{"coin", "USDC", "1"},
		{"USDC", "coin", "250"},
		{"USDC", "DAI", "250"},
		{"WBTC", "DAI", "0.001"},
		{"USDC", "USDT", "250"},
		{"coin", "wrapped", "1"},
		{"wrapped", "coin", "1"},
	} {
		if sides[kind.in].Address.IsAbsent() || sides[kind.out].Address.IsAbsent() {
			continue
		}
		s := quote.Swap{
			Chain: c.Facts, In: sides[kind.in], Out: sides[kind.out],
			Sender: chain.NewAddress(sender.Address.Bytes()), Recipient: address(t, recipient),
			SlippagePercent: decimal.RequireFromString("0.5"),
		}
		s.In.Amount = must.Get(chain.AmountFromBig(decimal.RequireFromString(kind.amount).Shift(int32(s.In.Token.Decimals)).BigInt()))(t)
		swaps = append(swaps, s)
	}
	return swaps
}

// execute reports whether the venue makes such swaps here: exchanges have no pool of the coin and its wrapped form, and
// not all are in the sandbox; venues that wrap do nothing else, and only for the sender.
func execute(t *testing.T, v quote.Venue, s quote.Swap, node *jsonrpc.Client) bool {
	if v.Profile().Wraps {
		s.Recipient = s.Sender
	}
	paysShares := s.In.Address.IsNative() || !v.Profile().SharesOfCoin
	if paysShares && !v.Profile().MaxAffiliatePercent.IsZero() {
		s.Affiliate = quote.Affiliate{Percent: decimal.RequireFromString("0.3"), Recipient: address(t, affiliate)}
	}
	if paysShares && v.Profile().PaysTwo {
		s.Second = quote.Affiliate{Percent: decimal.RequireFromString("0.2"), Recipient: address(t, operator)}
	}
	q, err := v.Quote(t.Context(), s)
	if errors.Is(err, quote.ErrNoRoute) || errors.Is(err, venue.ErrUnverifiedContracts) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	tx := must.Get(v.Build(t.Context(), s, q))(t)
	balances := []simulatedCall{
		balanceOf(s.Chain, s.Out.Address, s.Recipient),
		balanceOf(s.Chain, s.In.Address, s.Affiliate.Recipient),
		balanceOf(s.Chain, s.In.Address, s.Second.Recipient),
	}
	calls := append(slices.Clone(balances), simulatedCall{
		From: s.Sender.String(), To: tx.To.String(), Input: "0x" + hex.EncodeToString(tx.Data), Value: fmt.Sprintf("0x%x", tx.Value.Big()),
	})
	calls = append(calls, balances...)
	if !s.In.Address.IsNative() {
		calls = append([]simulatedCall{approve(s, v.Profile().Spender(s.Chain.ID, tx.To))}, calls...)
	}
	after, failed := simulate(t, node, calls)
	if failed >= 0 {
		t.Fatalf("call %d reverts", failed)
	}
	after = after[len(after)-len(balances)-1-len(balances):]
	got := make([]chain.Amount, len(balances))
	for i := range balances {
		got[i] = after[len(balances)+1+i].Sub(after[i])
	}
	want := []chain.Amount{q.AmountOut, paidOf(s.In.Amount, s.Affiliate), paidOf(s.In.Amount, s.Second)}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("recipient, affiliate and operator got %s, want %s", got, want)
	}
	return true
}

func paidOf(in chain.Amount, a quote.Affiliate) chain.Amount {
	return in.MulDiv(uint64(a.Percent.Shift(2).IntPart()), 10_000)
}

// simulatedCall is a call of eth_simulateV1.
type simulatedCall struct {
	From  string `json:"from,omitempty"`
	To    string `json:"to"`
	Input string `json:"input"`
	Value string `json:"value,omitempty"`
}

func balanceOf(c chain.Chain, asset, holder chain.Address) simulatedCall {
	word := hex.EncodeToString(make([]byte, 32))
	if !holder.IsAbsent() {
		word = wordOf(holder)
	}
	if asset.IsNative() {
		return simulatedCall{To: c.Contracts.Multicall.String(), Input: "0x4d2301cc" + word} // getEthBalance(address)
	}
	return simulatedCall{To: asset.String(), Input: "0x70a08231" + word} // balanceOf(address)
}

// approve returns the call by which the sender lets the router take the input.
func approve(s quote.Swap, router chain.Address) simulatedCall {
	amount := s.In.Amount.Bytes32()
	return simulatedCall{
		From: s.Sender.String(), To: s.In.Address.String(),
		Input: "0x095ea7b3" + wordOf(router) + hex.EncodeToString(amount[:]), // approve(address,uint256)
	}
}

func wordOf(a chain.Address) string {
	return strings.Repeat("0", 24) + hex.EncodeToString(a.Bytes())
}

// simulate runs the calls in sequence in one block and returns their results; failed is the first that reverts, or -1.
func simulate(t *testing.T, node *jsonrpc.Client, calls []simulatedCall) (answers []chain.Amount, failed int) {
	t.Helper()
	var blocks []struct {
		Calls []struct{ Status, ReturnData string }
	}
	question := map[string]any{"blockStateCalls": []map[string]any{{"calls": calls}}}
	must.Do(t, node.Call(t.Context(), "eth_simulateV1", &blocks, question, "latest"))
	failed = -1
	for i, answer := range blocks[0].Calls {
		if answer.Status != "0x1" && failed < 0 {
			failed = i
		}
		answers = append(answers, chain.AmountFromBytes(common.FromHex(answer.ReturnData)))
	}
	return answers, failed
}

type solanaKind struct {
	in, out string
	amount  uint64
}

// solanaSwaps returns swaps of some kinds, each to the sender and to another recipient.
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

// solanaAccount is an account as nodes show it, all zero if there is none.
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

// runOnSolana simulates a message and returns the watched accounts before and after it.
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
