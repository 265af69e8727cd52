package follow

import (
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

func TestHeadsThatContradictEachOther(t *testing.T) {
	block := func(number uint64, hash, parent byte) order.Block {
		return order.Block{Number: number, Hash: chain.Hash{hash}, Parent: chain.Hash{parent}}
	}
	before := block(5, 'e', 'd')
	for _, test := range []struct {
		now  order.Block
		want bool
	}{
		{before, false},
		{block(5, 'E', 'd'), true},
		{block(6, 'f', 'e'), false},
		{block(6, 'F', 'E'), true},
		{block(4, 'd', 'c'), false}, // told by an endpoint that is behind
		{block(4, 'D', 'c'), true},
		{block(9, 'x', 'y'), false}, // not known before it is compared
		{block(1, 'x', 'y'), false},
	} {
		if got := contradict(before, test.now); got != test.want {
			t.Errorf("head %d %c after 5 e: contradiction %v, want %v", test.now.Number, test.now.Hash[0], got, test.want)
		}
	}
	if contradict(order.Block{}, before) {
		t.Error("the first head contradicts nothing")
	}
}
