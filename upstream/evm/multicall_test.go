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
		f.Add(data, len(results))
		f.Add(data[:len(data)-1], len(results))
	}
	f.Fuzz(func(t *testing.T, data []byte, calls int) {
		got, isRead := decodeAggregate3(data, min(max(calls, 0), 1000))
		values, err := answer.Unpack(data)
		if err != nil {
			return // go-ethereum refuses what is unused as well
		}
		want := *abi.ConvertType(values[0], new([]result)).(*[]result)
		if isRead != (len(want) == calls) {
			t.Fatalf("of %d calls read: %t, go-ethereum has %d results", calls, isRead, len(want))
		}
		for i, each := range want {
			if isRead && !bytes.Equal(got[i], slices.Clip(each.ReturnData)) && (each.Success || got[i] != nil) {
				t.Errorf("result %d = %x, want %x of %t", i, got[i], each.ReturnData, each.Success)
			}
		}
	})
}
