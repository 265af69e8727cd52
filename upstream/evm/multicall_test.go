package evm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
)

// FuzzAggregate3Answers: an answer that is read is one that go-ethereum reads alike.
func FuzzAggregate3Answers(f *testing.F) {
	type result struct {
		Success    bool
		ReturnData []byte
	}
	kind, err := abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{{Name: "success", Type: "bool"}, {Name: "returnData", Type: "bytes"}})
	if err != nil {
		f.Fatal(err)
	}
	answer := abi.Arguments{{Type: kind}}
	for _, results := range [][]result{{}, {{true, []byte{1}}}, {{false, []byte("reason")}, {true, nil}, {true, bytes.Repeat([]byte{7}, 64)}}} {
		data, err := answer.Pack(results)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-1])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := decodeAggregate3(data)
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
