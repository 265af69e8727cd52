package solana_test

import (
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	sandbox "crossgate/sandbox/solana"
)

// termsOf are the terms of an order as the gateway has them.
func termsOf(t sandbox.Terms) order.Terms {
	give, take := t.Give(), t.Take()
	return order.Terms{
		Nonce: t.Nonce, Maker: chain.NewAddress(t.Maker),
		Give:     order.Offer{Chain: chain.ID(give.Chain), Token: chain.NewAddress(give.Token), Amount: chain.AmountFromBytes(give.Amount.Bytes())},
		Take:     order.Offer{Chain: chain.ID(take.Chain), Token: chain.NewAddress(take.Token), Amount: chain.AmountFromBytes(take.Amount.Bytes())},
		Receiver: chain.NewAddress(t.Receiver), ExternalCall: t.ExternalCall,
		Authorities: order.Authorities{
			GivePatch: chain.NewAddress(t.PatchAuthority), Order: chain.NewAddress(t.Authority),
			AllowedTaker: chain.NewAddress(t.AllowedTaker), CancelBeneficiary: chain.NewAddress(t.CancelBeneficiary),
		},
	}
}

// TestCancelOnSolana has the authority sign and send the transaction, of orders with everything in them too.
func TestCancelOnSolana(t *testing.T) {
	for name, change := range map[string]func(*sandbox.Terms){
		"an order": func(*sandbox.Terms) {},
		"all that an order can have": func(t *sandbox.Terms) {
			t.ExternalCall, t.AllowedTaker, t.CancelBeneficiary = []byte("call"), taker.Key[:], onEVM
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.chain()
			asked := w.terms(nil)
			change(&asked)
			terms, id := termsOf(asked), order.ID(asked.ID())
			tx := must.Get(c.Cancel(t.Context(), id, terms))(t)
			if tx.Sender != terms.Authorities.Order {
				t.Errorf("%s is to send it, want the authority", tx.Sender)
			}
			w.signedBy(t, other, tx.Data)
			if stored := must.Get(c.TakeStates(t.Context(), []order.ID{id}))(t); stored[0].State != order.StateSentOrderCancel {
				t.Errorf("the order is %v after it", stored[0].State)
			}
			if _, err := c.Cancel(t.Context(), id, terms); !errors.Is(err, creation.ErrCancelled) {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// TestCancelOnSolanaIsRefused of orders that were filled, and where the program refuses.
func TestCancelOnSolanaIsRefused(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	filled := w.terms(nil)
	w.deliver(sandbox.Way{}, filled)
	if _, err := c.Cancel(t.Context(), order.ID(filled.ID()), termsOf(filled)); !errors.Is(err, creation.ErrFulfilled) {
		t.Errorf("of a filled order: %v", err)
	}
	open := w.terms(nil)
	changed := termsOf(open)
	changed.Give.Chain = 999
	if _, err := c.Cancel(t.Context(), order.ID(open.ID()), changed); err == nil {
		t.Error("an order from a chain that the program does not know can be cancelled")
	}
}
