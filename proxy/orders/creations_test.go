package orders

import (
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

func TestCreationsForgetTheOldest(t *testing.T) {
	var c creations[chain.TxHash]
	id := func(n int) order.ID { return order.ID{byte(n >> 16), byte(n >> 8), byte(n)} }
	for n := range 3 * creationsKept {
		c.remember(chain.NewTxHash([]byte{1}), id(n))
	}
	if _, remembered := c.of(id(0)); remembered {
		t.Error("the first creation is remembered for ever")
	}
	for _, n := range []int{2 * creationsKept, 3*creationsKept - 1} {
		if _, remembered := c.of(id(n)); !remembered {
			t.Errorf("creation %d of %d is forgotten", n, 3*creationsKept)
		}
	}
}
