package evm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/internal/must"
)

// TestAggregate3CallsAreThoseOfGoEthereum wants calls written as go-ethereum writes them, with calldata of any length.
func TestAggregate3CallsAreThoseOfGoEthereum(t *testing.T) {
	type call3 struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	kind := must.Get(abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{
		{Name: "target", Type: "address"}, {Name: "allowFailure", Type: "bool"}, {Name: "callData", Type: "bytes"},
	}))(t)
	var calls []contractCall
	var list []call3
	for _, length := range []int{0, 4, 32, 36} {
		target, data := common.Address{1, byte(length)}, bytes.Repeat([]byte{7}, length)
		calls = append(calls, contractCall{chain.NewAddress(target[:]), data})
		list = append(list, call3{target, true, data})
		want := append(slices.Clone(aggregate3[:]), must.Get(abi.Arguments{{Type: kind}}.Pack(list))(t)...)
		if got := encodeAggregate3(calls); !bytes.Equal(got, want) {
			t.Errorf("%d calls: %x, want %x", len(calls), got, want)
		}
	}
}

// FuzzAggregate3Answers: an answer that is read is one that go-ethereum reads alike.
func FuzzAggregate3Answers(f *testing.F) {
	type result struct {
		Success    bool
		ReturnData []byte
	}
	kind := must.Get(abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{{Name: "success", Type: "bool"}, {Name: "returnData", Type: "bytes"}}))(f)
	answer := abi.Arguments{{Type: kind}}
	for _, results := range [][]result{{}, {{true, []byte{1}}}, {{false, []byte("reason")}, {true, nil}, {true, bytes.Repeat([]byte{7}, 64)}}} {
		data := must.Get(answer.Pack(results))(f)
		f.Add(data)
		f.Add(data[:len(data)-1])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := MulticallResults(data)
		values, err := answer.Unpack(data)
		if err != nil {
			return // go-ethereum refuses unused parts as well
		}
		want := *abi.ConvertType(values[0], new([]result)).(*[]result)
		if len(got) != len(want) {
			t.Fatalf("%d results, go-ethereum has %d", len(got), len(want))
		}
		for i, each := range want {
			if !bytes.Equal(got[i], slices.Clip(each.ReturnData)) && (each.Success || got[i] != nil) {
				t.Errorf("result %d = %x, want %x of %t", i, got[i], each.ReturnData, each.Success)
			}
		}
	})
}
