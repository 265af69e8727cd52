package sandbox

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/order"
	"crossgate/sandbox/contracts"
)

func TestEscrowHoldsExactlyWhatIsOwed(t *testing.T) {
	w := untouched
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Chains() {
		for _, token := range append([]Token{c.coin()}, c.Tokens...) {
			owed := c.readBig(t, contracts.DlnSource, c.dlnSource(), "collectedFee", token.Address)
			for _, o := range orders {
				if o.GiveChain() == c.Facts.ID {
					owed.Add(owed, c.owedFor(t, o, token))
				}
			}
			var held *big.Int
			if token.Address == (common.Address{}) {
				if held, err = c.node.client.BalanceAt(t.Context(), c.dlnSource(), nil); err != nil {
					t.Fatal(err)
				}
			} else {
				held = c.readBig(t, contracts.Token, token.Address, "balanceOf", c.dlnSource())
			}
			if held.Cmp(owed) != 0 {
				t.Errorf("chain %s: escrow holds %s %s, owes %s", c.Facts.ID, held, token.Symbol, owed)
			}
		}
	}
}

// owedFor is what the escrow of an open order holds of a token.
func (c *Chain) owedFor(t *testing.T, o Order, token Token) *big.Int {
	t.Helper()
	values, err := c.read(t.Context(), contracts.DlnSource, c.dlnSource(), "giveOrders", o.ID)
	if err != nil {
		t.Fatal(err)
	}
	owed := new(big.Int)
	if giveStates[values[0].(uint8)] != order.StateCreated {
		return owed
	}
	if token.Address == (common.Address{}) {
		owed.Add(owed, values[2].(*big.Int)) // nativeFixFee
	}
	if common.BigToAddress(values[1].(*big.Int)) == token.Address {
		for _, part := range []int{4, 5, 7} { // percentFee, giveAmount, affiliateAmount
			owed.Add(owed, values[part].(*big.Int))
		}
		owed.Add(owed, c.readBig(t, contracts.DlnSource, c.dlnSource(), "givePatches", o.ID))
	}
	return owed
}

func (c *Chain) readBig(t *testing.T, contract *contracts.Contract, at common.Address, method string, args ...any) *big.Int {
	t.Helper()
	values, err := c.read(t.Context(), contract, at, method, args...)
	if err != nil {
		t.Fatal(err)
	}
	return values[0].(*big.Int)
}
