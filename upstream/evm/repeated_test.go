package evm_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"crossgate/internal/must"
)

// repeating serves a node's answers with every log and every receipt twice.
func repeating(node http.Handler) http.Handler {
	twice := func(list []any) []any {
		doubled := []any{}
		for _, each := range list {
			doubled = append(doubled, each, each)
		}
		return doubled
	}
	ofReceipt := func(result any) {
		if receipt, is := result.(map[string]any); is && receipt["logs"] != nil {
			receipt["logs"] = twice(receipt["logs"].([]any))
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		truth := httptest.NewRecorder()
		node.ServeHTTP(truth, r)
		_, _ = w.Write([]byte(rewrite(truth.Body.String(), func(result any) any {
			ofReceipt(result)
			list, isList := result.([]any)
			if !isList {
				return result
			}
			for _, each := range list {
				ofReceipt(each)
			}
			return twice(list)
		})))
	})
}

// Items that a provider repeats count once: in lists, in receipts, and in all receipts of a block.
func TestWhatIsRepeatedIsOne(t *testing.T) {
	recorded := readRecordings(t)[0]
	want, err := serveAll(t, recorded.describe(), &provider{recording: recorded}).Events(t.Context(), 0, recorded.Head)
	if err != nil || len(want) == 0 {
		t.Fatalf("%d events, %v", len(want), err)
	}
	c := serveAll(t, recorded.describe(), repeating(&provider{recording: recorded}))
	must.Get(c.Head(t.Context()))(t)
	got, err := c.Events(t.Context(), 0, recorded.Head)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%d events, %v, want %d", len(got), err, len(want))
	}
	proof, err := c.Verify(t.Context(), 0, recorded.Head, want[1:]) // so that a block's receipts must decide
	if err != nil || !reflect.DeepEqual(proof.Events, want) {
		t.Errorf("proven are %d events, %v, want %d", len(proof.Events), err, len(want))
	}
}
