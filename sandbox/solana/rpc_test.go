package solana

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

// ask posts a body and returns the response.
func ask(t *testing.T, c *Chain, body string) string {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	answered := httptest.NewRecorder()
	c.ServeHTTP(answered, request)
	return answered.Body.String()
}

// result calls a method and decodes its result.
func result[R any](t *testing.T, c *Chain, method, params string) R {
	t.Helper()
	text := ask(t, c, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[%s]}`, method, params))
	var answer struct {
		Result *R
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Error != nil {
		t.Fatalf("%s(%s) = %s, %v", method, params, text, err)
	}
	if answer.Result == nil {
		return *new(R)
	}
	return *answer.Result
}

// lived returns a ledger with two orders, an old one, and a recent one created by a versioned transaction.
func lived(t *testing.T) (c *Chain, legacy, versioned Order) {
	t.Helper()
	c = open(t)
	orders := must.Get(c.Create(began.Add(time.Minute), Way{}, offer(t, 1)))(t)
	c.Mine(100)
	newer := must.Get(c.Create(began.Add(time.Minute), Way{Versioned: true, Forwarded: true, Priority: 5000}, offer(t, 2)))(t)
	return c, orders[0], newer[0]
}

// TestListsBeginAndEndAtAnyTransaction proves that before and until need not involve the account.
func TestListsBeginAndEndAtAnyTransaction(t *testing.T) {
	c, legacy, versioned := lived(t)
	account := giveOrderState(legacy.Terms.ID())
	for cursor, want := range map[string]bool{
		"": true,
		`,"before":"` + versioned.Creation.String() + `"`:   true,
		`,"until":"` + versioned.Creation.String() + `"`:    false,
		`,"before":"` + strings.Repeat("1", 63) + "2" + `"`: false,
	} {
		got := ask(t, c, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"getSignaturesForAddress","params":[%q,{"commitment":"confirmed"%s}]}`, account, cursor,
		))
		if strings.Contains(got, fmt.Sprint(legacy.Creation)) != want {
			t.Errorf("%s: %s, want the creation: %t", cursor, got, want)
		}
	}
}

// TestTransactionsHaveEveryRecordedMember proves that the sandbox's answer has every member of a recorded one.
func TestTransactionsHaveEveryRecordedMember(t *testing.T) {
	var known struct {
		Response struct {
			Body struct{ Result map[string]any }
		}
	}
	recorded.JSON(t, "recorded/chains/solana-getTransaction-legacy.json", &known)
	c, legacy, _ := lived(t)
	got := result[map[string]any](t, c, "getTransaction", fmt.Sprintf("%q", legacy.Creation))
	lacking(t, "result", known.Response.Body.Result, got)
}

func lacking(t *testing.T, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for name, value := range want {
			if _, has := object[name]; !has {
				t.Errorf("%s has no %s", path, name)
				continue
			}
			lacking(t, path+"."+name, value, object[name])
		}
	case []any:
		if list, _ := got.([]any); len(want) > 0 && len(list) > 0 {
			lacking(t, path+"[0]", want[0], list[0])
		}
	default:
		if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
			t.Errorf("%s is a %T, recorded %T", path, got, want)
		}
	}
}
