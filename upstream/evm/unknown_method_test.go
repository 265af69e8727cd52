package evm

import (
	"fmt"
	"testing"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestUnknownMethodsAreTold has errors with the codes and words of a method that is missing which mean something else.
func TestUnknownMethodsAreTold(t *testing.T) {
	for _, test := range []struct {
		said jsonrpc.Error
		want bool
	}{
		{jsonrpc.Error{Code: -32601, Message: "the method eth_simulateV1 does not exist/is not available"}, true},
		{jsonrpc.Error{Code: -32601}, true},
		{jsonrpc.Error{Code: -32604, Message: "Method not enabled"}, true},
		{jsonrpc.Error{Code: 35, Message: "method is not available on freetier, please upgrade to paid tier"}, true},
		{jsonrpc.Error{Code: -32601, Message: "You have exceeded the rate limit"}, false},
		{jsonrpc.Error{Code: 429, Message: "Too many requests for a specific method"}, false},
		{jsonrpc.Error{Code: 3, Message: "execution reverted: unknown method"}, false},
	} {
		err := fmt.Errorf("chain: %w", &upstream.Error{Class: upstream.Rejected, Err: &test.said})
		if got := isUnknownMethod(err); got != test.want {
			t.Errorf("%d %q: %v, want %v", test.said.Code, test.said.Message, got, test.want)
		}
	}
}
