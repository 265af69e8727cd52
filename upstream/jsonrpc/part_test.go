package jsonrpc_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestPartsThatResultsLackAreLearned has a list without times, one that is empty, another without, and one with times.
func TestPartsThatResultsLackAreLearned(t *testing.T) {
	t.Parallel()
	client := rpc(t, node(echo), always(http.StatusOK, `{}`))
	times := jsonrpc.Part{Name: jsonrpc.Times, In: func(result any) (has, told bool) {
		logs := *result.(*[]struct{ At string })
		return len(logs) > 0 && logs[0].At != "", len(logs) > 0
	}}
	var versions []uint64
	for _, test := range []struct {
		list string
		want []string
	}{{`[{}]`, []string{"a"}}, {`[]`, []string{"a"}}, {`[{}, {}]`, []string{"a"}}, {`[{"at": "0x1"}]`, nil}} {
		var logs []struct{ At string }
		call := jsonrpc.NewCall(&logs, nil, "eth_getLogs", json.RawMessage(test.list))
		call.Part = times
		if err := client.All(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if got := client.Lacking(t.Context(), "eth_getLogs", jsonrpc.Times); !slices.Equal(got, test.want) {
			t.Errorf("after %s %v lack times, want %v", test.list, got, test.want)
		}
		_, version := client.Capabilities("a").Known()
		versions = append(versions, version)
	}
	if !slices.Equal(slices.Compact(versions), []uint64{1, 2}) {
		t.Errorf("versions are %v, want a change by the first list and one by the last", versions)
	}
}

// TestNobodyIsAvoidedForWhatNoOtherHas asks which endpoints to avoid where all lack the times, and where the only one
// that may have them is avoided already.
func TestNobodyIsAvoidedForWhatNoOtherHas(t *testing.T) {
	t.Parallel()
	lacks := jsonrpc.Limits{Lacks: []string{"eth_getLogs times"}}
	client := rpc(t, always(http.StatusOK, `{}`), always(http.StatusOK, `{}`))
	client.Capabilities("a").Declare(lacks)
	if got := client.Lacking(t.Context(), "eth_getLogs", jsonrpc.Times); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%v are avoided, want the first", got)
	}
	if got := client.Lacking(upstream.Avoiding(t.Context(), "b"), "eth_getLogs", jsonrpc.Times); got != nil {
		t.Errorf("%v are avoided, want nobody beside the second", got)
	}
	client.Capabilities("b").Declare(lacks)
	if got := client.Lacking(t.Context(), "eth_getLogs", jsonrpc.Times); got != nil {
		t.Errorf("%v are avoided, want nobody where both lack it", got)
	}
}
