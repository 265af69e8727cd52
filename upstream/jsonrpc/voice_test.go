package jsonrpc_test

import (
	"sync/atomic"
	"testing"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestOneProviderIsOneVoice: endpoints of one host, and those that were found to lack the same twice, do not confirm
// each other.
func TestOneProviderIsOneVoice(t *testing.T) {
	for name, test := range map[string]struct {
		urls     [3]string
		sameGaps int
		asked    [3]int64
		seconded string
	}{
		"three hosts":           {[3]string{"http://a.invalid/1", "http://b.invalid/1", "http://c.invalid/1"}, 0, [3]int64{1, 1, 0}, "b"},
		"two of one host":       {[3]string{"http://a.invalid/1", "http://a.invalid/2", "http://c.invalid/1"}, 0, [3]int64{1, 0, 1}, "c"},
		"all of one host":       {[3]string{"http://a.invalid/1", "http://a.invalid/2", "http://a.invalid/3"}, 0, [3]int64{1, 0, 0}, ""},
		"the same lacked once":  {[3]string{"http://a.invalid/1", "http://b.invalid/1", "http://c.invalid/1"}, 1, [3]int64{1, 1, 0}, "b"},
		"the same lacked twice": {[3]string{"http://a.invalid/1", "http://b.invalid/1", "http://c.invalid/1"}, 2, [3]int64{1, 0, 1}, "c"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked [3]atomic.Int64
			var endpoints []*upstream.Endpoint
			for i, url := range test.urls {
				endpoints = append(endpoints, endpoint(t, string(rune('a'+i)), tells("null", &asked[i]), upstream.EndpointOptions{URL: url}))
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
		})
	}
}

// TestDoubtedResultsMustBeTheSame: of different ones the first stays one endpoint's word until another one agrees.
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
		"one is certain":      {[]string{`"x"`, `"proven"`}, "proven", ""},
		"the last is certain": {[]string{`"x"`, `"y"`, `"proven"`}, "proven", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			var endpoints []*upstream.Endpoint
			for i, result := range test.results {
				endpoints = append(endpoints, endpoint(t, string(rune('a'+i)), tells(result, &asked)))
			}
			var got string
			call := &jsonrpc.Call{
				Method: "find", Out: &got, Doubt: func(result any) bool { return *result.(*string) != "proven" },
				Same: func(a, b any) bool { return *a.(*string) == *b.(*string) },
			}
			err := jsonrpc.New(upstream.NewPool("chain", endpoints...)).All(t.Context(), call)
			if err != nil || got != test.want || call.Seconded != test.seconded || (call.Overruled == "a") != (test.want == "proven") {
				t.Errorf("%q, confirmed by %q, overruled %q, %v; want %q, %q", got, call.Seconded, call.Overruled, err, test.want, test.seconded)
			}
		})
	}
}
