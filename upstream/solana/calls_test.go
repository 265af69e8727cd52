package solana

import (
	"testing"

	"crossgate/upstream/jsonrpc"
)

// TestNoBlockIsNoAnswer: an endpoint may say null of a block that it listed.
func TestNoBlockIsNoAnswer(t *testing.T) {
	var none *block
	for name, asked := range map[string]*jsonrpc.Call{
		"content": contentCall(&none, 1, "none"), "existing": existingBlockCall(&none, 1, "none"), "named": namedBlockCall(&none, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if asked.Accept(&none) == nil {
				t.Error("null is accepted")
			}
		})
	}
}
