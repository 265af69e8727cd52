package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestOneProviderIsOneVoice: endpoints of one host, and those found to lack the same item twice, do not confirm each
// other.
func TestOneProviderIsOneVoice(t *testing.T) {
	for name, test := range map[string]struct {
		urls     [3]string
		sameGaps int
		asked    [3]int64
		seconded string
	}{
		"three hosts":           {[3]string{"http://a.invalid/1", "http://b.invalid/1", "http://c.invalid/1"}, 0, [3]int64{1, 1, 0}, "b"},
		"two of one host":       {[3]string{"http://a.invalid/1", "http://a.invalid/2", "http://c.invalid/1"}, 0, [3]int64{1, 0, 1}, "c"},
		"of one host's port":    {[3]string{"https://a.invalid/1", "https://A.invalid:443/2", "http://c.invalid/1"}, 0, [3]int64{1, 0, 1}, "c"},
		"all of one host":       {[3]string{"http://a.invalid/1", "http://a.invalid/2", "http://a.invalid/3"}, 0, [3]int64{1, 0, 0}, ""},
		"the same lacked once":  {[3]string{"http://a.invalid/1", "http://b.invalid/1", "http://c.invalid/1"}, 1, [3]int64{1, 1, 0}, "b"},
		"the same lacked twice": {[3]string{"http://a.invalid/1", "http://b.invalid/1", "http://c.invalid/1"}, 2, [3]int64{1, 0, 1}, "c"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked [3]atomic.Int64
			var endpoints []*upstream.Endpoint
			for i, url := range test.urls {
				endpoints = append(endpoints, pooltest.Endpoint(t, string(rune('a'+i)), tells("null", &asked[i]), upstream.EndpointOptions{URL: url}))
			}
			client := jsonrpc.New(upstream.NewPool("chain", endpoints...))
			for range test.sameGaps {
				client.SameGaps("b", "a")
			}
			var found *string
			call := &jsonrpc.Call{Method: "find", Out: &found, Doubt: func(result any) bool { return *result.(**string) == nil }}
			if err := client.All(t.Context(), call); err != nil || call.Seconded != test.seconded {
				t.Errorf("confirmed by %q, %v, want %q", call.Seconded, err, test.seconded)
			}
			for i := range asked {
				if asked[i].Load() != test.asked[i] {
					t.Errorf("endpoint %d was asked %d times, want %d", i, asked[i].Load(), test.asked[i])
				}
			}
			voices := 2
			if test.seconded == "" {
				voices = 1
			}
			proving := client.Proving("chain", jsonrpc.NewCall(new(*string), nil, "chain"))
			for range test.urls { // a different endpoint is first each time
				heard := jsonrpc.Alone(t.Context(), proving, 2, func(ctx context.Context, alone *jsonrpc.Client) (found *string, err error) {
					return found, alone.Call(ctx, "find", &found)
				})
				_, a := heard["a"]
				if _, b := heard["b"]; len(heard) != voices || a && b && test.seconded != "b" {
					t.Errorf("alone answered %v, want %d voices", heard, voices)
				}
			}
		})
	}
}

