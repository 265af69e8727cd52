package venue_test

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// contractsOf reads the contracts of the world's chains.
func contractsOf(t *testing.T, world *sandbox.World) func(context.Context, chain.ID, []chain.Address, [][]byte) ([][]byte, error) {
	nodes := map[chain.ID]*evm.Chain{}
	for _, c := range world.Chains() {
		nodes[c.Facts.ID] = evm.New(c.Facts, jsonrpc.New(newPool(t, "node", c.EVMRPC)))
	}
	return func(ctx context.Context, id chain.ID, to []chain.Address, data [][]byte) ([][]byte, error) {
		return nodes[id].CallAll(ctx, to, data)
	}
}

func newPool(t testing.TB, name, address string) *upstream.Pool {
	t.Helper()
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: name, URL: address, Client: &http.Client{Timeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(endpoint.Close)
	return upstream.NewPool(name, endpoint)
}

// executedSwaps are the kinds of swap on a chain: from and to the coin, between tokens by one and by two
// pools, wrapping; as far as the tokens are there.
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
		var err error
		if s.In.Amount, err = chain.AmountFromBig(decimal.RequireFromString(kind.amount).Shift(int32(s.In.Token.Decimals)).BigInt()); err != nil {
			t.Fatal(err)
		}
		swaps = append(swaps, s)
	}
	return swaps
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

// approve lets the router take the input, as the sender of the swap has to.
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

// simulate runs the calls one after the other in one block and returns what each answers; failed is the first that
// reverts, -1 where none does.
func simulate(t *testing.T, node *jsonrpc.Client, calls []simulatedCall) (answers []chain.Amount, failed int) {
	t.Helper()
	var blocks []struct {
		Calls []struct{ Status, ReturnData string }
	}
	question := map[string]any{"blockStateCalls": []map[string]any{{"calls": calls}}}
	if err := node.Call(t.Context(), "eth_simulateV1", &blocks, question, "latest"); err != nil {
		t.Fatal(err)
	}
	failed = -1
	for i, answer := range blocks[0].Calls {
		if answer.Status != "0x1" && failed < 0 {
			failed = i
		}
		answers = append(answers, chain.AmountFromBytes(common.FromHex(answer.ReturnData)))
	}
	return answers, failed
}
