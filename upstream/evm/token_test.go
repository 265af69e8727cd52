package evm_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/token"
)

// abiString encodes text as an ABI string, padded to words.
func abiString(text string) string {
	padded := hex.EncodeToString([]byte(text))
	padded += strings.Repeat("0", (64-len(padded)%64)%64)
	return fmt.Sprintf("0x%064x%064x%s", 32, len(text), padded)
}

// Tokens of the tests, and by address their answers to decimals, name and symbol.
var (
	plainToken   = chain.NewAddress(repeat(0x11, 20))
	oldToken     = chain.NewAddress(repeat(0x12, 20))
	brokenToken  = chain.NewAddress(repeat(0x13, 20))
	hostileToken = chain.NewAddress(repeat(0x14, 20))
	noContract   = chain.NewAddress(repeat(0x15, 20))
	longToken    = chain.NewAddress(repeat(0x11, 40)) // of an order, whose terms may hold anything

	tokenAnswers = map[chain.Address][3]string{
		plainToken:   {fmt.Sprintf("0x%064x", 6), abiString("USD Coin"), abiString("USDC")},
		oldToken:     {fmt.Sprintf("0x%064x", 18), "0x4d616b6572" + strings.Repeat("0", 54), "0x4d4b52" + strings.Repeat("0", 58)},
		brokenToken:  {"!execution reverted", abiString("Broken"), "!out of gas"},
		hostileToken: {fmt.Sprintf("0x%064x", 256), abiString("a\u202egnp\x00.\xffexe \n"), fmt.Sprintf("0x%064x%064x", 32, 1<<40)},
		noContract:   {"0x", "0x", "0x"},
	}
)

func wantReadings() []token.Reading {
	six, eighteen := uint8(6), uint8(18)
	return []token.Reading{
		{Decimals: &six, Name: "USD Coin", Symbol: "USDC", IsSingle: true},
		{Decimals: &eighteen, Name: "Maker", Symbol: "MKR", IsSingle: true},
		{Name: "Broken", IsSingle: true},
		{Name: "agnp.exe", IsSingle: true},
		{IsSingle: true},
		{IsSingle: true},
	}
}

func askToken(of map[chain.Address][3]string, to, data string) string {
	questions := []string{"0x313ce567", "0x06fdde03", "0x95d89b41"}
	for address, answers := range of {
		for i, question := range questions {
			if address.String() == to && question == data {
				return answers[i]
			}
		}
	}
	return "0x"
}

func TestReadTokens(t *testing.T) {
	addresses := []chain.Address{plainToken, oldToken, brokenToken, hostileToken, noContract, longToken}
	without := testChain
	without.Contracts.Multicall = chain.Address{}
	for name, test := range map[string]struct {
		chain   chain.Chain
		storage func(to, data string, block uint64) string
		trips   int
	}{
		"by multicall": {testChain, func(to, data string, _ uint64) string {
			if to == testChain.Contracts.Multicall.String() {
				return aggregate3(t, data, tokenAnswers)
			}
			return "!asked alone"
		}, 1},
		"multicall not deployed": {testChain, func(to, data string, _ uint64) string { return askToken(tokenAnswers, to, data) }, 2},
		"multicall out of gas": {testChain, func(to, data string, _ uint64) string {
			if to == testChain.Contracts.Multicall.String() {
				return "!out of gas"
			}
			return askToken(tokenAnswers, to, data)
		}, 2},
		"no multicall": {without, func(to, data string, _ uint64) string { return askToken(tokenAnswers, to, data) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(10)
			n.storage = test.storage
			got := must.Get(n.serve(t, test.chain).ReadTokens(t.Context(), addresses))(t)
			if difference := cmp.Diff(wantReadings(), got); difference != "" {
				t.Errorf("ReadTokens() differs (-want +got):\n%s", difference)
			}
			if trips := n.trips(); trips != test.trips {
				t.Errorf("ReadTokens() took %d round trips, want %d", trips, test.trips)
			}
		})
	}
}