// TestAnotherEndpointsListIsNoSecondVoice: a list that an endpoint did not produce by itself confirms nothing, and a
// list made by several endpoints is attributed to none.
func TestAnotherEndpointsListIsNoSecondVoice(t *testing.T) {
	for name, test := range map[string]struct {
		by   []string // of each list in turn
		want []jsonrpc.Heard[int]
	}{
		"each by itself":      {[]string{"a", "b"}, []jsonrpc.Heard[int]{{1, "a"}, {1, "b"}}},
		"both by the first":   {[]string{"a", "a", "a"}, []jsonrpc.Heard[int]{{2, "a"}}},
		"the second by both":  {[]string{"a", "", "a"}, []jsonrpc.Heard[int]{{2, "a"}}},
		"one after the other": {[]string{"b", "", "a", "b"}, []jsonrpc.Heard[int]{{2, ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			client, lists := rpc(t, tells("null", &asked), tells("null", &asked)), 0
			heard, err := jsonrpc.Lists[int]{
				Faulty: new(jsonrpc.Faulty), Times: 2, Add: func(union, more int) int { return union + more },
				List: func(*jsonrpc.Client) (int, string, error) {
					lists++
					return 1, test.by[min(lists, len(test.by))-1], nil
				},
			}.Hear(client)
			if err != nil || !slices.Equal(heard, test.want) {
				t.Errorf("Hear() = %v, %v, want %v", heard, err, test.want)
			}
		})
	}
}

const reverts = `"error":{"code":3,"message":"execution reverted"}`

// telling is a client of endpoints a, b and so on, each of which has one result for every call, or reverts.
func telling(t *testing.T, results ...string) *jsonrpc.Client {
	t.Helper()
	answers := make([]pooltest.Transport, len(results))
	for i, result := range results {
		if answers[i] = tells(result, new(atomic.Int64)); result == reverts {
			answers[i] = says(reverts)
		}
	}
	return rpc(t, answers...)
}

// TestDoubtedResultsMustBeTheSame: of differing results the first remains one endpoint's word until two agree.
func TestDoubtedResultsMustBeTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		results  []string
		want     string
		seconded string
	}{
		"one endpoint":        {[]string{`"x"`}, "x", ""},
		"the same":            {[]string{`"x"`, `"x"`}, "x", "b"},
		"another":             {[]string{`"x"`, `"y"`}, "x", ""},
		"the third agrees":    {[]string{`"x"`, `"y"`, `"x"`}, "x", "c"},
		"the others agree":    {[]string{`"x"`, `"y"`, `"y"`}, "y", "c"},
		"two of four agree":   {[]string{`"x"`, `"y"`, `"z"`, `"y"`}, "y", "d"},
		"none agree":          {[]string{`"x"`, `"y"`, `"z"`}, "x", ""},
		"two revert":          {[]string{`"x"`, reverts, reverts}, "", "c"},
		"the second reverts":  {[]string{reverts, `"x"`}, "", ""},
		"it reverts for one":  {[]string{reverts, `"proven"`}, "proven", ""},
		"one is certain":      {[]string{`"x"`, `"proven"`}, "proven", ""},
		"the last is certain": {[]string{`"x"`, `"y"`, `"proven"`}, "proven", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			call := &jsonrpc.Call{
				Method: "find", Out: &got, MayRevert: true, Doubt: func(result any) bool { return *result.(*string) != "proven" },
				Same: func(a, b any) bool { return *a.(*string) == *b.(*string) },
			}
			err := telling(t, test.results...).All(t.Context(), call)
			if err != nil || got != test.want || call.Seconded != test.seconded || slices.Contains(call.Contradicting(), "a") != (test.results[0] == `"x"` && got != "x" || got == "proven") {
				t.Errorf("%q, confirmed by %q, contradicted by %q, %v; want %q, %q", got, call.Seconded, call.Contradicting(), err, test.want, test.seconded)
			}
		})
	}
}

// TestNothingIsNotTheSameAsSomething: null does not confirm what one endpoint has, nor the other way round, and what is
// there takes the place of null, also where two say so.
func TestNothingIsNotTheSameAsSomething(t *testing.T) {
	for _, test := range []struct {
		results        []string
		want, seconded string // want is empty for null
	}{
		{[]string{"null", "null"}, "", "b"},
		{[]string{"null", `"x"`}, "x", ""},
		{[]string{`"x"`, "null"}, "x", ""},
		{[]string{"null", `"x"`, `"y"`}, "x", "c"},
		{[]string{"null", `"x"`, `"proven"`}, "proven", ""},
		{[]string{"null", `"x"`, "null"}, "x", ""},
		{[]string{`"x"`, "null", "null"}, "x", ""},
	} {
		var got *string
		call := &jsonrpc.Call{Method: "find", Out: &got, Doubt: func(result any) bool {
			said := *result.(**string)
			return said == nil || *said != "proven"
		}}
		err := telling(t, test.results...).All(t.Context(), call)
		if got == nil {
			got = new(string)
		}
		if err != nil || *got != test.want || call.Seconded != test.seconded {
			t.Errorf("%q: %q, confirmed by %q, %v; want %q, %q", test.results, *got, call.Seconded, err, test.want, test.seconded)
		}
	}
}

