package jsonrpc

import (
	"reflect"
	"strings"
	"testing"

	"crossgate/upstream"
)

// FuzzRead holds what is read in one go against what parse and decode make of the same response.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		`[{"id":1,"result":"0x1"},{"id":2,"result":{"a":1}}]`,
		`[{"id":2,"result":{"a":1}},{"id":1,"result":"0x1"}]`,
		`[ {"id":"1","result":null} , {"id":2,"error":{"code":3,"message":"reverted"}} ]`,
		`[{"id":1,"result":7},{"id":2}]`,
		`[{"id":1,"result":"0x1"}]`,
		`[{"id":1,"result":"0x1"},{"id":2,"result":{}}] more`,
		`[{"id":1,"result":"0x1"},{"id":2,"result":{`,
		`{"id":1,"error":{"code":-32600,"message":"no batches"}}`,
		`{"id":1,"result":"0x1"}`, `{"id":1,"result":null}`, `{"result":"0x1"}{}`,
	} {
		f.Add(body, false)
		f.Add(body, true)
	}
	f.Fuzz(func(t *testing.T, body string, isBatch bool) {
		calls := []*Call{{Out: new(*string)}, {Out: new(map[string]any)}}
		if !isBatch {
			calls = calls[:1]
		}
		response := upstream.Response{Status: 200, Body: []byte(body)}
		got, isRead := readInSequence(calls, response, 1)
		if !isRead {
			return
		}
		parsed, err := parse(response, len(calls))
		if err != nil {
			t.Fatalf("parse(%q) = %v, though it was read", body, err)
		}
		for i, object := range arrange(parsed, len(calls), 1) {
			if want := decode(calls[i], object); !isSame(got[i], want) {
				t.Errorf("call %d of %q = %+v, want %+v", i, body, got[i], want)
			}
		}
	})
}

func isSame(a, b rpcResult) bool {
	value := func(r rpcResult) any {
		if !r.value.IsValid() {
			return nil
		}
		return r.value.Interface()
	}
	return reflect.DeepEqual(value(a), value(b)) && (a.err == nil) == (b.err == nil) && a.open == b.open && a.doubted == b.doubted
}

// TestAResultThatCannotBeLookedAtIsABadAnswer: that a check does not expect some result ends no process.
func TestAResultThatCannotBeLookedAtIsABadAnswer(t *testing.T) {
	type block struct{ Number int }
	var none *block
	call := NewCall(&none, func(b *block) error {
		_ = b.Number
		return nil
	}, "getBlock")
	err := check(call, reflect.ValueOf(&none), nil).err
	if upstream.ClassOf(err) != upstream.BadAnswer || !strings.Contains(err.Error(), "response_test.go") {
		t.Errorf("check() = %v, want a bad answer and where it was looked at", err)
	}
}

// TestMembersThatHoldNoError stand beside a result; any of code, message and data is an error.
func TestMembersThatHoldNoError(t *testing.T) {
	for member, isError := range map[string]bool{
		`{}`: false, `{"code":0,"message":""}`: false, `{"message":"limit"}`: true, `{"code":5}`: true, `{"data":"0x1"}`: true,
	} {
		objects, err := parse(upstream.Response{Status: 200, Body: []byte(`{"id":1,"result":"0x1","error":` + member + `}`)}, 1)
		if err != nil || len(objects) != 1 || (objects[0].Error != nil) != isError {
			t.Errorf("%s beside a result: %+v, %v, an error: %t", member, objects, err, isError)
		}
	}
	for asked, want := range map[int]string{1: "not a JSON-RPC response", 2: unanswering().Error()} {
		if _, err := parse(upstream.Response{Status: 200}, asked); err == nil || err.Error() != want {
			t.Errorf("nothing for %d calls: %v, want %s", asked, err, want)
		}
	}
}
