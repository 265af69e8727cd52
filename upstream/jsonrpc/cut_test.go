package jsonrpc

import "testing"

// TestListsAsLongAsTheLongestAreCompared has an endpoint return lists of equal lengths: those that were found whole often
// enough are not compared any more, and a length at which endpoints are known to end lists always is.
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
