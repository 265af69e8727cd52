package solana_test

import (
	"errors"
	"fmt"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
	sandbox "crossgate/sandbox/solana"
)

// unlockOf is what a taker asks for after some deliveries.
func (w *world) unlockOf(delivered ...sandbox.Terms) creation.Unlock {
	w.t.Helper()
	var orders []*order.Order
	for _, terms := range delivered {
		orders = append(orders, &order.Order{
			ID: terms.ID(), Terms: termsOf(terms), State: order.StateFulfilled,
			Fulfilled: &order.Seen[order.Fulfilled]{Fact: order.Fulfilled{UnlockAuthority: chain.NewAddress(taker.Key[:])}},
		})
	}
	return must.Get(creation.NewUnlock(orders, chain.NewAddress(onEVM)))(w.t)
}

// TestUnlockOnSolana has the taker sign and send the transaction, for one order and for batches up to the largest.
func TestUnlockOnSolana(t *testing.T) {
	for _, count := range []int{1, 2, 10} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			w := newWorld(t)
			c := w.chain()
			var delivered []sandbox.Terms
			for range count {
				delivered = append(delivered, w.terms(nil))
				w.deliver(sandbox.Way{}, delivered[len(delivered)-1])
			}
			u := w.unlockOf(delivered...)
			tx := must.Get(c.Unlock(t.Context(), u))(t)
			if fee, _ := tx.Value.Uint64(); tx.Sender != u.Authority || fee != 15_000_000 {
				t.Errorf("%s is to send it with a fee of %d, want the authority and the gate's", tx.Sender, fee)
			}
			w.signedBy(t, taker, tx.Data)
			for _, stored := range must.Get(c.TakeStates(t.Context(), u.IDs))(t) {
				if stored.State != order.StateSentUnlock {
					t.Errorf("an order is %v after it", stored.State)
				}
			}
			for _, id := range u.IDs {
				if sent := must.Get(w.Message(id))(t); sent.To != 1 || len(sent.Data) == 0 {
					t.Errorf("message %+v", sent)
				}
			}
			if _, err := c.Unlock(t.Context(), u); !errors.Is(err, creation.ErrNotOwed) {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// TestUnlockOnSolanaIsRefused of orders that were not delivered, of another's deliveries, and to a chain without messages.
func TestUnlockOnSolanaIsRefused(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	open, delivered := w.terms(nil), w.terms(nil)
	w.deliver(sandbox.Way{}, delivered)
	anothers, elsewhere := w.unlockOf(delivered), w.unlockOf(delivered)
	anothers.Authority, elsewhere.Terms[0].Give.Chain = chain.NewAddress(other.Key[:]), 999
	for name, test := range map[string]struct {
		asked creation.Unlock
		want  error
	}{
		"not delivered": {w.unlockOf(delivered, open), creation.ErrNotOwed}, "another's": {anothers, quote.ErrReverted},
		"to a chain without messages": {elsewhere, creation.ErrNoMessages},
	} {
		if _, err := c.Unlock(t.Context(), test.asked); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