// TestWhatOneEndpointHasBeyondTwoOthersStays: if the call prefers the longer of two results, two shorter ones do not
// displace it.
func TestWhatOneEndpointHasBeyondTwoOthersStays(t *testing.T) {
	for _, test := range [][]string{{"xx", "x", "x", "xx", ""}, {"x", "xx", "x", "xx", ""}, {"x", "x", "xx", "x", "b"}, {"x", "xx", "xx", "xx", "c"}, {"x", "xx", "xxx", "xxx", ""}} {
		var results []string
		for _, result := range test[:3] {
			results = append(results, `"`+result+`"`)
		}
		var got string
		call := &jsonrpc.Call{
			Method: "find", Out: &got, Doubt: func(any) bool { return true },
			Same: func(a, b any) bool { return *a.(*string) == *b.(*string) },
		}
		jsonrpc.Prefer(call, strings.Compare)
		err := telling(t, results...).All(t.Context(), call)
		by := string(rune('a' + slices.Index(test, test[3])))
		if err != nil || got != test[3] || call.By != by || call.Seconded != test[4] {
			t.Errorf("%q: %q by %q, confirmed by %q, %v; want %q by %q, %q", test[:3], got, call.By, call.Seconded, err, test[3], by, test[4])
		}
	}
}

// TestAnItemOfOneEndpointIsItsWord: each letter is an item, and later letters of the alphabet weigh more.
func TestAnItemOfOneEndpointIsItsWord(t *testing.T) {
	for _, test := range []struct {
		results      []string
		want, single string
	}{
		{[]string{"ab"}, "ab", "ab"},
		{[]string{"ab", "ab"}, "ab", ""},
		{[]string{"ab", "ac"}, "ac", "c"},
		{[]string{"ac", "ab"}, "ac", "c"},
		{[]string{"", "ab"}, "ab", "ab"},
		{[]string{"ab", ""}, "ab", "ab"},
		{[]string{"", "ab", "ac"}, "ac", "c"},
		{[]string{"ab", "ac", "ad"}, "ad", "d"},
		{[]string{"ac", "ab", "ab"}, "ab", ""},
		{[]string{"bc", "ac", "ab", ""}, "ac", ""},
		{[]string{"ac", "bb", "ab"}, "ab", ""},
	} {
		var results []string
		for _, result := range test.results {
			results = append(results, `"`+base64.StdEncoding.EncodeToString([]byte(result))+`"`)
		}
		var got []byte
		call := &jsonrpc.Call{Method: "find", Out: &got}
		isSame, weight := func(a, b byte) bool { return a == b }, func(letter byte) int { return int(letter) }
		isSingle := jsonrpc.ByItem(call, func(result *[]byte) *[]byte { return result }, isSame, weight)
		err := telling(t, results...).All(t.Context(), call)
		single := ""
		for i, letter := range got {
			if isSingle(i) {
				single += string(letter)
			}
		}
		if err != nil || string(got) != test.want || single != test.single {
			t.Errorf("%q: %s, %q by one endpoint, %v; want %s, %q", test.results, got, single, err, test.want, test.single)
		}
	}
}

// TestEachDoubtedResultIsHeldAgainstAllOthers: an endpoint consulted about one endpoint's result is also consulted
// about the others'. No endpoint accepts batches.
func TestEachDoubtedResultIsHeldAgainstAllOthers(t *testing.T) {
	tellsEach := func(results map[string]string) pooltest.Transport {
		each := node(func(call rpctest.Call) string { return results[call.Method] })
		return func(r *http.Request) (*http.Response, error) {
			if asked, err := rpctest.Read(r); err == nil && asked.IsBatch {
				return pooltest.Answer(http.StatusRequestEntityTooLarge, ""), nil
			}
			return each(r)
		}
	}
	client := jsonrpc.New(upstream.NewPool("chain",
		pooltest.Endpoint(t, "a", tellsEach(map[string]string{"one": `"result":"x"`, "two": `"error":{"code":-32601,"message":"method not found"}`})),
		pooltest.Endpoint(t, "b", tellsEach(map[string]string{"one": `"result":"y"`, "two": `"result":"z"`})),
		pooltest.Endpoint(t, "c", tellsEach(map[string]string{"one": `"result":"x"`, "two": `"result":"z"`})),
	))
	doubted := func(method string) *jsonrpc.Call {
		return &jsonrpc.Call{
			Method: method, Out: new(string), Doubt: func(any) bool { return true },
			Same: func(a, b any) bool { return *a.(*string) == *b.(*string) },
		}
	}
	one, two := doubted("one"), doubted("two")
	if err := client.All(t.Context(), one, two); err != nil || one.IsSingle() || two.IsSingle() {
		t.Errorf("%v; one by %q and %q, two by %q and %q", err, one.By, one.Seconded, two.By, two.Seconded)
	}
}

