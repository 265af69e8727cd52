package evm

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/upstream/jsonrpc"
)

func TestQuantitiesAreRead(t *testing.T) {
	for text, want := range map[string]uint64{`"0x0"`: 0, `"0x1f"`: 31, `"0x001f"`: 31, `"0xffffffffffffffff"`: 1<<64 - 1} {
		var got Quantity
		if err := json.Unmarshal([]byte(text), &got); err != nil || uint64(got) != want {
			t.Errorf("Quantity %s = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{`""`, `"0x"`, `"12"`, `"0x-1"`, `"0x+1"`, `"0x1_0"`, `"0x10000000000000000"`, `12`, `{}`} {
		var got Quantity
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("Quantity %s = %d, want an error", text, got)
		}
	}
}

func TestStampsThatAreNoneAreIgnored(t *testing.T) {
	for text, want := range map[string]stamp{`"0x5"`: 5, `5`: 0, `"soon"`: 0, `null`: 0, `{}`: 0} {
		var got stamp
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("stamp %s = %d, %v, want %d", text, got, err, want)
		}
	}
}

// TestBlocksAreWhole: however a block is requested, a missing hash, parent or time is an error, not zero.
func TestBlocksAreWhole(t *testing.T) {
	hash := chain.Hash{1}
	for name, test := range map[string]struct {
		told header
		ok   bool
	}{
		"whole":          {header{Number: 5, Hash: hash, ParentHash: hash, Timestamp: 9}, true},
		"without time":   {header{Number: 5, Hash: hash, ParentHash: hash}, false},
		"milliseconds":   {header{Number: 5, Hash: hash, ParentHash: hash, Timestamp: 1_700_000_000_000}, false},
		"without hash":   {header{Number: 5, ParentHash: hash, Timestamp: 9}, false},
		"without parent": {header{Number: 5, Hash: hash, Timestamp: 9}, false},
	} {
		told := &test.told
		for how, asked := range map[string]*jsonrpc.Call{
			"newest": headerCall(new(*header), newestTag),
			"number": existingHeaderCall(new(*header), Quantity(5)),
		} {
			if err := asked.Accept(&told); (err == nil) != test.ok {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
	genesis := &header{Hash: hash} // of test chains
	if err := existingHeaderCall(new(*header), Quantity(0)).Accept(&genesis); err != nil {
		t.Errorf("the first block, of no time: %v", err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add(`{"number":"0x1","hash":null,"timestamp":"0x2"}`)
	f.Add(`{"transactionHash":"0x01","status":"0x1","logs":[{"address":"0x","topics":[],"data":"0x0","logIndex":"0x1"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, into := range []any{new(*header), new(*receipt), new([]log), new(Amount), new(Payload)} {
			_ = json.Unmarshal([]byte(body), into)
		}
		var r receipt
		if json.Unmarshal([]byte(body), &r) == nil && r.checkLogs() == nil {
			var logs int
			for i := range r.Logs {
				if r.Logs[i].TransactionHash == r.TransactionHash {
					logs++
				}
			}
			if logs != len(r.Logs) {
				t.Errorf("a receipt with %d logs of its own of %d was accepted", logs, len(r.Logs))
			}
		}
	})
}

func FuzzTokenText(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Add(append(make([]byte, 31), 32))
	f.Fuzz(func(t *testing.T, answer []byte) {
		decimals(answer)
		got := text(answer)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 256 {
			t.Errorf("text(%x) = %q", answer, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) {
				t.Errorf("text(%x) = %q holds a control character", answer, got)
			}
		}
	})
}

// TestAggregate3CallsAreThoseOfGoEthereum: calls are encoded as by go-ethereum, with calldata of any length.
func TestAggregate3CallsAreThoseOfGoEthereum(t *testing.T) {
	type call3 struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	kind := must.Get(abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{
		{Name: "target", Type: "address"}, {Name: "allowFailure", Type: "bool"}, {Name: "callData", Type: "bytes"},
	}))(t)
	var calls []chain.ContractCall
	var list []call3
	for _, length := range []int{0, 4, 32, 36} {
		target, data := common.Address{1, byte(length)}, bytes.Repeat([]byte{7}, length)
		calls = append(calls, chain.ContractCall{To: chain.NewAddress(target[:]), Data: data})
		list = append(list, call3{target, true, data})
		want := append(slices.Clone(aggregate3[:]), must.Get(abi.Arguments{{Type: kind}}.Pack(list))(t)...)
		if got := encodeAggregate3(calls); !bytes.Equal(got, want) {
			t.Errorf("%d calls: %x, want %x", len(calls), got, want)
		}
	}
}

// FuzzAggregate3Answers: an answer that is accepted decodes as it does in go-ethereum.
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
			return // go-ethereum rejects even unused parts
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
