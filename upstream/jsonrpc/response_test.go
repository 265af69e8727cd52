package jsonrpc

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

// FuzzRead compares the single-pass read with parse and decode of the same response.
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

// TestAResultThatCannotBeLookedAtIsABadAnswer: a check that panics on an unexpected result does not end the process.
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

// TestMembersThatHoldNoError covers error members beside a result: any of code, message and data makes an error.
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

// TestListsAsLongAsTheLongestAreCompared uses an endpoint that returns lists of equal lengths: once found whole often
// enough they are no longer compared, except at a length at which endpoints are known to truncate.
func TestListsAsLongAsTheLongestAreCompared(t *testing.T) {
	c := &Capabilities{}
	for _, step := range []struct {
		length   int
		mayBeCut bool
	}{{2, false}, {37, true}, {37, true}, {37, true}, {37, false}, {36, false}, {38, true}, {37, false}, {100, true}, {100, true}, {100, true}, {100, true}} {
		if got := c.MayBeCut(step.length); got != step.mayBeCut {
			t.Errorf("a list of %d may be cut: %t, want %t", step.length, got, step.mayBeCut)
		}
		c.FoundWhole(step.length)
	}
}

// TestWidthIsFoundByHalving uses an endpoint that accepts 300 of 1,000: a width is found in two refusals, and more is
// tried only occasionally.
func TestWidthIsFoundByHalving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := width{most: 1000}
		refusals := 0
		ask := func(times int) {
			for range times {
				if now := w.now(); now > 300 {
					refusals++
					w.refused(now)
				} else {
					w.took(now)
				}
			}
		}
		ask(100)
		if w.now() != 250 || refusals != 3 {
			t.Errorf("%d are asked for after %d refusals, want 250 after 3: two to find it, one for trying more", w.now(), refusals)
		}
		w.refused(1000) // sent before the first refusal arrived
		w.took(3)       // less than the width proves nothing about it
		if w.now() != 250 {
			t.Errorf("%d are asked for, want 250 still", w.now())
		}
		<-time.After(relearn)
		if ask(100); w.now() != 250 || refusals != 4 {
			t.Errorf("%d are asked for after %d refusals, want one more in ten minutes", w.now(), refusals)
		}
	})
}

// TestWidthGrowsBack uses an endpoint that refused for reasons other than size: the full width is used again.
func TestWidthGrowsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := width{most: 1000}
		w.refused(1000)
		w.refused(100)
		for range 12 * enoughAccepted {
			w.took(w.now())
			<-time.After(relearn / enoughAccepted)
		}
		if w.now() != 1000 || w.limited() != 0 {
			t.Errorf("%d are asked for, limited to %d, want 1000 without a limit", w.now(), w.limited())
		}
	})
}
