package order_test

import (
	"testing"

	"crossgate/order"
)

// TestABasisOfTwoIsTheWeakerOfEachChain: what one of them says of a chain alone stays.
func TestABasisOfTwoIsTheWeakerOfEachChain(t *testing.T) {
	known := order.Basis{Chains: []order.ChainBasis{{Chain: 1, Final: true}, {Chain: 10, Final: true}}}
	weak := order.Basis{Chains: []order.ChainBasis{{Chain: 137, Final: true}, {Chain: 1, Single: true, Unread: true}}}
	both := known.And(weak)
	if one := both.Of(1); len(both.Chains) != 3 || one.Final || !one.Single || !one.Unread || !both.Of(10).Final || !both.Of(137).Final {
		t.Errorf("And = %+v, want chain 1 neither final nor read, of one endpoint, and the others final", both.Chains)
	}
}