// TestTokensAreNotBelievedOfOneEndpoint lets two endpoints describe a token: if one returns nothing, or zero, the
// other's answer counts, though as one endpoint's word, as does the first's if they differ. Another token in the same
// request is as certain as before.
func TestTokensAreNotBelievedOfOneEndpoint(t *testing.T) {
	without := testChain
	without.Contracts.Multicall = chain.Address{}
	six, eighteen := uint8(6), uint8(18)
	honest := tokenAnswers[plainToken]
	reverting, lying, renaming := honest, honest, honest
	reverting[2], lying[0], renaming[1] = "!execution reverted", fmt.Sprintf("0x%064x", 18), abiString("US Dollar")
	whole := token.Reading{Decimals: &six, Name: "USD Coin", Symbol: "USDC"}
	single := whole
	single.IsSingle = true
	for name, test := range map[string]struct {
		said [2][3]string
		want token.Reading
	}{
		"both say the same":  {[2][3]string{honest, honest}, whole},
		"one says nothing":   {[2][3]string{{"0x", "0x", "0x"}, honest}, single},
		"one invents it":     {[2][3]string{honest, {"0x", "0x", "0x"}}, single},
		"one says zero":      {[2][3]string{{"0x" + strings.Repeat("0", 64), honest[1], honest[2]}, honest}, single},
		"one says a lie":     {[2][3]string{lying, honest}, token.Reading{Decimals: &eighteen, Name: "USD Coin", Symbol: "USDC", IsSingle: true}},
		"one has a new name": {[2][3]string{renaming, honest}, token.Reading{Decimals: &six, Name: "US Dollar", Symbol: "USDC", IsSingle: true}},
		"one reverts":        {[2][3]string{reverting, honest}, single},
		"the other reverts":  {[2][3]string{honest, reverting}, single},
		"both revert":        {[2][3]string{reverting, reverting}, token.Reading{Decimals: &six, Name: "USD Coin"}},
	} {
		for _, of := range []chain.Chain{testChain, without} {
			t.Run(fmt.Sprintf("%s/multicall=%t", name, !of.Contracts.Multicall.IsAbsent()), func(t *testing.T) {
				nodes := [2]*node{newNode(10), newNode(10)}
				for i, n := range nodes {
					answers := map[chain.Address][3]string{plainToken: test.said[i], oldToken: tokenAnswers[oldToken]}
					n.storage = func(to, data string, _ uint64) string {
						if to == testChain.Contracts.Multicall.String() {
							return aggregate3(t, data, answers)
						}
						return askToken(answers, to, data)
					}
				}
				got, err := serveAll(t, of, nodes[0], nodes[1]).ReadTokens(t.Context(), []chain.Address{plainToken, oldToken})
				want := []token.Reading{test.want, {Decimals: &eighteen, Name: "Maker", Symbol: "MKR"}}
				if difference := cmp.Diff(want, got); err != nil || difference != "" {
					t.Errorf("ReadTokens() = %v, differs (-want +got):\n%s", err, difference)
				}
			})
		}
	}
}

// A node's failure is not taken for a token that does not answer.
func TestReadTokensTellsFailureFromSilence(t *testing.T) {
	n := newNode(10)
	n.answers["eth_call"] = rpctest.Fault(-32000, "header not found")
	if got, err := n.serve(t, testChain).ReadTokens(t.Context(), []chain.Address{plainToken}); err == nil {
		t.Errorf("ReadTokens() of a failing node = %+v, want an error", got)
	}
}

// aggregate3 answers a multicall as the contract does.
func aggregate3(t *testing.T, data string, of map[chain.Address][3]string) string {
	t.Helper()
	call3 := must.Get(abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{
		{Name: "target", Type: "address"}, {Name: "allowFailure", Type: "bool"}, {Name: "callData", Type: "bytes"},
	}))(t)
	result := must.Get(abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{{Name: "success", Type: "bool"}, {Name: "returnData", Type: "bytes"}}))(t)
	raw, err := hex.DecodeString(strings.TrimPrefix(data, "0x82ad56cb"))
	if err != nil {
		t.Fatalf("calldata %.10s is not aggregate3's: %v", data, err)
	}
	values := must.Get(abi.Arguments{{Type: call3}}.Unpack(raw))(t)
	calls := *abi.ConvertType(values[0], new([]struct {
		Target       [20]byte
		AllowFailure bool
		CallData     []byte
	})).(*[]struct {
		Target       [20]byte
		AllowFailure bool
		CallData     []byte
	})
	type outcome struct {
		Success    bool
		ReturnData []byte
	}
	var outcomes []outcome
	for _, call := range calls {
		answer := askToken(of, chain.NewAddress(call.Target[:]).String(), "0x"+hex.EncodeToString(call.CallData))
		bytes, err := hex.DecodeString(strings.TrimPrefix(answer, "0x"))
		outcomes = append(outcomes, outcome{err == nil, bytes})
	}
	packed := must.Get(abi.Arguments{{Type: result}}.Pack(outcomes))(t)
	return "0x" + hex.EncodeToString(packed)
}
