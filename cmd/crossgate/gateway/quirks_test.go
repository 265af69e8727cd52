package gateway

import (
	"errors"
	"fmt"
	"testing"

	"crossgate/upstream/jsonrpc"
)

// TestQuirksAreThoseOfTheBook has errors of endpoints: what they mean and, where the book has the same words, which case.
func TestQuirksAreThoseOfTheBook(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method, message, want string
	}{
		{"eth_getLogs", "exceed maximum block range: 4000", "eth_getLogs: range limit (in the book: publicnode-span)"},
		{"eth_getLogs", "no more than 77 blocks are searched here", "eth_getLogs: range limit"},
		{"eth_call", "missing trie node 12ab (path )", "eth_call: pruned"},
	} {
		got, is := quirkOf(test.method, fmt.Errorf("chain: %w", &jsonrpc.Error{Code: -32000, Message: test.message}))
		if !is || got.String() != test.want {
			t.Errorf("%s: %q is %q, want %q", test.method, test.message, got, test.want)
		}
	}
	for _, err := range []error{nil, errors.New("connection refused"), &jsonrpc.Error{Code: 3, Message: "execution reverted"}} {
		if got, is := quirkOf("eth_call", err); is {
			t.Errorf("%v is a quirk: %v", err, got)
		}
	}
}