// TestTwoVoicesAreAskedAtOnce: each of two endpoints answers only after both were called. A third decides if they
// differ, and replaces one that returns nothing.
func TestTwoVoicesAreAskedAtOnce(t *testing.T) {
	for _, test := range []struct{ first, second, third, want, seconded, contradicting string }{
		{"x", "x", "y", "x", "b", ""},
		{"x", "y", "x", "x", "c", "b"},
		{"x", "y", "y", "y", "c", "a"},
		{"", "x", "x", "x", "c", ""},
		{"x", "", "x", "x", "c", ""},
		{"x", "y", "", "x", "", "b"},
		{"", "", "x", "", "b", ""},
	} {
		var both sync.WaitGroup
		both.Add(2)
		waits := func(result string) pooltest.Transport {
			return node(func(rpctest.Call) string {
				both.Done()
				both.Wait()
				return `"result":"` + result + `"`
			})
		}
		var got string
		call := &jsonrpc.Call{Method: "find", Out: &got, Twice: true, Says: func(result any) string { return *result.(*string) }}
		err := rpc(t, waits(test.first), waits(test.second), tells(`"`+test.third+`"`, new(atomic.Int64))).All(t.Context(), call)
		if contradicting := strings.Join(call.Contradicting(), " "); err != nil || got != test.want || call.Seconded != test.seconded || contradicting != test.contradicting {
			t.Errorf("%+v: %q, confirmed by %q, contradicted by %q, %v", test, got, call.Seconded, contradicting, err)
		}
	}
}

// An endpoint that answers nonsense has not recovered just because it answers.
func TestNonsenseIsNoRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next pooltest.Changing
		next.To(ofChain("0x1", new(atomic.Int64)))
		var proofs atomic.Int64
		client := jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "node", next.Answer))).Proving("chain", chainProof(&proofs))
		var name string
		must.Do(t, client.Call(t.Context(), "web3_name", &name))
		next.To(pooltest.Always(200, "<html>"))
		for range 5 {
			_ = client.Call(t.Context(), "web3_name", &name)
		}
		synctest.Wait()
		for range 60 {
			if err := client.Call(t.Context(), "web3_name", &name); upstream.ClassOf(err) != upstream.BreakerOpen {
				t.Fatalf("Call() = %v, want the breaker's refusal", err)
			}
			<-time.After(time.Second)
		}
		next.To(ofChain("0x1", new(atomic.Int64)))
		<-time.After(15 * time.Second)
		if err := client.Call(t.Context(), "web3_name", &name); err != nil {
			t.Errorf("Call() when the node is one again = %v, want an answer", err)
		}
	})
}

// A lying endpoint is logged with its answer and without its URL, once a minute however often it lies.
func TestLiarIsNamedInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		e := pooltest.Endpoint(t, "node", pooltest.Always(200, "<html>"), upstream.EndpointOptions{
			URL: "http://node.invalid/v2/aVerySecretKey", Logger: slog.New(slog.NewTextHandler(&lines, nil)),
		})
		client := jsonrpc.New(upstream.NewPool("chain", e))
		for range 3 {
			_ = client.Call(t.Context(), "eth_call", new(string))
		}
		if got := strings.Count(lines.String(), "endpoint=node"); got != 1 {
			t.Errorf("%d lines after three lies, want 1:\n%s", got, lines.String())
		}
		<-time.After(time.Minute)
		_ = client.Call(t.Context(), "eth_call", new(string))
		got := lines.String()
		if strings.Count(got, "endpoint=node") != 2 || !strings.Contains(got, "not a JSON-RPC response") || strings.Contains(got, "aVerySecretKey") {
			t.Errorf("log after another lie a minute later:\n%s\nwant two lines that say what was answered, and no key", got)
		}
	})
}
