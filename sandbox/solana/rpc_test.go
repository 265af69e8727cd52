package solana

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// ask posts a body and returns status and answer.
func ask(t *testing.T, c *Chain, body string) (int, string) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	answered := httptest.NewRecorder()
	c.ServeHTTP(answered, request)
	return answered.Code, answered.Body.String()
}

// result calls a method and decodes what it answers.
func result[R any](t *testing.T, c *Chain, method, params string) R {
	t.Helper()
	_, text := ask(t, c, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[%s]}`, method, params))
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

// lived is a ledger where two orders were made, one of them by a versioned transaction, the second not
// long ago.
func lived(t *testing.T) (c *Chain, legacy, versioned Order) {
	t.Helper()
	c = open(t)
	orders, err := c.Create(began.Add(time.Minute), Way{}, offer(t, 1))
	must(t, err)
	c.Mine(100)
	newer, err := c.Create(began.Add(time.Minute), Way{Versioned: true, Forwarded: true, Priority: 5000}, offer(t, 2))
	must(t, err)
	return c, orders[0], newer[0]
}

func TestRequestsAreRefusedAsByANode(t *testing.T) {
	c, legacy, versioned := lived(t)
	skipped := uint64(firstSlot)
	for !isSkipped(skipped) || skipped == firstSlot {
		skipped++
	}
	for body, want := range map[string]string{
		`{`:  `-32700`,
		`[]`: `-32600`,
		`{"jsonrpc":"2.0","id":"a","method":"getMoon"}`:                                                                `{"code":-32601,"message":"Method not found"},"id":"a"}`,
		`{"jsonrpc":"2.0","id":1,"method":"getTransaction"}`:                                                           `-32602`,
		`{"jsonrpc":"2.0","id":1,"method":"getTransaction","params":["abc"]}`:                                          `WrongSize`,
		`{"jsonrpc":"2.0","id":1,"method":"getAccountInfo","params":["0x12"]}`:                                         `WrongSize`,
		`{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{"commitment":"sure"}]}`:                                 `unknown variant`,
		fmt.Sprintf(`{"id":1,"method":"getBlock","params":[%d]}`, c.Head()+1):                                          `-32004`,
		fmt.Sprintf(`{"id":1,"method":"getBlock","params":[%d,{"commitment":"confirmed"}]}`, skipped):                  `-32007`,
		`{"id":1,"method":"getBlock","params":[1]}`:                                                                    `-32001`,
		fmt.Sprintf(`{"id":1,"method":"getBlock","params":[%d,{"commitment":"processed"}]}`, c.Head()):                 `below`,
		fmt.Sprintf(`{"id":1,"method":"getBlocks","params":[%d,%d]}`, firstSlot, firstSlot+500_001):                    `too large`,
		fmt.Sprintf(`{"id":1,"method":"getSignaturesForAddress","params":[%q,{"limit":1001}]}`, maker.Key):             `max 1000`,
		fmt.Sprintf(`{"id":1,"method":"getAccountInfo","params":[%q]}`, giveOrderState(legacy.Terms.ID())):             `base 58`,
		fmt.Sprintf(`{"id":1,"method":"getTransaction","params":[%q,{"commitment":"confirmed"}]}`, versioned.Creation): `-32015`,
	} {
		if _, got := ask(t, c, body); !strings.Contains(got, want) {
			t.Errorf("%s = %s, want %s", body, got, want)
		}
	}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	answered := httptest.NewRecorder()
	if c.ServeHTTP(answered, request); answered.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET = %d", answered.Code)
	}
	request = httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
	answered = httptest.NewRecorder()
	if c.ServeHTTP(answered, request); answered.Code != http.StatusUnsupportedMediaType {
		t.Errorf("POST without a content type = %d", answered.Code)
	}
}

func TestBatchesAreAnsweredInSequence(t *testing.T) {
	c, _, _ := lived(t)
	_, text := ask(t, c, `[{"id":7,"method":"getHealth"},{"id":8,"method":"no"},{"id":9,"method":"getSlot","params":[{"commitment":"confirmed"}]}]`)
	want := fmt.Sprintf(`[{"jsonrpc":"2.0","result":"ok","id":7},{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":8},{"jsonrpc":"2.0","result":%d,"id":9}]`, c.Head())
	if strings.TrimSpace(text) != want {
		t.Errorf("batch = %s\nwant %s", text, want)
	}
}

// Final and confirmed views of the same ledger differ by what happened in the newest 32 slots.
func TestCommitmentsTellOldFromNew(t *testing.T) {
	c, legacy, versioned := lived(t)
	newest := fmt.Sprintf("%q", versioned.Creation)
	const final, sure = `{"maxSupportedTransactionVersion":0}`, `{"maxSupportedTransactionVersion":0,"commitment":"confirmed"}`
	if got := result[map[string]any](t, c, "getTransaction", newest+","+final); got != nil {
		t.Errorf("a transaction of the newest slot is final: %v", got)
	}
	if got := result[map[string]any](t, c, "getTransaction", newest+","+sure); got["version"] != 0.0 || got["slot"] != float64(c.Head()) {
		t.Errorf("newest transaction = %v", got)
	}
	state := fmt.Sprintf("%q", giveOrderState(versioned.Terms.ID()))
	type account struct{ Value *struct{ Owner Key } }
	if got := result[account](t, c, "getAccountInfo", state+`,{"encoding":"base64"}`); got.Value != nil {
		t.Error("the newest order's account is final")
	}
	if got := result[account](t, c, "getAccountInfo", state+`,{"encoding":"base64","commitment":"confirmed"}`); got.Value == nil || got.Value.Owner != sourceProgram {
		t.Errorf("the newest order's account = %v", got)
	}
	infos := func(options string) (texts []string) {
		for _, i := range result[[]signatureText](t, c, "getSignaturesForAddress", fmt.Sprintf("%q,%s", sourceProgram, options)) {
			texts = append(texts, i.Signature)
		}
		return texts
	}
	both := infos(`{"commitment":"confirmed"}`)
	if len(both) != 2 || both[0] != versioned.Creation.String() || both[1] != legacy.Creation.String() {
		t.Errorf("signatures = %v, want both, the newest first", both)
	}
	for options, want := range map[string]string{
		`{}`:                                   both[1],
		`{"commitment":"confirmed","limit":1}`: both[0],
		fmt.Sprintf(`{"commitment":"confirmed","before":%q}`, both[0]): both[1],
		fmt.Sprintf(`{"commitment":"confirmed","until":%q}`, both[1]):  both[0],
	} {
		if got := infos(options); len(got) != 1 || got[0] != want {
			t.Errorf("signatures with %s = %v, want %s", options, got, want)
		}
	}
}

type signatureText struct{ Signature string }

// A recorded answer has no member that ours lacks.
func TestTransactionsHaveEveryRecordedMember(t *testing.T) {
	raw := readShared(t, "recorded/chains/solana-getTransaction-legacy.json")
	var recorded struct {
		Response struct {
			Body struct{ Result map[string]any }
		}
	}
	must(t, json.Unmarshal(raw, &recorded))
	c, legacy, _ := lived(t)
	got := result[map[string]any](t, c, "getTransaction", fmt.Sprintf("%q", legacy.Creation))
	lacking(t, "result", recorded.Response.Body.Result, got)
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
